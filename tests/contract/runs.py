"""Runs of the contract's programs, and what they print."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import TracebackType

from contract.programs import Shape

__all__ = ["Printed", "Runner", "ranks"]

_PRELOADED = Path(__file__).with_name("preloaded.py")
_LINE = re.compile(r"(?:rank (?P<rank>\d+) )?(?P<name>[a-z]+) (?P<unit>\d+) (?P<first>\[.*?\])(?: (?P<draws>\[.*\]))?")


@dataclass(frozen=True)
class Printed:
    """What one rank of a run printed: first weights, members of the split, and for each loader (`train`, `val`) and
    each epoch or update the indices in their order and the draws that came with them.
    """

    weights: list[float] = field(default_factory=list)
    split: list[int] = field(default_factory=list)
    order: dict[str, dict[int, list[int]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    draws: dict[str, dict[int, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))


def ranks(output: str) -> list[Printed]:
    """What each rank printed."""
    found: dict[int, Printed] = {}
    for match in map(_LINE.fullmatch, output.splitlines()):
        if match is None:
            continue
        one = found.setdefault(int(match["rank"] or 0), Printed())
        first = json.loads(match["first"])
        if match["draws"] is None:
            getattr(one, match["name"]).extend(first)
        else:
            one.order[match["name"]][int(match["unit"])].extend(first)
            one.draws[match["name"]][int(match["unit"])].extend(json.loads(match["draws"]))
    return [found[rank] for rank in sorted(found)]


@dataclass(frozen=True)
class Way:
    """How a program is run. Where it goes through the validation data more than once, the files of a folder are
    listed in reverse as well.
    """

    name: str
    seed: int = 0
    val_passes: int = 1


WAYS = (Way("once"), Way("more", val_passes=2), Way("other", seed=1))


class Runner:
    """A process that has imported torch and runs programs, in new folders below `folder`. What texts printed is kept:
    the fixes of several faults often make the same of a program. In `kept`, a folder, it is kept for later runs.
    """

    def __init__(self, folder: Path, kept: Path | None = None) -> None:
        self._folder = folder
        self._kept = kept
        self._known: dict[str, list[str]] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()

    def outputs(self, shape: Shape, texts: Mapping[str, str]) -> list[str] | str:
        """What a run in each of the ways prints, or what the first that fails has printed."""
        return self._outputs(shape, texts, WAYS)

    def failure(self, shape: Shape, texts: Mapping[str, str]) -> str | None:
        """What a run prints, if it fails."""
        outputs = self._outputs(shape, texts, WAYS[:1])
        return outputs if isinstance(outputs, str) else None

    def _outputs(self, shape: Shape, texts: Mapping[str, str], ways: Sequence[Way]) -> list[str] | str:
        key = _key(shape, texts, ways)
        kept = self._kept / f"{key}.json" if self._kept is not None else None
        if key not in self._known and kept is not None and kept.exists():
            self._known[key] = json.loads(kept.read_bytes())
        if key not in self._known:
            outputs = self._run(shape, texts, ways)
            if isinstance(outputs, str):
                return outputs
            self._known[key] = outputs
            if kept is not None:
                kept.write_text(json.dumps(outputs), encoding="utf-8")
        return self._known[key]

    def _run(self, shape: Shape, texts: Mapping[str, str], ways: Sequence[Way]) -> list[str] | str:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, str(_PRELOADED)],
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
            )
        root = Path(tempfile.mkdtemp(dir=self._folder))
        runs = [_prepared(shape, texts, root, way) for way in ways]
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(runs).encode() + b"\n")
        succeeded = int(self._process.stdout.readline())
        outputs = [Path(str(run["output"])).read_text(encoding="utf-8") for run in runs[: succeeded + 1]]
        return outputs if succeeded == len(runs) else outputs[-1]


def _environment() -> dict[str, str]:
    """Lines that several ranks print stay whole if they are written together."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"} | {"OMP_NUM_THREADS": "1"}


def _key(shape: Shape, texts: Mapping[str, str], ways: Sequence[Way]) -> str:
    """What the outputs depend on."""
    parts = [_PRELOADED.read_text(encoding="utf-8"), sys.version, *map(version, ("torch", "numpy"))]
    parts.append(repr((shape.start, shape.seed, shape.val_passes, ways, dict(texts))))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _prepared(shape: Shape, texts: Mapping[str, str], root: Path, way: Way) -> dict[str, object]:
    """What is asked of the process, for which the files are written."""
    folder = root / way.name
    arguments, variables = [], {}
    for option, value in ((shape.seed, way.seed), (shape.val_passes, way.val_passes)):
        if "argument" in option:
            arguments.append(option["argument"].format(value))
        elif "variable" in option:
            variables[option["variable"]] = str(value)
        elif "line" in option:
            texts = {path: _with_line(text, option["line"], value) for path, text in texts.items()}
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    (folder / "numbers").mkdir()
    for number in range(12):
        (folder / "numbers" / str(number)).touch()
    return {
        "root": str(root),
        "folder": str(folder),
        "output": str(folder / "output"),
        "start": shape.start,
        "arguments": arguments,
        "variables": variables,
        "reverse_listings": way.val_passes > 1,
    }


def _with_line(text: str, template: str, value: int) -> str:
    """The text of a notebook in which a constant has another value."""
    default = {"SEED": 0, "VAL_PASSES": 1}[template.split()[0]]
    return text.replace(f'"{template.format(default)}', f'"{template.format(value)}')
