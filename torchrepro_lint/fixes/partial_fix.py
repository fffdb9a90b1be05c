"""The fix of a partial seeding: the missing generators are seeded beside the others, with the same seed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.document import Document, comments_in
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.optional_seed import may_be_none
from torchrepro_lint.fixes.program_seed import number_written
from torchrepro_lint.fixes.rank_terms import names_rank
from torchrepro_lint.fixes.text_options import as_number, may_be_text
from torchrepro_lint.fixes.unsafe_reasons import (
    ANOTHER_SEED,
    CHOICE,
    EACH_TURN,
    FOR_OTHERS,
    ONE_ARM,
    OTHER_PART,
    RANKS_ALIKE,
    TAKEN_OUT,
    TEXT_SEED,
    first_that_holds,
)
from torchrepro_lint.fixes.worker_init import resolved_name
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.rng import WRITTEN_SEEDS
from torchrepro_lint.program.evaluation.values import Constant, External
from torchrepro_lint.program.intent.intent_at import ways_of
from torchrepro_lint.program.programs.for_others import is_for_others
from torchrepro_lint.program.running.events import shown
from torchrepro_lint.program.seeds.run_seedings import is_for_the_run
from torchrepro_lint.program.workers.ranks import start_of_ranks

if TYPE_CHECKING:
    from torchrepro_lint.program.intent.intent import Evidence
    from torchrepro_lint.program.program import Program

__all__ = ["seed_beside_fix", "seed_beside_row", "seeding_lines"]

# The module and the name in it of the function that seeds.
_FUNCTIONS = {"python": ("random", "seed"), "numpy": ("numpy.random", "seed"), "torch": ("torch", "manual_seed")}
_LARGEST = 2**32 - 1
_OF_A_CHOICE = re.compile(r"split|shuffl|fold|sampl|subset|partition|permut", re.IGNORECASE)
_IMPORTS_TORCH = re.compile(r"(?:import|from)\s+torch\b")
# The order in which people seed. A call that is not known here is somebody's helper: it goes first.
_PYTHON, _NUMPY, _TORCH, _CUDA = range(4)
_ORDER = {"python": _PYTHON, "numpy": _NUMPY, "torch": _TORCH}
_KNOWN = {"random.seed": _PYTHON, "numpy.random.seed": _NUMPY, "torch.manual_seed": _TORCH}


def seed_beside_fix(program: Program, block: Evidence, missing: Sequence[str]) -> tuple[Fix | None, str | None]:
    """Lines beside the seeding call `block` that seed the generators `missing` with the same expression."""
    if block.value is None:
        return None, "the seed is not written in the call"
    document = document_of(program, block.site.path)
    parsed = program.parsed(block.site.path)
    call = document.node_at(*parsed.span(block.site.number), cst.Call)
    value = document.node_at(*parsed.span(block.value.site), cst.BaseExpression)
    if call is None or value is None:
        return None, "the seeding call could not be located"
    statement = document.statement(call)
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None, "the seeding call shares its line with other statements"
    if not _may_be_repeated(value):
        return None, "the seed is computed in the call: it cannot be used again"
    seed = document.text_of(value)
    known = [one.value for one in program.ev.values(block.value, block.frame) if isinstance(one, Constant)]
    if "numpy" in missing and any(isinstance(one, int) and not 0 <= one <= _LARGEST for one in known):
        return None, "NumPy takes no such seed"
    optional = _on_a_condition(program, block, missing)
    if optional is not None:
        return None, f"{shown(optional.func)} is called beside it under a condition that does not hold"
    if any(_is_written(document, statement, rng) for rng in missing):
        return None, "the line is there already, and what it calls is not what it is elsewhere: see what is imported"
    is_text = "numpy" in missing and may_be_text(program, block.site.path, seed)
    may_lack = any(one is None for one in known) or _is_said_to_be_none(document, seed)
    edits = _lines_beside(document, statement, value, missing, is_text=is_text, may_lack=may_lack)
    words = " and ".join(_FUNCTIONS[rng][0].partition(".")[0] for rng in missing)
    number = number_written(document, seed, statement)
    because = first_that_holds(
        # Whoever runs a library has a seed of their own, and each constant takes more of the run away from it.
        (number is not None and is_for_others(program, block.site.path), FOR_OTHERS),
        (isinstance(value, cst.Integer) and _has_another_seed(program, block), ANOTHER_SEED),
        ("torch" in missing and _imports_torch_below(document, statement), OTHER_PART),
        (_is_the_same_for_all_ranks(program, document, block, value), RANKS_ALIKE),
        (is_text and "torch" not in block.seeds, TEXT_SEED),
        (any(_OF_A_CHOICE.search(comment.value) for comment in _comments_on(document, statement)), CHOICE),
        (any(_is_commented_out(document, statement, rng) for rng in missing), TAKEN_OUT),
        (_is_left_without_cuda(document, statement, value), ONE_ARM),
        (_is_the_same_in_each_turn(program, block), EACH_TURN),
    )
    return Fix.checked(f"Seed {words} with the same seed", tuple(edits), because), None


def _is_written(document: Document, statement: cst.BaseStatement, rng: str) -> bool:
    """Whether a line of the same block seeds a generator by the usual name, which means something else there, or
    nothing: `random.seed(seed)` in a file that does not import `random`.
    """
    block = document.parent(statement)
    beside = block.children if isinstance(block, cst.IndentedBlock | cst.Module) else ()
    lines = (document.text_of(one) for one in beside if isinstance(one, cst.SimpleStatementLine))
    return any(WRITTEN_SEEDS[rng].match(line) for line in lines)


def _is_commented_out(document: Document, statement: cst.BaseStatement, rng: str) -> bool:
    """Whether a comment of the function around, or of the block of the module, has a call that seeds a generator."""
    around = document.function(statement) or document.parent(statement)
    comments = comments_in(around) if around is not None else ()
    return any(WRITTEN_SEEDS[rng].match(comment.value.lstrip("# ")) for comment in comments)


def seed_beside_row(document: Document, row: int, missing: Sequence[str]) -> Fix | None:
    """Lines that seed the generators `missing` beside the seeding call that is a whole line of its own, at a row of a
    file, with the same expression; None where there is no such line.
    """
    for call in document.nodes(cst.Call):
        if document.lines.row(document.start(call)) != row or len(call.args) != 1:
            continue
        statement, value = document.statement(call), call.args[0].value
        if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
            continue
        if isinstance(statement.body[0], cst.Expr) and statement.body[0].value is call and _may_be_repeated(value):
            edits = _lines_beside(document, statement, value, missing)
            words = " and ".join(_FUNCTIONS[rng][0].partition(".")[0] for rng in missing)
            return Fix(Applicability.UNSAFE, f"Seed {words} with the same seed", tuple(edits))
    return None


def _lines_beside(
    document: Document,
    statement: cst.SimpleStatementLine,
    seed: cst.BaseExpression,
    missing: Sequence[str],
    *,
    is_text: bool = False,
    may_lack: bool = False,
) -> list[Edit]:
    """The edits that seed generators beside the seeding call of a statement, in the usual order. NumPy does not take a
    seed that `is_text`, and torch none that is None, as it may be with `may_lack` or by what the file does.
    """
    planner = ImportPlanner(document)
    run = _seeding_run(document, statement)
    added: list[Edit] = []
    only_gpu = _only_gpu(document, statement, run, seed)
    text = document.text_of(seed)
    given = [as_number(text) if is_text and rng == "numpy" else text for rng in missing]
    lines = [seeding_lines(planner, [rng], one, at=statement)[0] for rng, one in zip(missing, given, strict=True)]
    if "torch" in missing and not _is_tested_around(document, statement, seed):
        if may_lack or may_be_none(document, text, statement):
            place = only_gpu if only_gpu is not None else statement
            inner = document.indentation(document.start(place)) + document.indent_unit(place)
            number = missing.index("torch")
            lines[number] = f"if {text} is not None:{document.newline}{inner}{lines[number]}"
    for rng, line in zip(missing, lines, strict=True):
        if only_gpu is not None:
            above = f"{document.indentation(document.start(only_gpu))}{line}{document.newline}"
            added.append(document.insertion(document.lead_start(only_gpu), above))
            continue
        later = [one for one in run if _order(document, one) > _ORDER[rng]]
        added.append(_line_above(document, later[0], line) if later else _line_below(document, run[-1], line))
    return [*planner.edits(), *added]


def _is_said_to_be_none(document: Document, seed: str) -> bool:
    """Whether a comment or a help text beside what is called like the seed says that it may be None."""
    name = re.escape(last_part(seed))
    return re.search(rf"\b{name}\b[^\n]*(?:#|help=)[^\n]*\bNone\b", document.text) is not None


def _is_tested_around(document: Document, statement: cst.BaseStatement, seed: cst.BaseExpression) -> bool:
    """Whether a statement is in an arm of an `if` that asks for the seed: by `args.seed`, not by `args.seed_all`."""
    tests = (outer.test for outer in document.ancestors(statement) if isinstance(outer, cst.If))
    parts = (part for test in tests for part in document.nodes(type(seed), test))
    return any(part.deep_equals(seed) and not _is_the_name_of_a_part(document, part) for part in parts)


def _is_the_name_of_a_part(document: Document, node: cst.CSTNode) -> bool:
    """Whether a name is that of an attribute or of an argument: `seed` in `args.seed` and in `ask(seed=1)`."""
    match document.parent(node):
        case cst.Attribute(attr=name) | cst.Arg(keyword=name):
            return name is node
    return False


def _has_another_seed(program: Program, block: Evidence) -> bool:
    """Whether the programs of a seeding call are elsewhere seeded with what is no number in the code: with the seed
    that their user gives.
    """
    return any(
        not all(isinstance(value, Constant) for value in one.values)
        for one in program.evidence_in_programs_of(block.frame)
        if one.effect == "seed" and one.site != block.site and is_for_the_run(program, one)
    )


def _comments_on(document: Document, statement: cst.BaseStatement) -> Iterator[cst.Comment]:
    """The comments of a statement and of the lines right above it, up to one that a comment or a blank line sets apart,
    and those above an `if` of which it is the first.
    """
    yield from comments_in(statement)
    block = document.parent(statement)
    body = list(block.body) if isinstance(block, cst.Module | cst.IndentedBlock) else [statement]
    at = body.index(statement)
    while at > 0 and not _is_apart(body[at]) and isinstance(body[at - 1], cst.SimpleStatementLine):
        at -= 1
        yield from comments_in(body[at])
    outer = document.parent(block) if isinstance(block, cst.IndentedBlock) else None
    if isinstance(outer, cst.If) and isinstance(block, cst.IndentedBlock) and block.body[0] is statement:
        yield from (line.comment for line in outer.leading_lines if line.comment is not None)


def _imports_torch_below(document: Document, statement: cst.BaseStatement) -> bool:
    """Whether a file imports torch below a statement, and nowhere above: in a later cell of a notebook."""
    imports = [one for kind in (cst.Import, cst.ImportFrom) for one in document.nodes(kind)]
    places = [document.start(one) for one in imports if _IMPORTS_TORCH.match(document.text_of(one))]
    return bool(places) and min(places) > document.start(statement)


def _is_the_same_in_each_turn(program: Program, block: Evidence) -> bool:
    """Whether a loop around a seeding call, or around a call that leads to it, gives each of its turns the same seed:
    `for repeat in range(5): torch.manual_seed(args.seed)`.
    """
    for way in ways_of(program, block):
        for waypoint in way:
            document = document_of(program, waypoint.facts.path)
            call = document.node_at(*program.parsed(waypoint.facts.path).span(waypoint.site), cst.Call)
            loops = document.loops(call) if call is not None else []
            if call is None or not loops:
                continue
            read = {node.value for argument in call.args for node in document.nodes(cst.Name, argument)}
            given = {node.value for loop in loops for node in _names_given(document, loop)}
            if read.isdisjoint(given):
                return True
    return False


def _names_given(document: Document, loop: cst.For | cst.While) -> list[cst.Name]:
    """The names to which each turn of a loop gives something."""
    targets: list[cst.CSTNode] = [one.target for one in document.nodes(cst.AssignTarget, loop.body)]
    targets += [one.target for one in document.nodes(cst.AugAssign, loop.body)]
    targets += [loop.target] if isinstance(loop, cst.For) else []
    return [node for target in targets for node in document.nodes(cst.Name, target)]


def _is_the_same_for_all_ranks(program: Program, document: Document, block: Evidence, seed: cst.BaseExpression) -> bool:
    """Whether several processes run the program, and a seed does not name the rank of its own."""
    if any(isinstance(node, cst.Name) and names_rank(node.value) for node in document.walk(seed)):
        return False
    return start_of_ranks(program, block.roots, block.site.path) is not None


def _on_a_condition(program: Program, block: Evidence, missing: Sequence[str]) -> tree.Call | None:
    """A call in the same function that would seed what is missing, under a condition that the block is not under: the
    callers chose to leave it out.
    """
    arms = dict(block.path)
    wanted = {".".join(_FUNCTIONS[rng]) for rng in missing}
    for call, path in block.frame.scope.calls:
        if all(branch in arms for branch, _ in path) or any(arms.get(branch, arm) != arm for branch, arm in path):
            continue
        called = program.ev.values(call.func, block.frame)
        if any(isinstance(one, External) and canonical(one.name) in wanted for one in called):
            return call
    return None


def _seeding_run(document: Document, statement: cst.SimpleStatementLine) -> list[cst.SimpleStatementLine]:
    """The seeding calls that stand one below the other around a statement."""
    block = document.parent(statement)
    body = list(block.body) if isinstance(block, cst.Module | cst.IndentedBlock) else [statement]
    first = last = body.index(statement)
    while first > 0 and _order(document, body[first - 1]) >= 0 and not _is_apart(body[first]):
        first -= 1
    while last + 1 < len(body) and _order(document, body[last + 1]) >= 0 and not _is_apart(body[last + 1]):
        last += 1
    return [one for one in body[first : last + 1] if isinstance(one, cst.SimpleStatementLine)]


def _only_gpu(
    document: Document, statement: cst.SimpleStatementLine, run: Sequence[cst.CSTNode], seed: cst.BaseExpression
) -> cst.If | None:
    """The `if` around calls that seed CUDA and nothing else, where no other arm of it seeds torch: the CPU is used
    there, too.
    """
    around = _asks_for_cuda(document, statement, run)
    if around is None or isinstance(around.orelse, cst.If):
        return None
    if not isinstance(document.parent(around), cst.Module | cst.IndentedBlock):
        return None
    names = {node.value for node in document.nodes(cst.Name, seed)}
    made = {
        node.value for target in document.nodes(cst.AssignTarget, around) for node in document.nodes(cst.Name, target)
    }
    return around if names.isdisjoint(made) else None


def _is_left_without_cuda(document: Document, statement: cst.SimpleStatementLine, seed: cst.BaseExpression) -> bool:
    """Whether lines beside a call that seeds CUDA alone would not run where there is no GPU, in another arm."""
    run = _seeding_run(document, statement)
    around = _asks_for_cuda(document, statement, run)
    return around is not None and around.orelse is not None and _only_gpu(document, statement, run, seed) is None


def _asks_for_cuda(document: Document, statement: cst.SimpleStatementLine, run: Sequence[cst.CSTNode]) -> cst.If | None:
    """The `if` with the word in its test whose arm seeds CUDA alone, `if` and `elif` as well as `else`, where no other
    arm seeds torch.
    """
    block = document.parent(statement)
    around = document.parent(block) if isinstance(block, cst.IndentedBlock) else None
    if isinstance(around, cst.Else):
        around = document.parent(around)
    if not isinstance(around, cst.If) or "cuda" not in document.text_of(around.test):
        return None
    if any(_order(document, one) != _CUDA for one in run):
        return None
    called = (resolved_name(document.scope_of(one), one.func) for one in document.nodes(cst.Call, around))
    return None if "torch.manual_seed" in called else around


def _is_apart(statement: cst.CSTNode) -> bool:
    return bool(getattr(statement, "leading_lines", ()))


def _order(document: Document, statement: cst.CSTNode) -> int:
    """The place of a seeding call in the usual order; -1 for what is none."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=func))]):
            name = resolved_name(document.scope_of(statement), func) or ""
            return _CUDA if name.startswith("torch.cuda.manual_seed") else _KNOWN.get(name, -1)
    return -1


def _line_above(document: Document, statement: cst.SimpleStatementLine, line: str) -> Edit:
    start = document.start(statement)
    return document.insertion(document.line_start(start), f"{document.indentation(start)}{line}{document.newline}")


def _line_below(document: Document, statement: cst.SimpleStatementLine, line: str) -> Edit:
    text = document.indentation(document.start(statement)) + line
    offset = document.next_line(document.end(statement))
    if offset == len(document.text) and not document.text.endswith(("\n", "\r")):
        return document.insertion(offset, document.newline + text)
    return document.insertion(offset, text + document.newline)


def seeding_lines(planner: ImportPlanner, rngs: Sequence[str], seed: str, *, at: cst.CSTNode) -> list[str]:
    """The statements that seed generators of the main process, with the imports that they need planned."""
    return [f"{_function(planner, rng, at)}({seed})" for rng in rngs]


def _function(planner: ImportPlanner, rng: str, at: cst.CSTNode) -> str:
    """The function that seeds: where no name for it or for its module is bound, an attribute of the package."""
    module, name = _FUNCTIONS[rng]
    bound = planner.find(module, name, at=at)
    if bound is not None:
        return bound
    package, dot, below = module.partition(".")
    return f"{planner.require(package, at=at)}{dot}{below}.{name}"


def _may_be_repeated(value: cst.BaseExpression) -> bool:
    """Whether evaluating an expression a second time gives the same: names, their attributes and items, sums."""
    match value:
        case cst.Name() | cst.Integer():
            return True
        case cst.Attribute(value=inner):
            return _may_be_repeated(inner)
        case cst.Subscript(value=inner):
            return _may_be_repeated(inner)
        case cst.BinaryOperation(left=left, right=right):
            return _may_be_repeated(left) and _may_be_repeated(right)
        case cst.Call(func=cst.Name(value="int"), args=[argument]):
            return _may_be_repeated(argument.value)
    return False
