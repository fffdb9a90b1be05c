"""Hostile and odd input: a diagnostic or nothing, never a traceback, and the other files are checked."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from torchrepro_lint.cli import main
from torchrepro_lint.engine import RunOptions, check
from torchrepro_lint.facts.quick_lower import quick_parse

FIXTURES = Path(__file__).parents[1] / "fixtures"
HEAD = "import torch\nimport numpy as np\nfrom torch.utils.data import DataLoader\n"
RECORDS = (
    "import dataclasses, hydra\n@dataclasses.dataclass\nclass N:\n    workers: int = 4\n"
    "    inner: 'N' = dataclasses.field(default_factory=lambda: N())\n"
    "d = {'_target_': 'hydra.utils.instantiate', 'config': dataclasses.asdict(N())}\nd['config'] = d\n"
)
DRAWS = "    def __getitem__(self, i): return np.random.rand()\n"
SANE = "import torch\ng = torch.Generator()\nprint(torch.rand(2, generator=g))\n"
DRAWN = ["TRL101"]

CHAIN = "".join(
    f"class C{i}:\n    def __init__(self, n=None):\n        self.inner = C{i + 1}(self)\n"
    "    def __getitem__(self, i):\n        return self.inner[i]\n"
    for i in range(60)
)
ELIFS = "".join(f"elif x == {i}:\n    y = {i}\n" for i in range(1, 600))
BRANCHES = "".join(f"    if b: x = x + {i}\n    else: x = x * {i + 2}\n" for i in range(40))
CALLS = "".join(f"def f{i}(x):\n    return f{i + 1}(x) or f{i + 1}(x + 1) or f{i + 1}([x])\n" for i in range(40))
LINKS = {f"m{i}.py": f"from m{i + 1} import D\nfrom m{i + 1} import *\n" for i in range(1_000)}

PROJECTS: dict[str, tuple[dict[str, str | bytes], list[str]]] = {
    "sixty classes, each of which holds the next": (
        {"a.py": HEAD + CHAIN + "class C60:\n    def __init__(self, n=None): pass\n" + DRAWS + "DataLoader(C0(), num_workers=2)\n"},
        DRAWN,
    ),
    "a dict that is in itself under every name, which stand for attributes": (
        {
            "a.py": HEAD
            + "class S(dict):\n    def __init__(self, x=None): super().__init__(self)\n"
            + "    def __setattr__(self, k, v): self[k] = v\n    def __getattr__(self, k): return self[k]\n"
            + "    def put(self, k): self[k] = S(self[k])\n    def own(self): self['forward'] = self\n"
            + "class D:\n" + DRAWS + "s = S()\ns.put('a')\ns.own()\ns.b(s)\ns.a.b.c()\n"
            + "DataLoader(D(), num_workers=2, collate_fn=s)\n"
        },
        DRAWN,
    ),
    "starred targets of every form, of which Python compiles a few": (
        {
            "a.py": HEAD
            + "class D:\n" + DRAWS + "*x = D()\nfor *y in x: pass\nwith open('a') as *z: pass\n[w for *w in x]\n"
            + "*v.a = np.random.rand(3)\n*v[0] = np.random.rand(3)\n*[a, b], c = *[d, *e], f = [[0, 0], [0, 0], 0]\n"
            + "torch.manual_seed(0)\nprint(x, y, z, w, a, b, c, d, e, f, v.a, np.random.rand())\nDataLoader(D(), num_workers=b)\n"
        },
        ["TRL502", *DRAWN],
    ),
    "registries that register themselves": (
        {
            "a.py": HEAD
            + "class R:\n    known = {}\n    def __init_subclass__(cls): R.known[cls.__name__] = R.known\n"
            + "    def __class_getitem__(cls, i): return cls[i]\n    parts = []\n"
            + "    def add(self, x):\n        self.parts += self.parts\n        self.parts += [self.add(x)]\n"
            + "class Q(R):\n" + DRAWS + "    @classmethod\n    def on(cls, q): cls.known[q] = cls.on(cls.known); return q\n"
            + "R.known['x'] = R.known['x']\nR.on(globals())\nglobals()['Q'] = globals()['Q']\nr = R[1]\n"
            + "DataLoader(Q(), num_workers=2, collate_fn=R.known['Q'])\n"
        },
        DRAWN,
    ),
    "constants that nobody could compute": (
        {
            "a.py": HEAD + "x = 2 ** 10 ** 9\ny = 'a' * 10 ** 10\nz = [0] * 10 ** 10\nw = 1 << 10 ** 10\nr = list(range(10 ** 12))\n"
            "t = '%1000000000d' % 1\nu = 9 ** 9 ** 9 ** 9\nprint(DataLoader(z, batch_size=x), y, t == w, len(r), u)\n"
        },
        [],
    ),
    "a dict of 30,000 entries": (
        {"a.py": HEAD + "D = {" + ",".join(f"'k{i}': {i}" for i in range(30_000)) + "}\nDataLoader([1], num_workers=D[input()])\n"},
        [],
    ),
    "values that double in each of forty branches": (
        {"a.py": HEAD + f"def f(a, b):\n    x = a\n{BRANCHES}    torch.manual_seed(x)\nf(1, input())\n"},
        [],
    ),
    "calls that triple in each of forty functions": (
        {"a.py": HEAD + CALLS + "def f40(x): return DataLoader(x, num_workers=2)\nf0(input())\nf0([1])\n"},
        [],
    ),
    "600 elifs": ({"a.py": HEAD + f"if x == 0:\n    y = 0\n{ELIFS}torch.manual_seed(y)\n"}, []),
    "classes that inherit from themselves": (
        {"a.py": HEAD + "class A(A): pass\nclass B(C): pass\nclass C(B):\n" + DRAWS + "DataLoader(C(), num_workers=2)\nDataLoader(A(), num_workers=2)\n"},
        DRAWN,
    ),
    "records that hold their own kind, a configuration that holds itself": (
        {"a.py": HEAD + RECORDS + "DataLoader(hydra.utils.instantiate(d), num_workers=dataclasses.asdict(N())['workers'])\n"},
        [],
    ),
    "a module that imports itself": (
        {"a.py": HEAD + "from a import *\nfrom a import x\nimport a\nDataLoader(a.x, num_workers=2)\n"},
        [],
    ),
    "modules that import each other": (
        {"a.py": "from b import B\nclass A(B): pass\n", "b.py": HEAD + "from a import A\nclass B(A):\n" + DRAWS + "DataLoader(B(), num_workers=2)\n"},
        DRAWN,
    ),
    "an __init__ that is called as if it were a function": (
        {"a.py": HEAD + "class L(DataLoader):\n    def __init__(self, n):\n        __init__(self, n)\n        __init__()\n__init__(L([]), 1)\n"},
        [],
    ),
    "a torch.py": (
        {"torch.py": "def manual_seed(x): pass\nclass Generator: pass\n", "sub/train.py": HEAD + "torch.manual_seed(0)\n"},
        [],
    ),
    "a name that comes by 1,000 imports": (
        {**LINKS, "m1000.py": HEAD + "class D:\n" + DRAWS, "train.py": HEAD + "from m0 import D\nDataLoader(D(), num_workers=2)\n"},
        [],
    ),
    "functions that call themselves": (
        {
            "a.py": HEAD + "def f(n): return g(n)\ndef g(n): return f(n)\ndef h(*a, **k): return h(h, *a, **k)\nx = [x for x in x]\n"
            "class D:\n    def __getitem__(self, i): return self[i]\n    def __getattr__(self, n): return getattr(self, n)\n"
            "for i in f(i): i = f(i)\nDataLoader(D(), num_workers=f(3), collate_fn=h, worker_init_fn=D().x.y)\n"
        },
        [],
    ),
    "3,000 terms": ({"a.py": HEAD + "x = " + " + ".join(["1"] * 3_000) + "\n"}, []),
    "500 brackets": ({"a.py": HEAD + "x = " + "(" * 500 + ")" * 500 + "\n"}, ["TRL900"]),
    "500 signs": ({"a.py": HEAD + "x = " + "-" * 500 + "1\ny = x" + ".a" * 500 + "\n"}, []),
    "500 levels": ({"a.py": HEAD + "".join(" " * i + "if x:\n" for i in range(500)) + " " * 500 + "y\n"}, ["TRL900"]),
    "Python 2": ({"a.py": "import torch\nprint 'two'\n"}, []),
    "Python 2 that is imported": ({"a.py": "import torch\nprint 'two'\n", "b.py": "import torch\nimport a\n"}, []),
    "a null character": ({"a.py": b"import torch\0\n"}, ["TRL900"]),
    "a null character at the end": ({"a.py": b"import torch\n\0\n"}, []),
    "an unknown encoding": ({"a.py": b"# coding: klingon\nimport torch\n"}, ["TRL900"]),
    "a wrong encoding": ({"a.py": b"import torch\nx = '\xe9'\n"}, ["TRL900"]),
    "a wrong encoding in a comment": ({"a.py": b"import torch  # \xe9\n"}, []),
    "UTF-16": ({"a.py": "import torch\n# torch".encode("utf-16") + b"torch"}, ["TRL900"]),
    "a byte order mark": ({"a.py": b"\xef\xbb\xbfimport torch\n"}, []),
    "three kinds of line endings": ({"a.py": b"import torch\rx = 1\r\ny = 2\n"}, []),
    "form feeds": ({"a.py": b"import torch\n\x0c\ndef f():\n\x0c    pass\n"}, []),
    "tabs among blanks": ({"a.py": b"import torch\nif 1:\n\tx = 1\n        y = 2\n"}, []),
    "nothing": ({"a.py": b""}, []),
    "half a character": ({"a.py": "import torch\nx = '\\ud800'\n"}, []),
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[tool.torchrepro-lint]\ntarget-torch = "==1.8"\n')
    return tmp_path


@pytest.mark.parametrize("name", PROJECTS)
def test_each_is_survived_and_the_other_files_are_checked(project: Path, name: str) -> None:
    files, expected = PROJECTS[name]
    for file, text in files.items():
        (project / file).parent.mkdir(exist_ok=True)
        (project / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    shadowed = "torch.py" in files
    (project / "sane.py").write_text(SANE)
    report = check([project])
    assert report.errors == ()
    found = [(one.location.path.name, one.code) for one in report.findings]
    assert [code for file, code in found if file != "sane.py"] == expected
    assert [code for file, code in found if file == "sane.py"] == ([] if shadowed else ["TRL203"])


def test_every_rule_goes_on_beside_files_that_it_cannot_read(project: Path) -> None:
    """Each file has what some rule looks for, and is asked about by others that import it."""
    names = []
    for number, path in enumerate(sorted(FIXTURES.glob("TRL*/bad_*.py"))):
        names.append(f"broken_{number}")
        (project / f"{names[-1]}.py").write_bytes(path.read_bytes() + b"\n\ndef (\n")
    (project / "sane.py").write_text("".join(f"from {name} import *\n" for name in names) + SANE)
    report = check([project], {"profile": "strict"})
    assert report.errors == ()
    assert {one.code for one in report.findings if one.location.path.name != "sane.py"} == {"TRL900"}
    assert len(report.findings) > len(names)


def test_what_the_disk_may_hold(project: Path) -> None:
    (project / "sane.py").write_text(SANE)
    (project / "loop").symlink_to(project)
    (project / "dead.py").symlink_to(project / "nothing.py")
    os.mkfifo(project / "fifo.py")
    (project / "folder.py").mkdir()
    (Path(os.fsencode(project).decode()) / os.fsdecode(b"\xff.py")).write_text(SANE)
    report = check([project])
    assert report.errors == ()
    assert [finding.code for finding in report.findings] == ["TRL203", "TRL203"]


def test_a_file_that_vanishes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "sane.py").write_text(SANE)
    (project / "gone.py").write_text("import torch\n")
    read = Path.read_bytes

    def vanishing(path: Path) -> bytes:
        if path.name == "gone.py":
            path.unlink(missing_ok=True)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", vanishing)
    report = check([project])
    assert report.errors == ()
    assert {finding.location.path.name for finding in report.findings if finding.code == "TRL203"} == {"sane.py"}


WATCHED = """
import os, sys, tempfile
from pathlib import Path
project, own = Path(sys.argv[1]), tuple(sys.argv[2].split(os.pathsep))
settings = {str(folder / name) for folder in project.parents for name in ("torchrepro-lint.toml", "pyproject.toml")}
tempfile.gettempdir()  # Python tries, once, whether it can write there
seen = []
def watch(event, arguments):
    if event.startswith("socket.") or event in ("exec", "os.system", "subprocess.Popen", "urllib.Request"):
        seen.append((event, str(arguments)[:200]))
    elif event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.path.abspath(os.fsdecode(arguments[0]))
        if not path.startswith((str(project), *own)) and path not in settings:
            seen.append((event, path))
    elif event == "import" and arguments[1] and str(arguments[1]).startswith(str(project)):
        seen.append((event, str(arguments)))
from torchrepro_lint.cli import main
import torchrepro_lint.rules, torchrepro_lint.program.program, libcst, json, hashlib
torchrepro_lint.rules.all_rules()
sys.addaudithook(watch)
main([str(project), "-q", "-j1"])
seen = [one for one in seen if not (one[0] == "exec" and "<string>" in one[1])]  # dataclasses make their methods so
print("seen:", [one for one in seen if one[0] != "exec" or str(project) in one[1]])
print("ran:", "evil" in sys.modules or (project / "ran").exists())
"""


def test_the_linted_code_is_never_run_and_nothing_else_is_read(project: Path, user_cache: Path) -> None:
    evil = f"import pathlib\npathlib.Path({str(project / 'ran')!r}).write_text('')\n"
    for name in ("evil.py", "torch.py", "numpy.py", "json.py", "ast.py", "sitecustomize.py", "conftest.py", "setup.py"):
        (project / name).write_text(evil + SANE)
    (project / "train.py").write_text("from evil import *\n" + HEAD + "DataLoader([1], num_workers=2)\n")
    own = {
        sys.prefix,
        sys.base_prefix,
        str(Path(__file__).parents[1] / "torchrepro_lint"),
        str(user_cache / "torchrepro-lint"),
        "/dev",
        "/etc",
        "/proc",
        "/sys",
    }
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(project), os.pathsep.join(own)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert done.stdout.splitlines()[-2:] == ["seen: []", "ran: False"], done.stdout + done.stderr


def test_the_output_is_the_same_for_any_jobs_order_hash_seed_and_cache(project: Path) -> None:
    for name in ("a", "b"):
        (project / f"{name}.py").write_text(
            HEAD + f"class {name.upper()}:\n{DRAWS}DataLoader({name.upper()}(), num_workers=2)\n"
        )
    (project / "sane.py").write_text(SANE)
    files = [str(project / name) for name in ("a.py", "b.py", "sane.py")]
    said = set()
    for seed, arguments in (
        ("0", ["-j1", *files]),
        ("1", ["-j1", *files[::-1]]),
        ("2", ["-j4", *files]),
        ("3", ["--no-cache", *files]),
        ("4", [str(project)]),
        ("5", [str(project)]),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "torchrepro_lint", "--output-format", "json", *arguments],
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        said.add((done.returncode, done.stdout, done.stderr))
    assert len(said) == 1
    assert next(iter(said))[0] == 1


def test_helpers_say_what_one_process_says(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchrepro_lint.facts import readable

    monkeypatch.setattr(readable, "_BYTES_THAT_PAY", 0)
    for number in range(5):
        (project / f"good{number}.py").write_text("import torch\nx = 1\n")
    (project / "bad.py").write_text("import torch\ndef\n")
    (project / "deep.py").write_text("import torch\nx = " + "(" * 300 + ")" * 300 + "\n")
    reports = [check([project], run=RunOptions(jobs=jobs)) for jobs in (1, 2, 3)]
    assert reports[0] == reports[1] == reports[2]
    assert [finding.location.path.name for finding in reports[0].findings] == ["bad.py", "deep.py"]


STARTED = """
import multiprocessing, sys
from pathlib import Path
from torchrepro_lint.engine import RunOptions, check
from torchrepro_lint.facts import readable
multiprocessing.set_start_method(sys.argv[2])
readable._BYTES_THAT_PAY = 0
report = check([Path(sys.argv[1])], run=RunOptions(jobs=3))
print([(one.location.path.name, one.code) for one in report.findings], report.errors)
"""


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_helpers_start_by_any_method(project: Path, method: str) -> None:
    (project / "sane.py").write_text(SANE)
    (project / "bad.py").write_text("import torch\ndef\n")
    done = subprocess.run(
        [sys.executable, "-c", STARTED, str(project), method], capture_output=True, text=True, cwd=project
    )
    assert done.stdout == "[('bad.py', 'TRL900'), ('sane.py', 'TRL203')] ()\n", done.stderr


def test_the_exit_status_of_a_broken_file_is_that_of_a_finding(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "bad.py").write_text("import torch\ndef\n")
    assert main([str(project), "--no-cache"]) == 1
    captured = capsys.readouterr()
    assert "TRL900" in captured.out
    assert captured.err == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("train.py", 'import torch\nprint("\\d", 1if torch else 2)\n'),
        ("train.py", 'import torch\nprint("\\d", 1if torch else 2, =)\n'),  # whose error is told in Python's words
        ("setup.py", 'from setuptools import setup\nsetup(install_requires=["torch>=2", "\\d"])\n'),
    ],
)
def test_no_warning_of_python_about_a_text_is_printed(project: Path, name: str, text: str) -> None:
    (project / "other.py").write_text("import torch\n", encoding="utf-8")
    (project / name).write_text(text, encoding="utf-8")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check([project], {"profile": "strict"})
    assert [str(one.message) for one in told] == []


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"], ids=repr)
def test_a_fix_goes_into_a_file_whose_blanks_libcst_does_not_give_back(project: Path, ending: str) -> None:
    text = "import torch\n\x0c\ndef f():\n    pass\n\x0c\n\ng = torch.Generator()\nprint(torch.rand(2, generator=g))\n"
    (project / "a.py").write_bytes(text.replace("\n", ending).encode())
    assert main([str(project), "--fix", "--unsafe-fixes", "--no-cache", "-q"]) == 0
    mended = text.replace("Generator()", "Generator().manual_seed(0)")
    assert (project / "a.py").read_bytes() == mended.replace("\n", ending).encode()


def test_a_file_too_large_for_a_tree_is_said_to_be_and_the_others_are_checked(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torchrepro_lint.source.depth.MAX_WORDS", 60)
    numbers = ", ".join(map(str, range(60)))
    (project / "data.py").write_text(f"{SANE}X = [{numbers}]\n")
    (project / "broken.py").write_text(f"import torch\nX = [{numbers}]\ndef\n")
    (project / "no_finding.py").write_text(f"import torch\nX = [{numbers}]\n")
    (project / "text.py").write_text(f"{SANE}X = '''{numbers}'''  # {numbers}\n")
    report = check([project])
    assert report.errors == ()
    said = [(one.location.path.name, one.code, one.message.partition(": ")[2]) for one in report.findings]
    assert [(name, code) for name, code, _ in said] == [
        ("broken.py", "TRL900"),
        ("data.py", "TRL900"),
        ("text.py", "TRL203"),
    ]
    assert said[0][2] == "syntax error: invalid syntax"
    assert said[1][2] == "too large: more than 60 words of code; `extend-exclude` in the settings leaves it out"


def test_a_file_of_many_megabytes_of_code_is_given_to_no_parser(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's own tree of ten megabytes of code takes two gigabytes."""
    monkeypatch.setattr("torchrepro_lint.source.depth.MAX_WORDS_OF_FACTS", 60)
    given: list[str] = []

    def parse(text: str) -> object:
        given.append(text)
        return quick_parse(text)

    monkeypatch.setattr("torchrepro_lint.facts.module.quick_parse", parse)
    (project / "large.py").write_text(f"import torch\nX = [{', '.join(map(str, range(60)))}]\n")
    (project / "train.py").write_text(f"from large import X\n{SANE}")
    report = check([project])
    assert report.errors == ()
    assert [(one.location.path.name, one.code) for one in report.findings] == [
        ("large.py", "TRL900"),
        ("train.py", "TRL203"),
    ]
    assert "too large: more than 60 words of code" in report.findings[0].message
    assert not any("X = [" in text for text in given)


def test_an_internal_error_names_the_file_that_the_rule_was_at(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from torchrepro_lint.rules.ordering.dataloader_without_generator import DataLoaderWithoutGenerator

    def fails(*arguments: object) -> None:
        raise KeyError("a fault")

    monkeypatch.setattr(DataLoaderWithoutGenerator, "of_site", fails)
    (project / "sane.py").write_text(SANE)
    (project / "train.py").write_text(HEAD + "DataLoader([1], shuffle=True)\n")
    assert main([str(project), "--no-cache", "--output-format", "concise"]) == 2
    captured = capsys.readouterr()
    assert "sane.py:2:5: TRL203" in captured.out
    (line,) = captured.err.splitlines()
    assert f"internal error: TRL201 dataloader-without-generator in {project / 'train.py'}: KeyError" in line
    assert line.endswith("please report it")


def test_an_internal_error_at_one_place_costs_that_place_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torchrepro_lint.rules.ordering.dataloader_without_generator import DataLoaderWithoutGenerator

    asked = DataLoaderWithoutGenerator.of_site

    def fails_at_times(rule, program, loaders):  # type: ignore[no-untyped-def]
        if program.location(loaders[0].site).start.row in (5, 6):
            raise KeyError("a fault")
        return asked(rule, program, loaders)

    monkeypatch.setattr(DataLoaderWithoutGenerator, "of_site", fails_at_times)
    loader = "DataLoader([1], shuffle=True)\n"
    (project / "a.py").write_text(f"{HEAD}torch.manual_seed(0)\n{loader * 4}")
    (project / "b.py").write_text(f"{HEAD}torch.manual_seed(0)\n\n\n{loader}")
    report = check([project])
    found = [one for one in report.found if one.code == "TRL201"]
    assert [(one.location.path.name, one.location.start.row) for one in found] == [
        ("a.py", 7),
        ("a.py", 8),
        ("b.py", 7),
    ]
    assert report.errors and all("TRL201" in error and "KeyError" in error for error in report.errors)


def test_an_imported_file_that_cannot_be_read_is_no_home_of_an_init_function(project: Path) -> None:
    (project / "old.py").write_text(
        "import numpy as np\nimport torch\n\n\ndef seed_worker(worker_id):\n"
        "    np.random.seed(torch.initial_seed() % 2**32)\n\n\nclass Base:\n    pass\n\n\nx = (\n"
    )
    (project / "train.py").write_text(f"{HEAD}from old import Base\nclass D:\n{DRAWS}DataLoader(D(), num_workers=2)\n")
    report = check([project])
    assert report.errors == ()
    assert [(one.location.path.name, one.code) for one in report.findings] == [
        ("old.py", "TRL900"),
        ("train.py", "TRL101"),
    ]


def test_a_fix_whose_seed_is_not_known_as_the_budget_is_used_up_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torchrepro_lint.fixes import generator_fix

    asked = generator_fix.document_of

    def late(program, path):  # type: ignore[no-untyped-def]
        program.ev.steps = 10**9
        return asked(program, path)

    monkeypatch.setattr(generator_fix, "document_of", late)
    (project / "sane.py").write_text(SANE)
    report = check([project])
    assert report.errors == ()
    (found,) = report.findings
    assert found.fix is None and "torch may not be seeded yet" in (found.fix_declined or "")
