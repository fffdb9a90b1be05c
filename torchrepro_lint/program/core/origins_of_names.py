"""Where the value of a name comes from: the definitions that reach it, and what was put into it since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.scopes import Binding
from torchrepro_lint.program.core.access import EACH, item, items
from torchrepro_lint.program.core.contents import put_into
from torchrepro_lint.program.core.definitions import Definition, definitions, global_definitions
from torchrepro_lint.program.core.origins_of_arguments import of_parameter
from torchrepro_lint.program.core.queries import Origin, Origins, Query
from torchrepro_lint.program.core.returns import returned_by, yielded_by
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import ModuleValue

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["of_definitions", "of_global", "of_name"]

#: Through how many modules a name is followed that they import from each other.
MAX_IMPORTS = 12


def of_name(ev: Evaluator, query: Query, node: tree.Name) -> Origins | None:
    """The values that a name may have where it is used; None where it is that of a function, a class or a module."""
    found, certain = definitions(ev, node.id, node.site, query.frame)
    return of_definitions(ev, query, found, certain)


def of_global(ev: Evaluator, query: Query, module: ModuleValue, name: str, depth: int = 0) -> Origins | None:
    """The values that a global name of a module may have when the module has run."""
    if depth > MAX_IMPORTS:
        return Origins((), True)
    found, certain = global_definitions(ev, module, name)
    return of_definitions(ev, query, found, certain, depth)


def of_definitions(
    ev: Evaluator, query: Query, found: Iterable[Definition], certain: bool, depth: int = 0
) -> Origins | None:
    """The values that some definitions give; None where they define functions, classes or modules alone."""
    options: list[Origin] = []
    is_open, is_made = not certain, True
    for binding, frame in found:
        given = _given(ev, query, binding, frame, depth)
        if given is not None:
            is_made = False
            options += given.options
            is_open = is_open or given.is_open
            if query.access and query.access[0].is_into_container:
                options += put_into(ev, query, binding.name, frame)
    if is_made:
        return None
    return Origins(tuple(options), is_open)


def _given(ev: Evaluator, query: Query, binding: Binding, frame: Frame, depth: int) -> Origins | None:
    """What one binding gives its name."""
    node = binding.node
    match binding.kind, node:
        case "param", tree.Param():
            return of_parameter(ev, query, node, frame)
        case "assign", _ if node is not None:
            return _bound(query.at(node, frame, *items(binding.unpack)))  # type: ignore[arg-type]
        case "element", _ if node is not None:
            within = frame
            if isinstance(frame.scope.node, tree.Comprehension) and frame.parent is not None:
                if frame.scope.node.clauses[0].iter is node:
                    within = frame.parent
            return _bound(query.at(node, within, EACH, *items(binding.unpack)))  # type: ignore[arg-type]
        case "context", _ if node is not None:
            return _entered(ev, query.at(node, frame, *items(binding.unpack)))  # type: ignore[arg-type]
        case "augmented", tree.AugAssign():
            return _bound(query.at(_as_operation(ev, node), frame))
        case "import-from", tree.ImportFrom(names=names, level=level, module=module):
            path = ev.project.resolve_from(frame.facts.path, level, module)
            facts = ev.project.facts(path) if path is not None and path.suffix == ".py" else None
            original = next((name for name, alias in names if (alias or name) == binding.name), None)
            if path is None or facts is None or original is None:
                return None
            return of_global(ev, query, ModuleValue(path, facts), original, depth + 1)
        case (("function" | "class" | "import" | "import-from"), _):
            return None
        case "delete", _:
            return Origins(())
        case "rest", _ if query.access:
            return _starred(query, binding, frame)
    return Origins((), True)


def _bound(query: Query) -> Origins:
    return Origins((Origin(query, "binding"),))


def _starred(query: Query, binding: Binding, frame: Frame) -> Origins:
    """What `first, *name = node` gives: the items from a place on."""
    first, *rest = query.access
    *around, place, behind = binding.unpack
    if first.kind == "item" and isinstance(first.of, int):
        first = item(place + first.of if first.of >= 0 else first.of - behind)
    return _bound(query.asking(tuple(rest)).at(binding.node, frame, *items(tuple(around)), first))  # type: ignore[arg-type]


def _entered(ev: Evaluator, query: Query) -> Origins:
    """What `with node as name` binds: what the function yields that `@contextmanager` decorates, what `__enter__`
    returns, and for anything else the object itself.
    """
    options = tuple(_yielded_once(ev, query))
    return Origins(options) if options else _bound(query)


def _yielded_once(ev: Evaluator, query: Query) -> Iterator[Origin]:
    if isinstance(query.node, tree.Call):
        yield from yielded_by(ev, query, query.node)
    entered = ev.instances_attribute(ev.values(query.node, query.frame), "__enter__")
    yield from returned_by(ev, query, entered)


def _as_operation(ev: Evaluator, node: tree.AugAssign) -> tree.Binary:
    """`name op= value` as the operation that it is, on what the name is before; the same one each time it is asked."""
    before = node.target
    match before:
        case tree.Name(id=name):
            before = tree.Name(node.site, name)
        case tree.Attribute(value=value, attr=attr):
            before = tree.Attribute(node.site, value, attr)
    made = tree.Binary(node.site, node.op, before, node.value)
    return ev.of_text(("as-operation", id(node)), lambda: made)
