"""Holds the table of operations against a torch: its documentation, and the alerts in its libraries.

    python tests/compare_ops.py [FOLDER]

`FOLDER` has `torch/` in it: the `site-packages` of any environment, or a wheel that was unpacked (a wheel for CUDA has
the alerts of the CUDA kernels, and needs no GPU for this). Without it the torch of this Python counts. Every
disagreement is printed, one a line; the exit status is 1 where there is one that is not known.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from torch_on_disk import TorchOnDisk

from torchrepro_lint.knowledge.ops import OpEffect, OpRow, op_rows, op_table
from torchrepro_lint.knowledge.versions import admits

__all__ = ["KNOWN", "disagreements", "installed_folder", "main"]

#: Where the documentation or the libraries of a release and the table disagree, and why the table is right: the
#: operation or alert, and the releases for which that holds.
KNOWN: dict[str, tuple[str, str]] = {
    "torch.nn.ReflectionPad2d": (">=2.6", "a deterministic kernel since 2.6; the documentation lists it as raising"),
    "torch.cumsum": (">=2.6", "a deterministic scan kernel; the documentation lists it as raising"),
}


def installed_folder() -> Path | None:
    """The folder of the installed torch; None where there is none."""
    spec = importlib.util.find_spec("torch")
    return Path(spec.origin).parents[1] if spec is not None and spec.origin else None


def disagreements(torch: TorchOnDisk) -> Iterator[tuple[str, str]]:
    """What the torch says and the table does not, or the other way round: a name, and a sentence on it."""
    # Memory that the flag fills is documented among what it makes deterministic, in some releases.
    effects: tuple[tuple[set[str], set[OpEffect], str], ...] = (
        (torch.documented_as_raising, {"throws"}, "raising"),
        (torch.documented_as_deterministic, {"made_deterministic", "fills_memory"}, "made deterministic"),
    )
    for names, wanted, words in effects:
        if not names:
            yield words, f"the documentation has no list of what is {words}"
        for name in sorted(names):
            rows = [row for row in op_rows(name) if row.device != "mps" and row.holds_at(torch.version)]
            if not any(row.effect in wanted for row in rows):
                yield name, f"{name} is documented as {words}, and has no such row"
    named = [(row, _alerts(row)) for row in op_table()]
    known = {name for _, names in named for name in names}
    for name, place in sorted(torch.alerts.items()):
        if not any(re.fullmatch(re.escape(name).replace(r"\{\}", ".*"), one) for one in known):
            yield name, f"{name} alerts in {place}, and no row names it"
    for row, names in named if torch.has_cuda else ():
        raises = row.effect == "throws" and row.op.startswith("torch.") and row.device != "mps"
        if raises and names and row.holds_at(torch.version) and not names & set(torch.alerts):
            yield row.op, f"{row.op} raises by the table, and {' or '.join(sorted(names))} is in no library"


def _alerts(row: OpRow) -> set[str]:
    """The names of the alerts of a row; what it says in brackets is no name."""
    text = re.sub(r"\(.*\)$", "", row.alert or "").strip()
    return {name for name in re.split(r" / | or ", text) if name}


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else installed_folder()
    if folder is None or not (folder / "torch" / "version.py").is_file():
        print(f"no torch in {folder}: name the folder that has torch/ in it", file=sys.stderr)
        return 2
    torch = TorchOnDisk(folder)
    scanned = "and CUDA libraries" if torch.has_cuda else "libraries only: it has no CUDA"
    print(f"torch {torch.version}: {len(torch.alerts)} alerts, read from its CPU {scanned}")
    unknown = 0
    for name, sentence in disagreements(torch):
        releases, reason = KNOWN.get(name, ("<0", ""))
        is_known = admits(releases, torch.version)
        unknown += not is_known
        print(f"{sentence}; known: {reason}" if is_known else sentence)
    print(f"{unknown} disagreements that are not known")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
