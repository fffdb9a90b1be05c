"""The limits of what asks the evaluator: what lies past one is never denied. Each is lowered, so that small programs
cross it, and nothing may be reported then that is not reported with the whole in view.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from shutil import copy
from typing import NamedTuple

import pytest
from program import test_limits
from program.asking import program_of

from torchrepro_lint.engine import check
from torchrepro_lint.program.running.ways import MAX_WAYS, ways
from torchrepro_lint.rules import all_rules
from torchrepro_lint.toolkit import Toolkit

FIXTURES = Path(__file__).parents[2] / "fixtures"
PACKAGE = Path(__file__).parents[2] / "torchrepro_lint" / "program"

#: Limits of which other tests drive each over its edge, and where, or which decide nothing that is stated.
ELSEWHERE = {
    "evaluation/memory.py:MAX_STEPS": "test_budget.py, test_memory.py",
    "evaluation/memory.py:MAX_STEPS_TWICE": "test_memory.py: how much work is done again",
    "evaluation/memory.py:MAX_ANEW": "test_memory.py: how much work is done again",
    "evaluation/memory.py:MAX_BEGUN_AGAIN": "test_memory.py: how much work is done again",
    "evaluation/memory.py:MAX_KEPT": "test_memory.py: how many answers are kept",
    "evaluation/arithmetic.py:MAX_BITS": "test_value_sizes.py",
    "evaluation/arithmetic.py:MAX_TEXT": "test_value_sizes.py",
    "evaluation/values.py:MAX_PARTS": "test_value_sizes.py",
    "core/access.py:MAX_ACCESS": "test_backward.py",
    "core/origins_of_names.py:MAX_IMPORTS": "test_backward.py",
    "core/queries.py:MAX_CALL_PATH": "test_backward.py",
    "import_folders.py:MAX_FOLDER_DEPTH": "test_imports.py: past it the folder is unknown",
    "import_folders.py:MAX_FOLDER_TEXTS": "test_imports.py: past it the folder is unknown",
    "running/ways.py:MAX_LENGTH": "test_all_the_ways_are_known_or_none_are",
    "running/ways.py:MAX_WAYS": "test_all_the_ways_are_known_or_none_are",
    "running/alternatives.py:MAX_STEPS": "test_alternatives_of_a_name.py: past it nothing keeps two names apart",
    "running/references.py:MAX_REFERENCES": "test_all_the_ways_are_known_or_none_are",
    "running/references.py:MAX_FILES": "test_all_the_ways_are_known_or_none_are",
    "running/flow_transfers.py:MAX_NESTING": "test_name_flow.py: past it nothing is denied",
    "running/known_calls.py:_MAX_NAMES": "test_known_calls.py: past it a call is followed as any other",
    "running/properties.py:_MAX_READS": "test_all_the_ways_are_known_or_none_are",
    "running/properties.py:_MAX_FILES": "test_all_the_ways_are_known_or_none_are",
    "ordering/fresh_seeds.py:_MAX_DEPTH": "test_fresh_seeds.py: past it a function may draw, and TRL202 says so",
    "kept/project.py:_MAX_CHANGED": "test_kept.py: all is found anew past it",
    "kept/project.py:_MAX_RETIRED": "test_kept.py: how much memory is kept",
    "ops/unique_indices.py:_MAX_MOVES": "past it nothing is known of an index, and TRL402 reports those as well",
    "ops/unique_indices.py:_MAX_CALLS": "past it nothing is known of an index, and TRL402 reports those as well",
    "ops/replaced_modules.py:_MAX_STEPS": "past it no module is known to be replaced, and TRL401 reports those as well",
    "evaluation/order.py:_MAX_LEVELS": "test_values.py: in which order values are gone through",
}


class Lowered(NamedTuple):
    """A limit, how far it is lowered, and the rule whose fixtures cross it."""

    limit: str
    rule: str
    to: int = 0


LOWERED = [
    Lowered("ops/module_runs.py:MAX_HOLDERS", "TRL402"),
    Lowered("ops/criterion_runs.py:_MAX_FILES", "TRL402"),
    Lowered("ops/tensor_params.py:MAX_CALLERS", "TRL402", 1),
    Lowered("orders/set_order.py:_MAX_ITERATIONS", "TRL208"),
    Lowered("programs/epoch_loops.py:_MAX_AROUND", "TRL206"),
    Lowered("orders/order_flow.py:MAX_STEPS", "TRL207", 2),
    Lowered("orders/order_backward.py:MAX_STEPS_BACK", "TRL207"),
    Lowered("orders/order_backward.py:MAX_STEPS_BACK", "TRL208"),
    Lowered("orders/order_mappings.py:MAX_PLACES", "TRL207"),
    Lowered("ordering/loaded_checkpoints.py:_MAX_STEPS", "TRL210", 1),
    Lowered("orders/kept_listings.py:MAX_USES", "TRL207"),
    Lowered("orders/order_returns.py:MAX_CALLS", "TRL207", 1),
    Lowered("orders/order_carriers.py:MAX_HOPS", "TRL207", 1),
    Lowered("running/way_frames.py:_MAX_FRAMES", "TRL504", 1),
    Lowered("running/offered_commands.py:MAX_OFFERED", "TRL501", 1),
    Lowered("running/runs_once.py:_MAX_DEPTH", "TRL503"),
    Lowered("programs/turns.py:_MAX_DEPTH", "TRL205"),
    Lowered("programs/turns.py:_MAX_DEPTH", "TRL206"),
    Lowered("programs/turns.py:_MAX_DEPTH", "TRL501"),
    Lowered("programs/turns.py:_MAX_DEPTH", "TRL506"),
    Lowered("running/entry_walk.py:_MAX_MODULES", "TRL504"),
    Lowered("running/entry_walk.py:_MAX_MODULES", "TRL501"),
    Lowered("running/guards.py:_MAX_ALIASES", "TRL108"),
    Lowered("running/handed_parameters.py:MAX_PARAMETERS", "TRL204"),
    Lowered("running/events.py:MAX_EVENTS", "TRL101", 1),
    Lowered("running/events.py:MAX_EVENTS", "TRL501", 1),
    Lowered("running/named_uses.py:MAX_FILES", "TRL402"),
    Lowered("running/named_uses.py:MAX_DEFINITIONS", "TRL402"),
    Lowered("seeds/evaluation_mode.py:_MAX_DEPTH", "TRL501"),
    Lowered("seeds/asked_form.py:_MAX_STEPS", "TRL501", 1),
    Lowered("seeds/hashed_texts.py:MAX_STEPS_OF_A_PATH", "TRL214"),
    Lowered("intent/hydra.py:_MAX_CALLS", "TRL301"),
    Lowered("intent/intent_at.py:MAX_COMPARED", "TRL301", 1),
    Lowered("intent/intent_at.py:MAX_COMPARED", "TRL302", 1),
    Lowered("intent/intent_at.py:MAX_COMPARED", "TRL402", 1),
    Lowered("intent/hydra.py:_MAX_DEPTH", "TRL301"),
    Lowered("workers/dataset_reseeding.py:_MAX_DEPTH", "TRL107"),
    Lowered("workers/streams.py:_MAX_DEPTH", "TRL110"),
    Lowered("worker_seeds/worker_seed.py:_MAX_DEPTH", "TRL103", 1),
    Lowered("workers/dataset_paths.py:_MAX_STEPS", "TRL107", 1),
    Lowered("workers/init_shape.py:_MAX_STEPS", "TRL106"),
    Lowered("worker_seeds/init_walk.py:_MAX_DEPTH", "TRL102"),
    Lowered("loaders/maker_names.py:MAX_FILES", "TRL201"),
    Lowered("loaders/maker_names.py:MAX_LOOKED_AT", "TRL101", 1),
    Lowered("seeds/rank_seeds.py:MAX_DEPTH", "TRL111"),
]


def _findings(root: Path, rule: str) -> frozenset[tuple[str, int]]:
    """What a rule reports in the good fixtures of its own that are one file, as files of one project."""
    (root / "pyproject.toml").touch()
    for file in next(FIXTURES.glob(f"{rule}_*")).glob("good_*.py"):
        copy(file, root)
    toolkit = Toolkit(rules=lambda: [one for one in all_rules() if one.code == rule])
    found = check([root], {"profile": "strict"}, toolkit=toolkit).findings
    return frozenset((one.location.path.name, one.location.start.row) for one in found)


def _lower(monkeypatch: pytest.MonkeyPatch, limit: str, to: int) -> None:
    """Sets a constant where it is defined, and where it is imported under its name."""
    file, name = limit.split(":")
    home = "torchrepro_lint.program." + file.removesuffix(".py").replace("/", ".")
    value = getattr(sys.modules[home], name)
    for module in list(sys.modules.values()):
        same = module.__name__ == home or not name.startswith("_")
        if same and module.__name__.startswith("torchrepro_lint.program.") and _imports(module.__name__, home, name):
            assert getattr(module, name) == value
            monkeypatch.setattr(module, name, to)


def _imports(module: str, home: str, name: str) -> bool:
    if module == home:
        return True
    path = sys.modules[module].__file__
    text = Path(path).read_text(encoding="utf-8") if path else ""
    return bool(re.search(rf"^from {re.escape(home)} import .*\b{name}\b", text, re.MULTILINE))


@pytest.mark.exhaustive
@pytest.mark.parametrize("lowered", LOWERED, ids=[f"{one.limit} {one.rule}" for one in LOWERED])
def test_past_a_limit_nothing_more_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lowered: Lowered
) -> None:
    known = _findings(tmp_path, lowered.rule)
    _lower(monkeypatch, lowered.limit, lowered.to)
    assert sorted(_findings(tmp_path, lowered.rule) - known) == []


# --- every limit has its place -------------------------------------------------------------------------------------


def _constants() -> Iterable[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in re.findall(r"^(_?MAX(?:IMUM)?_\w+)\b.*?=", path.read_text(encoding="utf-8"), re.MULTILINE):
            yield f"{path.relative_to(PACKAGE).as_posix()}:{name}"


def test_every_limit_is_driven_over_its_edge() -> None:
    driven = {one.limit for one in test_limits.TABLE} | {one.limit for one in LOWERED} | set(ELSEWHERE)
    inside = {limit for limit in driven if not limit.startswith("../")}
    assert set(_constants()) == inside


# --- the ways to a place -------------------------------------------------------------------------------------------

DEEP = "".join(f"def f{n}():\n    f{n + 1}()\n" for n in range(3)) + "def f3():\n    print()\nf0()\n"
CALLS = "def f3():\n    print()\n" + "f3()\n" * 3
HANDED = "def f3():\n    print()\n" + "start(f3)\n" * 3
READS = "class A:\n    @property\n    def f3(self):\n        print()\n        return 1\na = A()\n" + "print(a.f3)\n" * 3


@pytest.mark.parametrize(
    ("limit", "main", "others"),
    [
        ("running/ways.py:MAX_LENGTH", DEEP, 0),
        ("running/ways.py:MAX_WAYS", CALLS, 0),
        ("running/references.py:MAX_REFERENCES", HANDED, 0),
        ("running/references.py:MAX_FILES", HANDED, 2),
        ("running/properties.py:_MAX_READS", READS, 0),
        ("running/properties.py:_MAX_FILES", READS, 2),
    ],
)
def test_all_the_ways_are_known_or_none_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, main: str, others: int
) -> None:
    files = {"main.py": main} | {
        f"user{n}.py": "import main\nmain.start(main.f3)\nprint(main.a.f3)\n" for n in range(others)
    }
    counts = []
    for to in (None, 2 if not others else 1):
        program = program_of(tmp_path, files)
        facts = program.facts(tmp_path / "main.py")
        assert facts is not None
        scope = next(scope for scope in facts.walk_scopes() if scope.name == "f3")
        if to is not None:
            _lower(monkeypatch, limit, to)
        site = scope.calls[0][0].site
        counts.append(len(ways(program.ev, facts, scope, site)))
    most = 2 if limit.endswith("MAX_WAYS") else MAX_WAYS
    assert counts[0] <= MAX_WAYS and counts[1] > most
