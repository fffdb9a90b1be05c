"""Texts that are put together of a set of texts in its order, which is another one in every run of Python, and what is
made of such: checksums, and the names of files.

    key = hashlib.md5(str(set(names)).encode()).hexdigest()
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import sub_expressions, walk
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ordering import ordering_names, ordering_words
from torchrepro_lint.program.core.backward import Backward
from torchrepro_lint.program.core.queries import Origin, Query
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Constant, SequenceValue, Site
from torchrepro_lint.program.intent.entropy_calls import outside
from torchrepro_lint.program.orders.element_kinds import kind_of_elements
from torchrepro_lint.program.running.call_index import NamedCall, called_name, calls_in
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.program.evaluation.evaluator import Evaluator
    from torchrepro_lint.program.program import Program

__all__ = ["checksums_of_sets", "has_texts_of_sets", "text_of_a_set"]

#: What makes a set, in the text of a file.
_SETS: Final = re.compile(rb"\b(?:frozen)?set\s*\(|\{[^{}:]*\bfor\b|\{[^{}:]*['\"]\s*,|\.keys\(\)\s*[-&|^]")


def checksums_of_sets(program: Program) -> Iterator[tuple[Site, Site]]:
    """The places where a set becomes a text, or is gone through, each with that of the checksum that is made of it."""
    words = ordering_words("checksums")
    for path in program.asked_with(any_word(words)):
        facts = program.facts(path)
        if facts is None or not program.project.matching(_SETS):
            continue
        for word in sorted(words | {"update"}):
            for one in calls_in(program.ev, facts, word):
                program.ev.begin_question()
                found = _of_checksum(program, one)
                if found is not None:
                    yield found, Site(path, one.call.site)


def has_texts_of_sets(program: Program) -> bool:
    """Whether some file puts a text together of a set: few do, and to follow each path of a project back to where it
    comes from is dear.
    """
    return program.once("texts of sets", lambda: _has_texts_of_sets(program))


def _has_texts_of_sets(program: Program) -> bool:
    for path in program.project.matching(_SETS):
        facts = program.facts(path)
        for word in ("dumps", "join", "repr", "str") if facts is not None else ():
            assert facts is not None
            for one in calls_in(program.ev, facts, word):
                program.ev.begin_question()
                if any(text_of_a_set(program, one.call, frame) for frame in contexts(program.ev, facts, one.scope)):
                    return True
    return False


def text_of_a_set(program: Program, node: tree.Expr, frame: Frame) -> Site | None:
    """Where a set of texts becomes a list or a text that an expression is made of, in the order of the set."""
    return _SetTexts(program).of(node, frame)


class _SetTexts(Backward[Site]):
    """Where a set of texts becomes what has its order."""

    def __init__(self, program: Program) -> None:
        super().__init__(program.ev)
        self._program = program

    def source(self, query: Query) -> Site | None:
        """A list or a text that is made of a set. Each element alone is the same in whatever order they come."""
        if query.access:
            return None
        node, frame = query.node, query.frame
        parts: tuple[tree.Expr, ...] = ()
        match node:
            case tree.Call(args=(arg,)) | tree.Call(args=(arg, _)) if arg.star == "" and self._makes(node, frame):
                parts = (arg.value,)
            case tree.FormatString(values=values):
                parts = values
            case tree.Comprehension(kind="list" | "generator", clauses=(clause, *_)):
                parts = (clause.iter,)
        if any(_is_set_of_texts(self._program, part, frame) for part in parts):
            return Site(frame.facts.path, node.site)
        return None

    def _makes(self, node: tree.Call, frame: Frame) -> bool:
        if called_name(node.func) not in ordering_words("made_texts") | {"join"}:
            return False
        if isinstance(node.func, tree.Attribute) and node.func.attr == "join":
            return isinstance(node.func.value, tree.Const) or called_name(node.func.value) != "path"
        names = [outside(value) for value in self.ev.values(node.func, frame)]
        return bool(names) and all(name is not None and canonical(name) in _made_texts() for name in names)

    def made(self, query: Query) -> Site | None:
        """What an operation, or a call of something outside the project, makes of such a text; none of what loses the
        order.
        """
        node = query.node
        match node:
            case _ if query.access:
                return None
            case tree.Lambda() | tree.Const() | tree.Compare() | tree.Comprehension(kind="set" | "dict"):
                return None
            case tree.Call(func=func, args=args):
                if called_name(func) in ordering_words("order_free"):
                    return None
                parts = [arg.value for arg in args]
                if isinstance(func, tree.Attribute):
                    parts.append(func.value)
                return next((one for one in self.operands(query, parts) if one is not None), None)
        return next((one for one in self.operands(query, sub_expressions(node)) if one is not None), None)

    def passed(self, query: Query, origin: Origin, fact: Site) -> Site | None:
        """Nothing of a list that is sorted in place under its name."""
        if isinstance(query.node, tree.Name) and _is_sorted(self.ev, query.frame, query.node):
            return None
        return fact


def _is_sorted(ev: Evaluator, frame: Frame, name: tree.Name) -> bool:
    """Whether a name of a function is sorted in place: `names.sort()`."""
    parents = parents_of(ev, frame.facts)
    uses = parents.names_in(name.id, parents.function(name))
    return any(isinstance(above := parents.of(use), tree.Attribute) and above.attr == "sort" for use in uses)


@cache
def _made_texts() -> frozenset[str]:
    return frozenset(map(canonical, ordering_names("made_texts")))


def _is_set_of_texts(program: Program, node: tree.Expr, frame: Frame) -> bool:
    """Whether an expression is surely a set, and of texts, as far as the code shows; of more than one."""
    values = program.ev.values(node, frame)
    if not values or not all(isinstance(value, SequenceValue) and value.kind == "set" for value in values):
        return False
    if isinstance(node, tree.Display) and len(node.items) == 1:
        return False
    found = [one for value in values if isinstance(value, SequenceValue) for one in value.elements()]
    if found and all(isinstance(one, Constant) for one in found):
        return any(isinstance(one, Constant) and isinstance(one.value, (str, bytes)) for one in found)
    return kind_of_elements(program, frame.facts, frame.scope, node) in ("text", "named")


def _of_checksum(program: Program, one: NamedCall) -> Site | None:
    """Where the set is that a checksum is made of."""
    if not one.call.args:
        return None
    names = _checksums()
    for frame in contexts(program.ev, one.facts, one.scope):
        called = [outside(value) for value in program.ev.values(one.call.func, frame)]
        if not called or not all(name is not None and canonical(name) in names for name in called):
            continue
        given = one.call.args[0].value
        found = text_of_a_set(program, given, frame) or _of_turn(program, one.facts, one.call, given, frame)
        if found is not None:
            return found
    return None


@cache
def _checksums() -> frozenset[str]:
    own = frozenset(map(canonical, ordering_names("checksums")))
    return own | {f"{name}.update" for name in own}


def _of_turn(program: Program, facts: ModuleFacts, call: tree.Call, given: tree.Expr, frame: Frame) -> Site | None:
    """The set that a loop around goes through and of whose element a checksum is told in each turn."""
    match call.func:
        case tree.Attribute(value=tree.Name() | tree.Attribute() as owner, attr="update"):
            pass
        case _:
            return None
    parents = parents_of(program.ev, facts)
    names = {part.id for part in walk([given]) if isinstance(part, tree.Name)}
    for above in parents.around(call):
        if isinstance(above, (tree.FunctionDef, tree.ClassDef, tree.Lambda)):
            return None
        if isinstance(above, tree.For) and isinstance(owner, tree.Name):
            if any(parents.is_bound(use) for use in parents.names_in(owner.id, above)):
                return None  # each turn has a checksum of its own
        if isinstance(above, tree.For) and any(
            isinstance(part, tree.Name) and part.id in names for part in walk([above.target])
        ):
            if _is_set_of_texts(program, above.iter, frame):
                return Site(facts.path, above.iter.site)
            return text_of_a_set(program, above.iter, frame)
    return None
