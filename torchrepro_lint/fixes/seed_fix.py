"""Fixes of seeding calls whose seed differs in every run: the program's seed, or a constant where it has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.passed_seed import passed_seeds
from torchrepro_lint.fixes.program_seed import torch_seed_of
from torchrepro_lint.fixes.seed_expression import find_seed
from torchrepro_lint.fixes.unused_imports import drop_unused_imports
from torchrepro_lint.program.evaluation.values import UNKNOWN, Constant, External
from torchrepro_lint.program.intent.intent import fetches_items
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.intent.seed_entropy import entropy_of
from torchrepro_lint.program.running.callers import called_name
from torchrepro_lint.program.running.runs_once import runs_once
from torchrepro_lint.program.seeds.drawn_seeds import drawn_seed

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.values import Site
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.seeds.seed_faults import ChangingSeed

__all__ = ["Planned", "changing_seed_fix"]

Planned = tuple[Fix | None, str | None]

_BY_INIT = "seed the workers, by worker_init_fn"
#: Modules in which no call reads what a user gives, as `os` and `sys` do.
_TAKES_NOTHING_FROM_OUTSIDE = frozenset(("builtins", "datetime", "hashlib", "math", "numpy", "time", "torch", "zlib"))
_WITH_A_SEED = {"seed": "manual_seed", "seed_all": "manual_seed_all"}


def changing_seed_fix(program: Program, fault: ChangingSeed) -> Planned:
    """Replaces a seed that comes from entropy: by the program's, or by the configured constant where it has no other
    seed. The salted hash of a text becomes one that is not salted.
    """
    if fault.fallback:
        return None, "the user can give a seed, and only the author can choose a default"
    document = document_of(program, fault.site.path)
    node = _node(program, document, fault.site)
    if node is not None and document.loops(node):
        return None, "in a loop, a constant would be the same seed in every iteration: seed once, above the loop"
    if any(fetches_items(waypoint.scope) for way in ways_of(program, fault.seeding) for waypoint in way):
        instead = "take the seed from torch, which has one for each worker" if fault.drawn else _BY_INIT
        return None, f"with a constant every item would get the same draw: {instead}"
    if fault.source is not None and _tells_texts_apart(fault.source.node):
        return _unsalted(document, node)
    if fault.drawn and not _is_made_once(program, fault):
        return None, "with a constant all that are made here would draw the same: pass one that is seeded once"
    planner = ImportPlanner(document)
    seed = _seed_of_the_program(program, fault, document, node, planner)
    if seed is None:
        return (
            None,
            "the program's seed has no name at this place, and torch may not be seeded yet: pass the seed to it",
        )
    edits = _in_place(program, fault, seed) if fault.source is not None else _into_call(program, fault, seed)
    if edits is None:
        return None, "the seed is not written where it could be replaced"
    return Fix(Applicability.UNSAFE, f"Seed with {seed}", (*planner.edits(), *edits)), None


def _seed_of_the_program(
    program: Program, fault: ChangingSeed, document: Document, node: cst.BaseExpression | None, planner: ImportPlanner
) -> str | None:
    """The seed as it is written in the place of the changing one: torch's own where torch is seeded before, else the
    expression with which the program seeds; a constant in programs that have no seed. None where the program's seed
    cannot be written.
    """
    is_default = isinstance(node, cst.Call) and bool(node.args) and _empty_default(document, node) is not None
    if node is not None and not is_default:
        at = document.statement(node)
        if torch_seed_of(program, document.path)(at).always:
            text = f"{planner.require('torch', at=at)}.initial_seed()"
            return text if fault.seeding.name.startswith("torch.") else f"{text} % 2**32"
        written = _written_seed(program, fault, document, at)
        if written is not None:
            return written
    others = [one for one in _other_seeds(program, fault) if not _is_computed(program, one)]
    constants = {_constant_of(one) for one in others}
    if None in constants:
        return None
    return str(constants.pop() if len(constants) == 1 else program.settings.seed)


def _written_seed(program: Program, fault: ChangingSeed, document: Document, at: cst.BaseStatement) -> str | None:
    """The expression that the program seeds with, as it can be written in the statement `at`; None for one that takes
    its number from what differs in every run, or from what `at` gives.
    """
    frame = fault.seeding.frame
    passed = passed_seeds(program, frame.facts, frame.scope) if frame.facts.path == document.path else ()
    seed = find_seed(document, at, program.settings.seed, passed)
    if seed.is_default or not seed.names.isdisjoint(_given_by(document, at)):
        return None
    changing = {
        document.text[slice(*program.parsed(document.path).span(one.value.site))]
        for one in program.evidence_in_programs_of(frame)
        if one.effect == "seed" and one.site.path == document.path and one.value is not None
        if _differs(program, one)
    }
    return None if seed.text in changing else seed.text


def _given_by(document: Document, at: cst.BaseStatement) -> set[str]:
    """The names to which a statement gives something."""
    targets = [one.target for one in document.nodes(cst.AssignTarget, at)]
    targets += [one.target for one in document.nodes(cst.AnnAssign, at)]
    return {node.value for target in targets for node in document.nodes(cst.Name, target)}


def _other_seeds(program: Program, fault: ChangingSeed) -> list[Evidence]:
    """The calls that seed the programs, other than the one at fault and those whose seed differs in every run too."""
    return [
        one
        for one in program.evidence_in_programs_of(fault.seeding.frame)
        if one.effect == "seed" and one.site != fault.seeding.site and one.value is not None
        if not _differs(program, one)
    ]


def _differs(program: Program, one: Evidence) -> bool:
    """Whether the seed of a call differs in every run."""
    assert one.value is not None
    if one.values and all(isinstance(value, Constant) and value.value is None for value in one.values):
        return True
    return entropy_of(program.ev, one.value, one.frame) is not None or drawn_seed(program, one) is not None


def _is_computed(program: Program, one: Evidence) -> bool:
    """Whether a seed is what libraries make of constants, `SeedSequence(3).generate_state(1)`: nobody gives another."""
    if one.value is None or isinstance(one.value, tree.Const):
        return False
    names = [node for node in walk([one.value]) if isinstance(node, tree.Name)]
    return all(
        isinstance(value, External) and value.name.partition(".")[0] in _TAKES_NOTHING_FROM_OUTSIDE
        for name in names
        for value in program.ev.values(name, one.frame) or (UNKNOWN,)
    )


def _constant_of(one: Evidence) -> int | None:
    """The number that is written in a seeding call."""
    match one.value:
        case tree.Const(value=int() as number) if not isinstance(number, bool):
            return number
    return None


def _unsalted(document: Document, node: cst.BaseExpression | None) -> Planned:
    """`zlib.crc32(repr(x).encode())` for `hash(x)`."""
    if not isinstance(node, cst.Call) or len(node.args) != 1 or node.args[0].star:
        return None, "with a constant every text would get the same draws: hash it with `zlib.crc32(text.encode())`"
    planner = ImportPlanner(document)
    argument = document.text[slice(*document.span(node.args[0].value))]
    if isinstance(node.args[0].value, cst.Tuple):
        argument = document.text[slice(*document.outer_span(node.args[0].value))]
    zlib = planner.require("zlib", at=document.statement(node))
    edit = document.replacement(*document.span(node), f"{zlib}.crc32(repr({argument}).encode())")
    return Fix(Applicability.UNSAFE, "Hash with zlib.crc32, which has no salt", (*planner.edits(), edit)), None


def _is_made_once(program: Program, fault: ChangingSeed) -> bool:
    """Whether the program makes a single generator where it makes this one."""
    frame = fault.seeding.frame
    return runs_once(program.ev, frame.facts, frame.scope, fault.seeding.site.number)


def _tells_texts_apart(seed: tree.Expr) -> bool:
    """Whether a seed is the hash of what a variable holds, which may be another text each time; what a call gives may
    itself differ in every run.
    """
    hashes = [one for one in walk([seed]) if isinstance(one, tree.Call) and called_name(one.func) == "hash"]
    parts = [part for one in hashes for arg in one.args for part in walk([arg.value])]
    return any(isinstance(part, tree.Name) for part in parts) and not any(isinstance(part, tree.Call) for part in parts)


def _in_place(program: Program, fault: ChangingSeed, seed: str) -> list[Edit] | None:
    """A constant for the expression; for torch's own `seed()`, a call that seeds with one and gives it back too."""
    document = document_of(program, fault.site.path)
    node = _node(program, document, fault.site)
    if node is None:
        return None
    if " " in seed and not isinstance(document.parent(node), cst.Arg | cst.Assign | cst.AnnAssign):
        seed = f"({seed})"
    return [*drop_unused_imports(document, [node]), document.replacement(*document.outer_span(node), seed)]


def _into_call(program: Program, fault: ChangingSeed, seed: str) -> list[Edit] | None:
    """A seed for a call that has none. Where a parameter without one is given on, it gets the seed as its default: the
    callers may still give another.
    """
    document = document_of(program, fault.site.path)
    call = _node(program, document, fault.site)
    if not isinstance(call, cst.Call) or len(call.args) > 1:
        return None
    default = _empty_default(document, call) if call.args else None
    if default is not None:
        return [document.replacement(*document.span(default), seed)]
    start, end = document.span(call.args[0]) if call.args else (document.end(call) - 1,) * 2
    edits = [document.replacement(start, end, seed)]
    if fault.seeding.name.startswith("torch."):
        # torch.seed() takes no seed: torch.manual_seed(0) does.
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in _WITH_A_SEED:
            return None
        if not isinstance(document.parent(call), cst.Expr):
            return None  # the number that it gives is used
        edits.append(document.replacement(*document.span(call.func.attr), _WITH_A_SEED[call.func.attr.value]))
    return sorted(edits)


def _empty_default(document: Document, call: cst.Call) -> cst.BaseExpression | None:
    """The None that is the default of the parameter which is given on."""
    function, given = document.function(call), call.args[0].value
    if function is None or not isinstance(given, cst.Name):
        return None
    for param in (*function.params.posonly_params, *function.params.params, *function.params.kwonly_params):
        if param.name.value == given.value and isinstance(param.default, cst.Name) and param.default.value == "None":
            return param.default
    return None


def _node(program: Program, document: Document, site: Site) -> cst.BaseExpression | None:
    return document.node_at(*program.parsed(site.path).span(site.number), cst.BaseExpression)
