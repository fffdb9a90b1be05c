from __future__ import annotations

import os
from pathlib import Path

import pytest
from fakes import BrokenRule, FakeProgram, WordRule, toolkit

from torchrepro_lint.diagnostics import Severity, TorchReproLintError
from torchrepro_lint.engine import Report, check
from torchrepro_lint.toolkit import Toolkit

BAD = WordRule("TRL101", "bad-word", "bad")
WORSE = WordRule("TRL102", "worse-word", "worse")
STRICT = WordRule("TRL403", "strict-word", "strict", profile="strict")


def places(report: Report, root: Path) -> list[tuple[str, int, int, str]]:
    return [
        (
            one.location.path.relative_to(root).as_posix(),
            one.location.start.row,
            one.location.start.column,
            one.code,
        )
        for one in report.findings
    ]


def test_findings_come_sorted_and_only_for_what_was_asked(write) -> None:
    root = write(
        {
            "pyproject.toml": "",
            "b.py": "import torch\nworse, bad\n",
            "a.py": "import torch\nx = 1\nbad = worse = bad\n",
            "sub/c.py": "import torch\nbad\n",
        }
    )
    report = check([root / "a.py", root / "b.py"], toolkit=toolkit(WORSE, BAD))
    assert places(report, root) == [
        ("a.py", 3, 1, "TRL101"),
        ("a.py", 3, 7, "TRL102"),
        ("a.py", 3, 15, "TRL101"),
        ("b.py", 2, 1, "TRL102"),
        ("b.py", 2, 8, "TRL101"),
    ]
    assert (report.files_checked, report.errors) == (2, ())
    assert check([root], toolkit=toolkit(BAD)).files_checked == 3


def test_facts_come_from_the_whole_project(write) -> None:
    root = write({"pyproject.toml": "", "a.py": "import torch", "sub/b.py": "", "build/c.py": "", "o/setup.py": ""})
    seen: list[FakeProgram] = []

    def factory(*args: object, **kwargs: object) -> FakeProgram:
        seen.append(FakeProgram(*args, **kwargs))  # type: ignore[arg-type]
        return seen[-1]

    check([root / "a.py"], toolkit=Toolkit(lambda: [BAD], factory))
    assert [path.relative_to(root).as_posix() for path in seen[0].texts] == ["a.py", "o/setup.py", "sub/b.py"]
    assert seen[0].root == root


def test_each_file_is_judged_by_its_own_project(write) -> None:
    root = write(
        {
            "one/pyproject.toml": '[tool.torchrepro-lint]\nignore = ["TRL101"]\n',
            "one/a.py": "import torch\nbad\n",
            "two/pyproject.toml": "",
            "two/a.py": "import torch\nbad\n",
        }
    )
    report = check([root], toolkit=toolkit(BAD))
    assert places(report, root) == [("two/a.py", 2, 1, "TRL101")]


def test_files_without_interest_start_nothing(write) -> None:
    root = write({"a.py": "bad syntax here (\n", "pyproject.toml": ""})

    def factory(*args: object, **kwargs: object) -> FakeProgram:
        raise AssertionError("nothing to analyse")

    report = check([root], toolkit=Toolkit(lambda: [BAD], factory))
    assert report == Report((), 1, ())


@pytest.mark.parametrize(
    ("override", "codes"),
    [
        ({}, ["TRL101", "TRL102"]),
        ({"profile": "strict"}, ["TRL101", "TRL102", "TRL403"]),
        ({"select": ("TRL",)}, ["TRL101", "TRL102"]),
        ({"select": ("ALL",)}, ["TRL101", "TRL102", "TRL403"]),
        ({"ignore": ("ALL",)}, []),
        ({"ignore": ("ALL",), "extend_select": ("TRL102",)}, ["TRL102"]),
        ({"select": ("TRL4",)}, ["TRL403"]),
        ({"select": ("strict-word",)}, ["TRL403"]),
        ({"select": ("trl101", "TRL403")}, ["TRL101", "TRL403"]),
        ({"extend_select": ("TRL403",)}, ["TRL101", "TRL102", "TRL403"]),
        ({"ignore": ("TRL1",)}, []),
        ({"ignore": ("TRL101",)}, ["TRL102"]),
        ({"ignore": ("worse-word",)}, ["TRL101"]),
        ({"ignore": ("TRL1",), "extend_select": ("TRL102",)}, ["TRL102"]),
        ({"select": ("TRL1",), "ignore": ("TRL1",)}, []),
    ],
)
def test_selection(write, override, codes: list[str]) -> None:
    root = write({"a.py": "import torch\nbad\nworse\nstrict\n"})
    report = check([root], override, toolkit=toolkit(BAD, WORSE, STRICT))
    assert [finding.code for finding in report.findings] == codes


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("TRL999", 'unknown rule "TRL999"'),
        ("TRL110", 'unknown rule "TRL110"; did you mean "TRL1'),
        ("bad-wrod", 'unknown rule "bad-wrod"; did you mean "bad-word"?'),
        ("E501", 'unknown rule "E501"'),
        ("", 'unknown rule ""'),
    ],
)
def test_unknown_rules_are_said_whatever_the_files(write, selector: str, message: str) -> None:
    root = write({"a.py": ""})
    with pytest.raises(TorchReproLintError) as error:
        check([root], {"select": (selector,)}, toolkit=toolkit(BAD, WORSE))
    assert str(error.value).startswith(f"--select: {message}")


def test_comments_silence(write) -> None:
    text = "import torch\nbad  # noqa: TRL101\nbad  # noqa: TRL102\nbad = 'noqa'\n"
    root = write({"a.py": text, "b.py": "# torchrepro-lint: noqa\nimport torch\nbad\n"})
    report = check([root], {"ignore": ("TRL901",)}, toolkit=toolkit(BAD))
    assert [place[:2] for place in places(report, root)] == [("a.py", 3), ("a.py", 4)]
    assert len(check([root], toolkit=toolkit(BAD), suppressed_too=True).findings) == 4


def test_unreadable_files_are_findings_and_the_others_go_on(write) -> None:
    root = write(
        {
            "a.py": "import torch\nx = (\nbad\n",
            "b.py": b"import torch\nx = '\xe9'\n",
            "c.py": "import torch\nbad\n",
            "d.py": b"import os\nx = '\xe9' (\n",
            "e.py": "import torch\nx = ( # noqa\n",
        }
    )
    report = check([root], toolkit=toolkit())
    assert [place[0] for place in places(report, root)] == ["a.py", "b.py"]
    broken, undecodable = report.findings
    assert (broken.code, broken.name, broken.severity) == ("TRL900", "unreadable-file", Severity.ERROR)
    assert (undecodable.location.start.row, undecodable.location.start.column) == (2, 6)
    assert check([root], {"ignore": ("TRL900",)}, toolkit=toolkit()).findings == ()
    assert [one.code for one in check([root], toolkit=toolkit(BAD)).findings] == [
        "TRL900",
        "TRL101",
        "TRL900",
        "TRL101",
    ]


def test_a_file_that_the_system_refuses(write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({"a.py": "import torch\nbad\n", "b.py": "import torch\nbad\n"})
    read_bytes = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "a.py":
            raise PermissionError(13, "Permission denied")
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    report = check([root / "a.py"], toolkit=toolkit(BAD))
    assert [(one.code, one.message) for one in report.findings] == [
        ("TRL900", "this file cannot be read: Permission denied")
    ]


def test_a_rule_that_fails_names_itself_and_the_file_and_the_others_go_on(write) -> None:
    root = write({"a.py": "import torch\nbad, worse\n"})
    report = check([root], toolkit=toolkit(BrokenRule("TRL102", "broken", "worse"), BAD))
    assert [one.code for one in report.findings] == ["TRL101", "TRL102"]
    (error,) = report.errors
    assert "\n" not in error
    for part in (
        "internal error",
        "TRL102 broken",
        str(root / "a.py"),
        "KeyError",
        " at project_check.py:",
        "please report",
    ):
        assert part in error


def test_a_program_that_cannot_be_made_is_an_internal_error(write) -> None:
    root = write({"a.py": "import torch\n"})

    def factory(*args: object, **kwargs: object) -> FakeProgram:
        raise RecursionError("too deep")

    report = check([root], toolkit=Toolkit(lambda: [BAD], factory))
    assert "reading the project" in report.errors[0]
    assert "RecursionError: too deep" in report.errors[0]


def test_the_same_finding_twice_is_one(write) -> None:
    root = write({"a.py": "import torch\nbad\n"})
    report = check([root], toolkit=toolkit(BAD, WordRule("TRL101", "bad-word", "bad")))
    assert len(report.findings) == 1


def test_texts_that_are_not_on_the_disk(write) -> None:
    root = write({"pyproject.toml": "", "a.py": "import torch\n"})
    overlay = {root / "a.py": "import torch\nbad\n", root / "new.py": "import torch\n\nbad\n"}
    report = check([root / "a.py", root / "new.py"], overlay=overlay, toolkit=toolkit(BAD))
    assert places(report, root) == [("a.py", 2, 1, "TRL101"), ("new.py", 3, 1, "TRL101")]
    assert places(check([root], overlay=overlay, toolkit=toolkit(BAD)), root) == [("a.py", 2, 1, "TRL101")]


def test_paths_may_be_relative(write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({"sub/a.py": "import torch\nbad\n"})
    monkeypatch.chdir(root)
    assert places(check([Path("sub")], toolkit=toolkit(BAD)), root) == [("sub/a.py", 2, 1, "TRL101")]
    os.chdir(root / "sub")
    assert len(check([Path()], toolkit=toolkit(BAD)).findings) == 1


def test_only_some_files_are_looked_at_in_the_context_of_all(write) -> None:
    root = write({"a.py": "import torch\nbad\n", "b.py": "import torch\nbad  # noqa: TRL109\n", "c.py": b"\xff torch"})
    report = check([root], toolkit=toolkit(BAD), only=frozenset({root / "a.py"}))
    assert [(one.code, one.location.path.name) for one in report.findings] == [("TRL101", "a.py")]
    whole = check([root], toolkit=toolkit(BAD))
    assert len(whole.findings) > 1
    assert whole.files_checked == report.files_checked == 3


def test_installed_packages_are_libraries_to_each_other(write) -> None:
    """Each is checked for itself, be it that all lie in one folder from which they import each other."""
    draws = "import numpy as np\n\n\ndef draw():\n    return np.random.rand()\n"
    program = (
        "import torch\nfrom torch.utils.data import DataLoader, Dataset\nfrom {0} import draw\n\n\n"
        "class Draws(Dataset):\n    def __getitem__(self, index):\n        return draw()\n\n\n"
        "DataLoader(Draws(), num_workers=2)\n"
    )
    root = write(
        {
            "site-packages/own/__init__.py": "",
            "site-packages/own/draws.py": draws,
            "site-packages/own/use.py": program.format("own.draws"),
            "site-packages/own/use_of_other.py": program.format("other.draws"),
            "site-packages/other/__init__.py": "import torch\ntorch.compile\n",
            "site-packages/other/draws.py": draws,
        }
    )
    report = check([root / "site-packages" / "own"], {"select": ("TRL101",)})
    assert [one.location.path.name for one in report.findings] == ["use.py"]
    assert "target-torch" in report.findings[0].message, "what the other package uses says nothing of this one's torch"


def test_what_two_projects_find_in_a_file_is_said_once(write) -> None:
    root = write(
        {
            "main/main.py": """
                import torch
                from utils.data import loader

                torch.manual_seed(0)
                for batch in loader():
                    print(batch)
            """,
            "utils/log.py": "def note(text):\n    print(text)\n",
            "utils/data.py": """
                import numpy as np
                from torch.utils.data import DataLoader, Dataset
                from utils.log import note


                class Noisy(Dataset):
                    def __len__(self):
                        return 8

                    def __getitem__(self, index):
                        return index + np.random.normal()


                def loader():
                    note("loader")
                    return DataLoader(Noisy(), num_workers=2)


                if __name__ == "__main__":
                    for batch in loader():
                        print(batch)
            """,
        }
    )
    findings = check([root], {"select": ("TRL101",), "profile": "default"}).findings
    assert [one.fix is not None for one in findings] == [True]
