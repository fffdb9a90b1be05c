"""The fix that seeds an environment where it is first reset, and its space of actions right before that.

    env.action_space.seed(args.seed)
    state, _ = env.reset(seed=args.seed)

The resets that follow go on with the environment's own generator: a seed in each of them would repeat one episode.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.fixes.arguments import add_keyword_arguments
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.program_seed import seed_around, several_at
from torchrepro_lint.fixes.seed_expression import Seed
from torchrepro_lint.fixes.seeding import Declined

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program
    from torchrepro_lint.program.seeds.environment_seeds import UnseededEnvironment

__all__ = ["environment_seed_fix"]

#: What a file says whose environments take a seed in `reset`: older releases of Gym have `env.seed(...)` in its place.
_NEW: Final = re.compile(r"(?m)^\s*(?:import|from)\s+gymnasium\b")


def environment_seed_fix(program: Program, one: UnseededEnvironment) -> tuple[Fix | None, str | None]:
    """Pass the program's seed to the first `reset`, or to the space of actions above it. Unsafe: other episodes."""
    document = document_of(program, one.site.path)
    call = document.node_at(*program.parsed(one.site.path).span(one.site.number), cst.Call)
    if call is None:
        return None, "the call could not be located"
    if one.kind == "algorithm":
        return _algorithm_fix(program, document, one, call)
    name = _made_as(document, call) if one.kind == "environment" else _sampled_of(call)
    if name is None:
        return None, "the environment has no plain name where it is made"
    if one.kind == "environment" and _NEW.search(document.text) is None:
        return None, "releases of Gym before 0.26 are seeded by `env.seed(...)`, later ones in the first `reset`"
    reset = _first_reset(document, call, name)
    if reset is None:
        return None, "no `reset` of it stands outside of loops here, and a seed in each repeats one episode"
    own = _seed_of(reset) if one.kind != "environment" else None
    if reset.args and own is None:
        return None, "the first `reset` of it is given more than a plain seed"
    at, planner = document.statement(reset), ImportPlanner(document)
    seed = _seed_at(program, one, at, planner, repeats="episodes", own=own)
    if isinstance(seed, Declined):
        return None, seed.reason
    if one.kind == "environment":
        edits: list[Edit] = add_keyword_arguments(document, reset, [("seed", seed.text)])
        what = f"Pass seed={seed.text}"
    else:
        start = document.line_start(document.start(at))
        line = f"{name}.action_space.seed({seed.text})"
        edits = [document.insertion(start, f"{document.indentation(start)}{line}{document.newline}")]
        what = f"Insert {line}"
    return Fix(Applicability.UNSAFE, what, (*planner.edits(), *edits)), None


def _algorithm_fix(
    program: Program, document: Document, one: UnseededEnvironment, call: cst.Call
) -> tuple[Fix | None, str | None]:
    """Pass the program's seed to an algorithm, which seeds its environment and all global generators with it."""
    planner = ImportPlanner(document)
    seed = _seed_at(program, one, document.statement(call), planner, repeats="training")
    if isinstance(seed, Declined):
        return None, seed.reason
    edits = [*add_keyword_arguments(document, call, [("seed", seed.text)]), *planner.edits()]
    return Fix(Applicability.UNSAFE, f"Pass seed={seed.text}", tuple(edits)), None


def _seed_at(
    program: Program,
    one: UnseededEnvironment,
    at: cst.BaseStatement,
    planner: ImportPlanner,
    *,
    repeats: str,
    own: str | None = None,
) -> Seed | Declined:
    """The seed that the statement has of its own, else the program's there; declined where that may run again, with
    what one seed then `repeats`.
    """
    if several_at(program, one.site.path)(at):
        return Declined(f"this may run several times, and one seed would repeat the same {repeats}")
    return Seed(own) if own is not None else seed_around(program, one.site.path, at, planner, of_32_bits=True)


def _made_as(document: Document, call: cst.Call) -> str | None:
    """The name that an environment gets in the statement which makes it, be it in wrappers."""
    for outer in document.ancestors(call):
        if isinstance(outer, cst.Assign) and len(outer.targets) == 1:
            return dotted_name(outer.targets[0].target)
        if not isinstance(outer, cst.Call | cst.Arg):
            return None
    return None


def _sampled_of(call: cst.Call) -> str | None:
    """The environment of which an action is sampled: `env` in `env.action_space.sample()`."""
    match call.func:
        case cst.Attribute(value=cst.Attribute(value=owner)):
            return dotted_name(owner)
    return None


def _first_reset(document: Document, call: cst.Call, name: str) -> cst.Call | None:
    """The first `reset` of an environment in the function of a call, if it is in no loop."""
    function = document.function(call)
    resets = [
        one
        for one in document.nodes(cst.Call, function)
        if isinstance(one.func, cst.Attribute)
        and one.func.attr.value == "reset"
        and dotted_name(one.func.value) == name
        and document.function(one) is function
    ]
    first = min(resets, key=document.start, default=None)
    if first is None or document.loops(first):
        return None
    return first if isinstance(document.statement(first), cst.SimpleStatementLine) else None


def _seed_of(reset: cst.Call) -> str | None:
    """The name or number that is all that a `reset` is given, as its seed."""
    match reset.args:
        case [cst.Arg(keyword=cst.Name(value="seed"), value=cst.Integer(value=text))]:
            return text
        case [cst.Arg(keyword=cst.Name(value="seed"), value=given)]:
            return dotted_name(given)
    return None
