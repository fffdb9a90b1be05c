from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.discovery import ProjectTree, expand, in_order
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.root import project_root


def names(root: Path, *paths: str, **changes: object) -> list[str]:
    own = Settings(**changes)  # type: ignore[arg-type]
    found = expand([root / path for path in paths or ("",)], lambda folder: ProjectTree(project_root(folder), own))
    assert found == sorted(found)
    assert all(path.is_absolute() for path in found)
    return [path.relative_to(root).as_posix() for path in found]


def test_a_folder_gives_its_python_files(write) -> None:
    root = write({"a.py": "", "b.pyi": "", "c.txt": "", "pkg/d.py": "", "pkg/deep/e.py": "", "f": ""})
    assert names(root) == ["a.py", "pkg/d.py", "pkg/deep/e.py"]
    assert names(root, "pkg", "pkg/d.py", "a.py") == ["a.py", "pkg/d.py", "pkg/deep/e.py"]


def test_what_is_left_out_by_default(write) -> None:
    root = write(dict.fromkeys(("a.py", ".venv/a.py", "x/build/a.py", "node_modules/a.py", "env/lib/a.py"), ""))
    (root / "env" / "pyvenv.cfg").write_text("")
    assert names(root) == ["a.py"]


def test_a_named_file_is_always_taken(write) -> None:
    root = write({".git/HEAD": "", ".gitignore": "*", "build/a.py": "", "script": ""})
    assert names(root) == []
    assert names(root, "build/a.py", "script") == ["build/a.py", "script"]


def test_a_named_folder_is_walked_although_it_is_left_out(write) -> None:
    root = write(
        {
            ".git/HEAD": "",
            "pyproject.toml": "",
            ".gitignore": "out/\n*_gen.py\n",
            "out/a.py": "",
            "out/b_gen.py": "",
            "out/.venv/c.py": "",
            "out/sub/d.py": "",
            "fixtures/sub/e.py": "",
            "fixtures/sub/__pycache__/e.py": "",
        }
    )
    excludes = {"extend_exclude": ("fixtures",), "base": root}
    assert names(root, **excludes) == []
    assert names(root, "out", **excludes) == ["out/a.py", "out/sub/d.py"]
    assert names(root, "out/sub", **excludes) == ["out/sub/d.py"]
    assert names(root, "fixtures", **excludes) == ["fixtures/sub/e.py"]
    assert names(root, "fixtures/sub", **excludes) == ["fixtures/sub/e.py"]


def test_gitignore_files_nest_and_negate(write) -> None:
    root = write(
        {
            ".git/HEAD": "",
            ".git/info/exclude": "secret.py\n",
            ".gitignore": "*.gen.py\n/top.py\ndata/*\n!data/keep/\n# comment\n\n",
            "top.py": "",
            "secret.py": "",
            "x.gen.py": "",
            "sub/.gitignore": "!kept.gen.py\nlocal.py\n",
            "sub/top.py": "",
            "sub/kept.gen.py": "",
            "sub/other.gen.py": "",
            "sub/local.py": "",
            "sub/deeper/local.py": "",
            "data/a.py": "",
            "data/keep/b.py": "",
        }
    )
    assert names(root) == ["data/keep/b.py", "sub/kept.gen.py", "sub/top.py"]
    # The files above the named folder count as well.
    assert names(root, "sub") == ["sub/kept.gen.py", "sub/top.py"]


def test_a_line_that_git_cannot_read_is_passed_over(write) -> None:
    root = write({".gitignore": "[z-a]\n!\ngone.py\n", "a.py": "", "gone.py": ""})
    assert names(root) == ["a.py"]


def test_excludes_are_globs_relative_to_the_settings_file(write) -> None:
    root = write({"a.py": "", "old/a.py": "", "old/b.py": "", "sub/old/a.py": "", "sub/x_pb2.py": "", "build/a.py": ""})
    assert names(root, exclude=("/old", "*_pb2.py"), base=root) == ["a.py", "build/a.py", "sub/old/a.py"]
    assert names(root, extend_exclude=("old/a.py", "sub/**"), base=root) == ["a.py", "old/b.py"]


def test_an_info_exclude_of_a_linked_work_tree(write) -> None:
    root = write(
        {
            "main/.git/info/exclude": "hidden.py\n",
            "main/.git/worktrees/w/commondir": "../..\n",
            "w/.git": "gitdir: ../main/.git/worktrees/w\n",
            "w/hidden.py": "",
            "w/seen.py": "",
        }
    )
    assert names(root, "w") == ["w/seen.py"]


def test_links(write) -> None:
    root = write({"a.py": "", "pkg/b.py": "", "elsewhere/c.py": "", "p/pyproject.toml": "", "p/d.py": ""})
    (root / "pkg" / "loop").symlink_to(root / "pkg", target_is_directory=True)
    (root / "pkg" / "again.py").symlink_to(root / "a.py")
    (root / "pkg" / "broken.py").symlink_to(root / "nothing.py")
    (root / "p" / "foreign.py").symlink_to(root / "a.py")
    assert names(root, "pkg", "a.py") == ["a.py", "pkg/b.py"]
    assert names(root, "p") == ["p/d.py", "p/foreign.py"]
    assert names(root, "pkg/again.py") == ["pkg/again.py"]


def test_links_below_a_folder_that_is_one(write) -> None:
    root = write({"real/a.py": "", "real/pkg/b.py": "", "out.py": ""})
    (root / "real" / "pkg" / "a_too.py").symlink_to(root / "real" / "a.py")
    (root / "real" / "pkg" / "out_too.py").symlink_to(root / "out.py")
    (root / "seen").symlink_to(root / "real", target_is_directory=True)
    assert names(root, "seen") == ["seen/a.py", "seen/pkg/b.py", "seen/pkg/out_too.py"]
    assert names(root, "seen", "out.py") == ["out.py", "seen/a.py", "seen/pkg/b.py"]
    assert names(root, "seen/pkg", "seen/pkg/a_too.py") == ["seen/pkg/a_too.py", "seen/pkg/b.py", "seen/pkg/out_too.py"]


@pytest.mark.parametrize("exclude", [("data", ".hid", "x.py"), ("data", ".hid", "x.py", "*.no")])
def test_names_are_patterns_for_what_is_called_so(write, exclude: tuple[str, ...]) -> None:
    # With a pattern that is more than a name, the library for such patterns is asked.
    root = write({"data/a.py": "", "sub/data/x/a.py": "", "sub/.hid/a.py": "", "sub/x.py": "", "sub/dat/data.py": ""})
    assert names(root, exclude=exclude) == ["sub/dat/data.py"]
    assert names(root, "data", exclude=exclude) == ["data/a.py"]
    tree = ProjectTree(root, Settings(exclude=exclude))
    files = sorted(path for path in root.rglob("*.py") if tree.accepts(path))
    assert [path.relative_to(root).as_posix() for path in files] == ["sub/dat/data.py"]


def test_paths_in_order() -> None:
    texts = ["/b", "/a/b", "/a-b", "/a/b.py", "/a", "/", "/a/b/c", "/A", "/ä", "/a/B"]
    assert in_order(map(Path, texts)) == sorted(map(Path, texts))


def test_what_is_no_file_is_passed_over(write) -> None:
    root = write({"a.py": ""})
    os.mkfifo(root / "pipe.py")
    server = socket.socket(socket.AF_UNIX)
    try:
        server.bind(str(root / "s.py"))
        assert names(root) == ["a.py"]
    finally:
        server.close()
    with pytest.raises(TorchReproLintError, match=r"pipe\.py: neither a file nor a folder"):
        names(root, "pipe.py")


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TorchReproLintError, match="nothing: no such file or folder"):
        names(tmp_path, "nothing")


def test_a_link_to_nothing_is_not_its_own_likeness(tmp_path: Path) -> None:
    (tmp_path / "dead.py").symlink_to(tmp_path / "gone.py")
    with pytest.raises(TorchReproLintError, match=r"dead\.py: a link to a file that does not exist$"):
        names(tmp_path, "dead.py")


def test_folders_that_cannot_be_read(write, monkeypatch: pytest.MonkeyPatch) -> None:
    # Permissions would not hold a test that runs as root back, so the system call itself refuses.
    root = write({"a.py": "", "closed/b.py": ""})
    scandir = os.scandir

    def refuse(path: object) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", refuse)
    assert names(root) == ["a.py"]
    with pytest.raises(TorchReproLintError, match="closed: cannot be read: Permission denied"):
        names(root, "closed")
    projects = Projects({})
    projects.files([root])
    assert projects.notices([root]) == [(root / "closed", "this folder cannot be read: Permission denied")]
    assert projects.notices([root / "a.py"]) == []


def test_strangers_in_the_folder_for_temporary_files(write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({"a.py": "", "pkg/__init__.py": "", "stranger/b.py": ""})
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(root))
    tree = ProjectTree(root, Settings())
    assert [path.relative_to(root).as_posix() for path in sorted(tree.files())] == ["a.py", "pkg/__init__.py"]
    assert names(root) == ["a.py", "pkg/__init__.py", "stranger/b.py"]
    assert len(tree.files(root)) == 3  # one that names the folder wants all of it
    assert len(tree.files()) == 2


PIECES = st.sampled_from(
    [
        "a",
        "b",
        "a*",
        "*",
        "**",
        "?",
        "[ab]",
        "!a",
        "c.py",
        "*.py",
        "b/",
        "/a",
        "a/b",
        "**/b",
        "a/**",
        "*/",
        "!*/",
        "!*.*",
    ]
)


FILES = ("c.py", "a/c.py", "a/b/c.py", "b/c.py", "b/a/x.py", "ab/x.py", "a/a.py")


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example(top=["b", "!a"], nested=[], tracked=set())
@example(top=["*", "!a", "!a/b"], nested=["c.py"], tracked=set())
@example(top=["*", "!*/", "!*.*"], nested=["*/"], tracked=set())
@example(top=["a/**", "!a/b"], nested=["!*.*"], tracked=set())
@example(top=["a"], nested=[], tracked={"a/b/c.py"})
@given(
    top=st.lists(PIECES, max_size=4), nested=st.lists(PIECES, max_size=3), tracked=st.sets(st.sampled_from(FILES))
)  # fmt: skip
def test_git_agrees(
    tmp_path_factory: pytest.TempPathFactory, top: list[str], nested: list[str], tracked: set[str]
) -> None:
    root = tmp_path_factory.mktemp("repo")
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / ".gitignore").write_text("\n".join(top))
    (root / "a" / ".gitignore").write_text("\n".join(nested))
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    if tracked:
        subprocess.run(["git", "add", "-f", *sorted(tracked)], cwd=root, check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    expected = sorted(name for name in listed if name.endswith(".py"))
    assert names(root, exclude=()) == expected
    tree = ProjectTree(root, Settings(exclude=()))
    for _ in range(2):
        assert sorted(p.relative_to(root).as_posix() for p in root.rglob("*.py") if tree.accepts(p)) == expected
        tree.files()  # which it remembers
