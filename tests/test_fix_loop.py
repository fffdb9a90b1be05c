from __future__ import annotations

import dataclasses
import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from fakes import BrokenRule, FakeProgram, WordRule, toolkit
from hypothesis import given, settings
from hypothesis import strategies as st

from torchrepro_lint.diagnostics import Applicability, Edit, Finding
from torchrepro_lint.engine import RunOptions
from torchrepro_lint.facts import readable
from torchrepro_lint.facts.module import facts_of_text
from torchrepro_lint.fix_loop import fix

BAD = WordRule("TRL101", "bad-word", "bad", "good")
UNSAFE = WordRule("TRL102", "risky-word", "risky", "fine", Applicability.UNSAFE)


def test_what_can_be_mended_is_and_the_rest_stays_to_the_byte(write) -> None:
    data = b"\xef\xbb\xbfimport torch\r\nx = bad  # caf\xc3\xa9\t\r\n\f\r\ny = bad\rz = 'bad'"
    root = write({"a.py": data, "b.py": "import torch\n"})
    before = (root / "b.py").stat().st_mtime_ns
    result = fix([root], toolkit=toolkit(BAD))
    assert (root / "a.py").read_bytes() == data.replace(b"bad", b"good")
    assert (len(result.fixed), result.report.findings, result.rejected) == (3, (), ())
    assert (root / "b.py").stat().st_mtime_ns == before
    again = fix([root], toolkit=toolkit(BAD))
    assert (again.changes, again.fixed) == ((), ())


@pytest.mark.parametrize(("text", "is_fixed"), [("bad\n", False), ("worse = 1\nbad\n", False), ("bad = nice\n", True)])
def test_a_fix_fails_if_a_rule_that_is_off_finds_something_new_where_it_was_made(
    text: str, is_fixed: bool, write
) -> None:
    root = write({"a.py": f"import torch\n{text}"})
    strict = WordRule("TRL103", "worse-word", "worse", profile="strict")
    fixes = WordRule("TRL101", "bad-word", "bad", "good" if is_fixed else "worse")
    result = fix([root], toolkit=toolkit(fixes, strict))
    assert bool(result.changes) == is_fixed
    assert [one.reason for one in result.rejected] == (
        [] if is_fixed else ["the fixed program would have another fault: found worse (TRL103)"]
    )


def test_equal_lines_that_a_rule_that_is_off_rejects(write) -> None:
    """What is noted of one holds for the others, which are tried all the same."""
    root = write({"a.py": "import torch\n" + "bad\n" * 4, "b.py": "import torch\nbad = 1\n"})
    strict = WordRule("TRL103", "worse-word", "worse", profile="strict")
    result = fix([root], toolkit=toolkit(WordRule("TRL101", "bad-word", "bad", "worse"), strict))
    assert not result.changes
    assert {one.reason for one in result.rejected} == {
        "the fixed program would have another fault: found worse (TRL103)"
    }


def test_without_write_nothing_is_written(write) -> None:
    root = write({"a.py": "import torch\nbad\n"})
    result = fix([root], write=False, toolkit=toolkit(BAD))
    assert (root / "a.py").read_text() == "import torch\nbad\n"
    (change,) = result.changes
    assert change.text == "import torch\ngood\n"
    assert "".join(change.diff("a.py")) == "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n import torch\n-bad\n+good\n"


def test_a_diff_says_where_a_last_line_has_no_ending(write) -> None:
    root = write({"a.py": "import torch\nbad"})
    (change,) = fix([root], write=False, toolkit=toolkit(BAD)).changes
    assert "".join(change.diff("a.py")).endswith(
        "-bad\n\\ No newline at end of file\n+good\n\\ No newline at end of file\n"
    )


def test_unsafe_fixes_need_leave(write) -> None:
    root = write({"a.py": "import torch\nrisky = bad\n"})
    result = fix([root], toolkit=toolkit(BAD, UNSAFE))
    assert (root / "a.py").read_text() == "import torch\nrisky = good\n"
    assert [finding.code for finding in result.report.findings] == ["TRL102"]
    fix([root], {"unsafe_fixes": True}, toolkit=toolkit(BAD, UNSAFE))
    assert (root / "a.py").read_text() == "import torch\nfine = good\n"


def test_the_settings_file_gives_leave_too(write) -> None:
    root = write({"torchrepro-lint.toml": "unsafe-fixes = true\n", "a.py": "import torch\nrisky\n"})
    assert len(fix([root], toolkit=toolkit(UNSAFE)).fixed) == 1


def test_rounds_go_on_until_nothing_is_left(write) -> None:
    root = write({"a.py": "import torch\none\n"})
    rules = [WordRule(f"TRL10{n}", f"n-{n}", old, new) for n, (old, new) in enumerate([("one", "two"), ("two", "six")])]
    result = fix([root], toolkit=toolkit(*rules))
    assert (root / "a.py").read_text() == "import torch\nsix\n"
    assert result.report.findings == ()


def test_rules_that_undo_each_other_change_nothing(write) -> None:
    root = write({"a.py": "import torch\none\n"})
    rules = [WordRule(f"TRL10{n}", f"n-{n}", old, new) for n, (old, new) in enumerate([("one", "two"), ("two", "one")])]
    result = fix([root], toolkit=toolkit(*rules))
    assert (root / "a.py").read_text() == "import torch\none\n"
    assert (result.changes, len(result.report.findings)) == ((), 1)


@pytest.mark.parametrize(
    ("replacement", "reason"),
    [
        ("(", "does not parse"),
        ("return 1", "does not compile"),
        ("bad.bad", "the finding would stay"),
        ("worse", "the fixed program would have another fault: found worse (TRL102)"),
    ],
)
def test_a_fix_that_does_no_good_is_dropped_and_the_others_stay(write, replacement: str, reason: str) -> None:
    text = "import torch\nbad\nill\nill\nill\n"
    root = write({"a.py": text})
    rules = [WordRule("TRL101", "bad-word", "bad", replacement), WordRule("TRL103", "ill-word", "ill", "well")]
    rules.append(WordRule("TRL102", "worse-word", "worse"))
    result = fix([root], toolkit=toolkit(*rules))
    assert (root / "a.py").read_text() == text.replace("ill", "well")
    (rejected,) = result.rejected
    assert rejected.finding.code == "TRL101"
    assert reason in rejected.reason
    assert [finding.code for finding in result.report.findings] == ["TRL101"]
    assert len(result.fixed) == 3


def test_a_file_that_did_not_compile_before_is_not_blamed_on_the_fix(write) -> None:
    root = write({"a.py": "import torch\nbad\nf(a=1, a=2)\n"})
    result = fix([root], toolkit=toolkit(WordRule("TRL101", "bad-word", "bad", "good")))
    (rejected,) = result.rejected
    assert rejected.reason == "the file does not compile (keyword argument repeated: a, line 3)"


def test_a_fix_that_leaves_its_finding_is_told_from_those_beside_it(write) -> None:
    """There are fewer findings of the rule afterwards, but this one is still among them."""
    root = write({"a.py": "import torch\nbad\nbad  # never\nbad\n"})

    class Stubborn(WordRule):
        def check(self, program: FakeProgram) -> Iterator[Finding]:
            for finding in super().check(program):
                (edit,) = finding.fix.edits if finding.fix is not None else ()
                if "never" in program.texts[edit.path].splitlines()[finding.location.start.row - 1]:
                    edit = dataclasses.replace(edit, content="bad")
                    finding = dataclasses.replace(finding, fix=dataclasses.replace(finding.fix, edits=(edit,)))
                yield finding

    result = fix([root], {"unsafe_fixes": True}, toolkit=toolkit(Stubborn("TRL101", "bad-word", "bad", "good")))
    assert (root / "a.py").read_text() == "import torch\ngood\nbad  # never\ngood\n"
    assert [one.fix_declined for one in result.report.findings] == ["the finding would stay"]
    assert len(result.fixed) == 2


def test_a_bad_fix_among_many_is_found_in_few_attempts(write) -> None:
    asked = []

    class Counting(WordRule):
        def check(self, program: FakeProgram) -> Iterator[Finding]:
            asked.extend([1] * (program.settings.profile != "strict"))
            yield from super().check(program)

    lines = [f"good{number} = bad" for number in range(32)]
    root = write({"a.py": "\n".join(["import torch", *lines[:20], "ill", *lines[20:], ""])})
    result = fix(
        [root], toolkit=toolkit(Counting("TRL101", "bad-word", "bad", "fine"), WordRule("TRL102", "i", "ill", "("))
    )
    assert (root / "a.py").read_text().count("fine") == 32
    assert [one.finding.code for one in result.rejected] == ["TRL102"]
    # The first look, and one look at what was put together after each part that went in.
    assert len(asked) <= 8


def test_a_bad_fix_is_sought_where_its_fault_shows(write) -> None:
    asked = []

    class Stubborn(WordRule):
        def check(self, program: FakeProgram) -> Iterator[Finding]:
            asked.extend([1] * (program.settings.profile != "strict"))
            for finding in super().check(program):
                (edit,) = finding.fix.edits if finding.fix is not None else ()
                if edit.path.name == "m7.py":
                    edit = dataclasses.replace(edit, content="bad")
                    finding = dataclasses.replace(finding, fix=dataclasses.replace(finding.fix, edits=(edit,)))
                yield finding

    root = write({f"m{number}.py": "import torch\nbad\n" for number in range(16)})
    result = fix([root], {"unsafe_fixes": True}, toolkit=toolkit(Stubborn("TRL101", "bad-word", "bad", "fine")))
    assert [one.finding.location.path.name for one in result.rejected] == ["m7.py"]
    assert len(result.fixed) == 15
    # The first look, one at all fixes, and one at those of the other files.
    assert len(asked) == 3


def test_files_that_no_edit_touches_are_read_once(write, monkeypatch: pytest.MonkeyPatch) -> None:
    loader = "from torch.utils.data import DataLoader\n\ndef load(ds):\n    return DataLoader(ds, shuffle=True)\n"
    root = write(
        {
            "torchrepro-lint.toml": 'profile = "strict"\nselect = ["TRL201"]\nunsafe-fixes = true\n',
            "a.py": f"import b\n{loader}",
            "b.py": loader.replace("True", "True, generator=g"),
        }
    )
    read = []

    def facts_of(path: Path, text: str) -> object:
        read.append(path.name)
        return facts_of_text(path, text)

    monkeypatch.setattr("torchrepro_lint.program.kept.programs.facts_of_text", facts_of)
    assert len(fix([root]).changes) == 1
    assert sorted(read) == ["a.py", "a.py", "b.py"]


def test_an_import_that_two_fixes_used_last_goes_with_both(write) -> None:
    text = "import time\n\nimport numpy as np\nimport torch\n\ntorch.manual_seed(int(time.time()))\n"
    text += "np.random.seed(int(time.time()))\nx = torch.rand(3), np.random.rand()\n"
    root = write({"torchrepro-lint.toml": "unsafe-fixes = true\n", "a.py": text, "b.py": text + "print(time.time())\n"})
    assert len(fix([root]).fixed) == 4
    assert (root / "a.py").read_text().startswith("import numpy as np\nimport torch\n\ntorch.manual_seed(0)\n")
    assert (root / "b.py").read_text().startswith("import time\n")


class Everywhere(WordRule):
    """Its fix changes all files of the project at once."""

    def check(self, program: FakeProgram) -> Iterator[Finding]:
        for finding in super().check(program):
            edits = tuple(
                Edit(path, text.index(self.word), text.index(self.word) + len(self.word), self.replacement or "")
                for path, text in program.texts.items()
                if self.word in text
            )
            assert finding.fix is not None
            yield dataclasses.replace(finding, fix=dataclasses.replace(finding.fix, edits=edits))


def test_a_fix_may_reach_into_other_files(write) -> None:
    root = write({"pyproject.toml": "", "a.py": "import torch\nbad\n", "b.py": "import torch\nbad\n"})
    result = fix([root / "a.py"], toolkit=toolkit(Everywhere("TRL101", "bad-word", "bad", "good")))
    assert (root / "b.py").read_text() == "import torch\ngood\n"
    assert [change.source.path.name for change in result.changes] == ["a.py", "b.py"]
    assert len(result.fixed) == 1


def test_a_silenced_finding_is_not_mended(write) -> None:
    root = write({"a.py": "import torch\nbad  # noqa: TRL101\n"})
    fix([root], toolkit=toolkit(BAD))
    assert (root / "a.py").read_text() == "import torch\nbad  # noqa: TRL101\n"


def test_what_the_encoding_cannot_say_is_not_written(write) -> None:
    data = b"# coding: latin-1\nimport torch\nx = '\xe9'\nbad\n"
    root = write({"a.py": data})
    result = fix([root], toolkit=toolkit(WordRule("TRL101", "bad-word", "bad", "'\N{SNOWMAN}'")))
    assert (root / "a.py").read_bytes() == data
    assert "has no bytes for" in result.rejected[0].reason


def test_an_encoding_is_kept(write) -> None:
    root = write({"a.py": b"# coding: latin-1\nimport torch\nx = '\xe9'\nbad\n"})
    fix([root], toolkit=toolkit(BAD))
    assert (root / "a.py").read_bytes() == b"# coding: latin-1\nimport torch\nx = '\xe9'\ngood\n"


def test_a_file_that_cannot_be_written_is_told(write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({"a.py": "import torch\nbad\n", "b.py": "import torch\nbad\n"})

    class Meddling(WordRule):
        """Somebody saves the file while it is being checked."""

        def check(self, program: FakeProgram) -> Iterator[Finding]:
            yield from super().check(program)
            if "good" in program.texts[root / "a.py"]:
                (root / "a.py").write_text("import torch\nmine\n")

    result = fix([root], toolkit=toolkit(Meddling("TRL101", "bad-word", "bad", "good")))
    assert (root / "a.py").read_text() == "import torch\nmine\n"
    assert (root / "b.py").read_text() == "import torch\ngood\n"
    assert len(result.report.errors) == 1
    assert "a.py" in result.report.errors[0]


def test_what_was_not_written_counts_as_left_and_not_as_mended(write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({"a.py": "import torch\nbad\n", "b.py": "import torch\nbad\n"})
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).name != "a.py")
    result = fix([root], toolkit=toolkit(BAD))
    assert (root / "a.py").read_text() == "import torch\nbad\n"
    assert [change.source.path.name for change in result.changes] == ["b.py"]
    assert [finding.location.path.name for finding in result.fixed] == ["b.py"]
    assert [finding.location.path.name for finding in result.report.findings] == ["a.py"]
    assert len(result.report.errors) == 1


def test_broken_files_are_left_alone(write) -> None:
    root = write({"a.py": "import torch\nbad = (\n", "b.py": "import torch\nbad\n"})
    result = fix([root], toolkit=toolkit(BAD))
    assert (root / "a.py").read_text() == "import torch\nbad = (\n"
    assert (root / "b.py").read_text() == "import torch\ngood\n"
    assert {finding.code for finding in result.report.findings} == {"TRL900", "TRL101"}


def test_the_folder_is_left_as_it_was(write) -> None:
    root = write({"a.py": "import torch\nbad\n"})
    fix([root], toolkit=toolkit(BAD))
    assert [path.name for path in Path(root).iterdir()] == ["a.py"]


def test_a_rule_that_fails_does_not_keep_the_others_from_mending(write) -> None:
    root = write({"a.py": "import torch\nbad\nodd\n"})
    result = fix([root], toolkit=toolkit(BAD, BrokenRule("TRL103", "broken", "odd")))
    assert (root / "a.py").read_text() == "import torch\ngood\nodd\n"
    assert len(result.report.errors) == 1


def test_a_fix_that_makes_a_rule_fail_is_dropped(write) -> None:
    root = write({"a.py": "import torch\nbad\n"})
    rules = [WordRule("TRL101", "bad-word", "bad", "odd"), BrokenRule("TRL103", "odd-word", "odd")]
    result = fix([root], toolkit=toolkit(*rules))
    assert (root / "a.py").read_text() == "import torch\nbad\n"
    assert result.rejected[0].reason == "the result cannot be checked"


def test_the_encoding_that_a_file_declares_stays(write) -> None:
    data = "# -*- coding: latin-1 -*-\nimport torch\nx = bad  # café\n".encode("latin-1")
    root = write({"a.py": data})
    fix([root], toolkit=toolkit(BAD))
    assert (root / "a.py").read_bytes() == data.replace(b"bad", b"good")


def test_the_mode_of_a_file_stays(write) -> None:
    root = write({"a.py": "#!/usr/bin/env python\nimport torch\nbad\n"})
    (root / "a.py").chmod(0o755)
    fix([root], toolkit=toolkit(BAD))
    assert (root / "a.py").stat().st_mode & 0o7777 == 0o755


LOADER = "from torch.utils.data import DataLoader\n{}\n\ndef load(ds):\n    return DataLoader(ds, {})\n"
MODULES = {
    "pyproject.toml": '[tool.torchrepro-lint]\nselect = ["TRL1", "TRL2"]\nunsafe-fixes = true\n',
    "noise.py": "import numpy as np\n\n\nclass Noisy:\n    def __getitem__(self, i):\n        return i + np.random.rand()\n",
    "a.py": LOADER.format("import b\nfrom noise import Noisy\n", "shuffle=True").replace("(ds)", "(ds=Noisy())"),
    "b.py": LOADER.format("from noise import Noisy\n", "num_workers=2").replace("(ds)", "(ds=Noisy())"),
    "c.py": "import a\nimport b\n\na.load()\nb.load()\n",
    "sub/d.py": LOADER.format("import torch, random\n", "shuffle=True, num_workers=3"),
}


@settings(max_examples=12, deadline=None)
@given(st.permutations(["a.py", "b.py", "c.py", "noise.py", "sub"]), st.integers(1, 3))
def test_any_order_of_files_and_any_number_of_processes_gives_the_same_bytes(order: list[str], jobs: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(readable, "_BYTES_THAT_PAY", 0)  # the files here are small: other processes would not be asked
        root = Path(folder)
        for name, text in MODULES.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)
        fixed = fix([root / name for name in order], run=RunOptions(jobs=jobs))
        assert [change.source.path.name for change in fixed.changes] == ["a.py", "b.py", "d.py"]
        texts = "".join((root / name).read_text() for name in MODULES)
        assert hashlib.sha256(texts.encode()).hexdigest() == _digest_of_the_plain_run()
        assert fix([root], run=RunOptions(jobs=jobs)).changes == ()


@cache
def _digest_of_the_plain_run() -> str:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in MODULES.items():
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).write_text(text)
        fix([Path(folder)])
        return hashlib.sha256("".join((Path(folder) / name).read_text() for name in MODULES).encode()).hexdigest()


def test_an_interruption_between_two_files_leaves_each_of_them_whole(write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({"a.py": "import torch\nbad\n", "b.py": "import torch\nbad\n", "c.py": "import torch\nbad\n"})
    replace = Path.replace

    def interrupted(path: Path, target: Path) -> Path:
        if target.name == "b.py":
            raise KeyboardInterrupt
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fix([root], toolkit=toolkit(BAD))
    assert [(root / f"{name}.py").read_text().split()[-1] for name in "abc"] == ["good", "bad", "bad"]
    assert sorted(path.name for path in root.iterdir()) == ["a.py", "b.py", "c.py"]


def test_a_call_that_one_fix_lays_out_anew_is_left_alone_by_another(write) -> None:
    text = (
        "import numpy as np\nimport torch\nfrom torch.utils.data import DataLoader, Dataset\n\n\n"
        "class Ds(Dataset):\n    def __len__(self):\n        return 8\n\n    def __getitem__(self, index):\n"
        "        return np.random.rand(3)\n\n\n"
        "def main():\n    torch.manual_seed(0)\n    loader = DataLoader(Ds(), batch_size=4, shuffle=True, num_workers=2)\n"
        "    for batch in loader:\n        print(batch)\n\n\nmain()\n"
    )
    result = fix([write({"train.py": text, "requirements.txt": "torch==1.8"})])
    assert sorted(finding.code for finding in result.fixed) == ["TRL101"]
    assert (result.report.findings, result.rejected) == ((), ())


class SavedMeanwhile(WordRule):
    """The rule; a person saves the file once its findings are made, before the fix is applied."""

    def check(self, program: FakeProgram) -> Iterator[Finding]:
        found = list(super().check(program))
        for path in {finding.location.path for finding in found}:
            path.write_text(SAVED)
        return iter(found)


SAVED = "import torch\n\n# a line more, of a person\nx = 1\nbad\n"


def test_edits_are_made_to_the_text_that_was_analysed_or_not_at_all(write) -> None:
    root = write({"a.py": "import torch\nbad\n"})
    result = fix([root], toolkit=toolkit(SavedMeanwhile("TRL101", "bad-word", "bad", "good")))
    assert (root / "a.py").read_text() == SAVED
    assert result.changes == ()
    (error,) = result.report.errors
    assert error.endswith("not written: the file has changed since it was read")
    # What is said is of the text that the person has saved.
    assert [finding.location.start.row for finding in result.report.findings] == [5]


class OtherSavedMeanwhile(WordRule):
    """The rule; a person saves `b.py` once the findings are made."""

    def check(self, program: FakeProgram) -> Iterator[Finding]:
        found = list(super().check(program))
        for path in {finding.location.path for finding in found if finding.location.path.name == "b.py"}:
            path.write_text(SAVED)
        return iter(found)


def test_where_one_file_was_saved_meanwhile_none_is_written_that_imports_from_it(write) -> None:
    root = write(dict.fromkeys(("a.py", "b.py", "c.py"), "import torch\nbad\n"))
    rule = OtherSavedMeanwhile("TRL101", "bad-word", "bad", "good")

    class Waiting(WordRule):
        """Fixes of `a.py` import what that of `b.py` defines."""

        def check(self, program: FakeProgram) -> Iterator[Finding]:
            for finding in rule.check(program):
                if finding.location.path.name == "a.py" and finding.fix is not None:
                    finding = dataclasses.replace(
                        finding, fix=dataclasses.replace(finding.fix, after=frozenset({root / "b.py"}))
                    )
                yield finding

    result = fix([root], toolkit=toolkit(Waiting("TRL101", "bad-word", "bad", "good")))
    assert [(root / name).read_text() for name in ("a.py", "b.py", "c.py")] == [
        "import torch\nbad\n", SAVED, "import torch\ngood\n"
    ]  # fmt: skip
    assert list(result.report.errors) == [
        f"{root / 'b.py'}: not written: the file has changed since it was read",
        f"{root / 'a.py'}: not written: {root / 'b.py'}, of the same fixes, has changed",
    ]
    assert [finding.location.start.row for finding in result.report.findings] == [2, 5]


def test_a_link_that_leads_out_of_the_project_is_not_written_through(write) -> None:
    root = write(
        {"outside.py": "import torch\nbad\n", "project/pyproject.toml": "", "project/b.py": "import torch\nbad\n"}
    )
    (root / "project" / "a.py").symlink_to("../outside.py")
    result = fix([root / "project"], toolkit=toolkit(BAD))
    assert (root / "outside.py").read_text() == "import torch\nbad\n"
    assert (root / "project" / "b.py").read_text() == "import torch\ngood\n"
    (rejected,) = result.rejected
    assert rejected.finding.location.path == root / "project" / "a.py"
    assert rejected.reason.startswith("a link leads out of the project, to ")
    assert [finding.fix_declined for finding in result.report.findings] == [rejected.reason]
    fix([root / "project"], toolkit=toolkit(BAD), through_links=True)
    assert (root / "outside.py").read_text() == "import torch\ngood\n"
    assert (root / "project" / "a.py").is_symlink()


def test_a_link_within_the_repository_is_written_through(write) -> None:
    root = write({"shared.py": "import torch\nbad\n", "project/pyproject.toml": "", ".git/HEAD": ""})
    (root / "project" / "a.py").symlink_to("../shared.py")
    assert fix([root / "project"], toolkit=toolkit(BAD)).rejected == ()
    assert (root / "shared.py").read_text() == "import torch\ngood\n"


LOADER = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand()


torch.manual_seed(0)
loader = DataLoader(Noise(), num_workers=2)
print(list(loader))
"""


def test_runs_that_fix_the_same_project_at_once_leave_what_one_would(tmp_path: Path) -> None:
    for name in ("alone", "together"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text('[tool.torchrepro-lint]\ntarget-torch = "1.8"\n')
        for number in range(3):
            (tmp_path / name / f"train{number}.py").write_text(LOADER)
    command = [sys.executable, "-m", "torchrepro_lint", "--fix", "--no-cache", "--quiet", "--exit-zero"]
    subprocess.run([*command, tmp_path / "alone"], stdout=subprocess.DEVNULL)
    running = [subprocess.Popen([*command, tmp_path / "together"], stdout=subprocess.DEVNULL) for _ in range(3)]
    for one in running:
        one.wait()
    texts = {name: [path.read_text() for path in sorted((tmp_path / name).iterdir())] for name in ("alone", "together")}
    assert texts["together"] == texts["alone"]
    assert "seed_worker" in texts["alone"][-1]


@pytest.mark.exhaustive
def test_all_loaders_of_one_list_are_fixed_in_one_run(write) -> None:
    """Each gets a generator of its own, made before the statement: one in a round."""
    loaders = "".join("    DataLoader(Items(), shuffle=True, num_workers=2),\n" for _ in range(13))
    root = write(
        {
            "a.py": "import numpy as np\nimport torch\nfrom torch.utils.data import DataLoader, Dataset\n\n\n"
            "class Items(Dataset):\n    def __getitem__(self, index):\n        return np.random.rand()\n\n\n"
            f"torch.manual_seed(0)\nloaders = [\n{loaders}]\nprint([batch for loader in loaders for batch in loader])\n"
        }
    )
    result = fix([root], {"profile": "strict", "unsafe_fixes": True})
    assert result.report.findings == ()
    assert (root / "a.py").read_text().count("generator=") == 13
    assert fix([root], {"profile": "strict", "unsafe_fixes": True}).changes == ()
