"""What is loaded has the types that were written, and no path in it leads out of the projects of the run."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torchrepro_lint.cache import run
from torchrepro_lint.cache.codec import decoded, encoded
from torchrepro_lint.diagnostics import (
    Applicability,
    Edit,
    Finding,
    Fix,
    LeftToStrict,
    Location,
    Position,
    Severity,
    TraceStep,
)
from torchrepro_lint.engine import CacheChoice, RunOptions, check

ROOT = Path("/project")
FILE = ROOT / "train.py"
PLACE = Location(FILE, Position(2, 3), Position(2, 9))
FINDING = Finding(
    "TRL203",
    "generator-never-seeded",
    "a message",
    Severity.ERROR,
    PLACE,
    (TraceStep(Location(ROOT / "conf" / "a.yaml", Position(1, 1), Position(1, 2)), "a step", 1),),
    Fix(Applicability.SAFE, "seed it", (Edit(FILE, 4, 4, "text"),), frozenset({ROOT / "seeds.py"})),
    "declined",
    (2, 3),
    (FILE,),
)


def written() -> list[Any]:
    """The finding as the file of the cache holds it."""
    made: list[Any] = json.loads(json.dumps(encoded([FINDING], [(FILE, "a note")], LeftToStrict((FILE,), 2))))
    return made


def test_what_is_written_is_read() -> None:
    read = decoded(written(), {FILE}, {ROOT})
    assert read == ((FINDING,), ((FILE, "a note"),), LeftToStrict((FILE,), 2))


def put(*keys: int, value: object) -> Callable[[list[Any]], None]:
    """Puts a value at a place in the findings, or beside them."""

    def change(data: list[Any]) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


FIRST = (0, 0)
WRONG = {
    "a code that is a list": put(*FIRST, 0, value=["TRL"]),
    "a name that is nothing": put(*FIRST, 1, value=None),
    "a message that is a table": put(*FIRST, 2, value={"a": 1}),
    "an unknown severity": put(*FIRST, 3, value="fatal"),
    "a path that is a number": put(*FIRST, 4, 0, value=3),
    "a finding outside": put(*FIRST, 4, 0, value="/etc/passwd"),
    "a finding in no file of the run": put(*FIRST, 4, 0, value="/project/other.py"),
    "a row before the first": put(*FIRST, 4, 1, value=0),
    "a row that is a text": put(*FIRST, 4, 1, value="2"),
    "a column that is true": put(*FIRST, 4, 2, value=True),
    "a step outside": put(*FIRST, 5, 0, 0, 0, value="/etc/passwd"),
    "a step that goes up": put(*FIRST, 5, 0, 0, 0, value="/project/../etc/passwd"),
    "a note that is a number": put(*FIRST, 5, 0, 1, value=7),
    "a depth that is a text": put(*FIRST, 5, 0, 2, value="7"),
    "an unknown kind of fix": put(*FIRST, 6, 0, value="certain"),
    "an edit outside": put(*FIRST, 6, 2, 0, 0, value="/home/user/.bashrc"),
    "an edit in no file of the run": put(*FIRST, 6, 2, 0, 0, value="/project/setup.sh"),
    "an edit before the beginning": put(*FIRST, 6, 2, 0, 1, value=-1),
    "an edit that writes a number": put(*FIRST, 6, 2, 0, 3, value=1),
    "a fix that waits for a file outside": put(*FIRST, 6, 3, value=["/etc/passwd"]),
    "a reason that is a list": put(*FIRST, 7, value=[]),
    "a half of a statement": put(*FIRST, 8, value=[1]),
    "a program outside": put(*FIRST, 9, value=["/etc/passwd"]),
    "a notice on a file outside": put(1, 0, 0, value="/etc/passwd"),
    "a notice that is a list": put(1, 0, 1, value=["\x1b]0;title\x07"]),
    "a count that is a text": put(2, 1, value="2"),
    "a short finding": put(*FIRST, value=[1, 2, 3]),
    "nothing": put(0, value=None),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG.keys())
def test_what_was_never_written_is_refused(change: Callable[[list[Any]], None]) -> None:
    data = copy.deepcopy(written())
    change(data)
    with pytest.raises((ValueError, TypeError, IndexError)):
        decoded(data, {FILE}, {ROOT})


def test_a_forged_cache_is_as_good_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signed by somebody else, with the code that hides findings, prints files and writes into others."""
    outside = tmp_path / "outside.py"
    outside.write_text("x = 1\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("")
    (project / "train.py").write_text("import torch\ng = torch.Generator()\nprint(torch.rand(2, generator=g))\n")
    plain = check([project])
    written_findings = run.encoded

    def forged(findings: list[Finding], *rest: Any) -> list[Any]:
        made: list[Any] = json.loads(json.dumps(written_findings(findings, *rest)))
        for one in made[0]:
            one[6] = ["safe", "x", [[str(outside), 0, 0, "INJECTED"]], []]
        return made

    options = RunOptions(cache=CacheChoice())
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("XDG_CACHE_HOME", str(tmp_path / "of-the-attacker"))
        elsewhere.setattr(run, "encoded", forged)
        check([project], run=options)
    assert check([project], run=options) == plain
    # Even what is signed with the user's own secret writes nowhere else.
    with monkeypatch.context() as own:
        own.setattr(run, "encoded", forged)
        (project / "train.py").write_text((project / "train.py").read_text() + "y = 2\n")
        check([project], run=options)
    assert check([project], run=options) == check([project])
