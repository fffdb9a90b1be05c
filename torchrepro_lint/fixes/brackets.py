"""The brackets in which a call stands among other things: those of another call, a list, a dict, a comprehension."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from torchrepro_lint.fixes.document import Document

__all__ = [
    "Bracket",
    "are_others_on_one_line",
    "bracket_of",
    "breaks_calls",
    "call_parentheses",
    "equals_sign",
    "has_long_calls",
    "leaves_calls_long",
    "never_wraps",
    "wraps_aligned",
]

_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Bracket:
    """Brackets, where they open and close, their parts, and the number of the part that holds the call. `outer` is what
    is in brackets; the parts of a comprehension, its element and its clauses, have no commas between them.
    """

    outer: cst.BaseExpression
    open: int
    close: int
    parts: tuple[_Span, ...]
    index: int
    has_commas: bool
    has_final_comma: bool

    @property
    def part(self) -> _Span:
        """The part that holds the call."""
        return self.parts[self.index]


def call_parentheses(document: Document, call: cst.Call) -> _Span:
    """Offsets of the opening and of the closing parenthesis of a call."""
    function_end = document.start(call) + len(document.module.code_for_node(call.func))
    return document.text.index("(", function_end), document.end(call) - 1


def _edges(document: Document, node: cst.BaseExpression) -> _Span | None:
    """Offsets of the brackets of a call, a list, a set, a dict, a tuple or a comprehension; None of what has none."""
    if isinstance(node, cst.Call):
        return call_parentheses(document, node)
    start, end = document.span(node)
    if isinstance(node, cst.Tuple | cst.GeneratorExp):
        if len(node.lpar) != 1:
            return None
        start, end = document.outer_span(node)
    return start, end - 1


def bracket_of(document: Document, node: cst.BaseExpression) -> Bracket | None:
    """The brackets of which an expression is a part by itself, or the value of one; None where it is none."""
    if node.lpar and not (isinstance(node, cst.Tuple | cst.GeneratorExp) and len(node.lpar) == 1):
        return None
    item = document.parent(node)
    outer = document.parent(item) if item is not None else None
    if isinstance(item, cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp | cst.CompFor):
        return _of_comprehension(document, node, item)
    parts: Sequence[cst.CSTNode]
    match outer:
        case cst.Call(args=parts) if isinstance(item, cst.Arg):
            pass
        case cst.List(elements=parts) | cst.Set(elements=parts) | cst.Tuple(elements=parts) | cst.Dict(elements=parts):
            pass
        case _:
            return None
    own = _edges(document, outer)
    index = next((number for number, part in enumerate(parts) if part is item), None)
    if own is None or index is None:
        return None
    spans = tuple(_span_of_part(document, part) for part in parts)
    final = isinstance(getattr(parts[-1], "comma", None), cst.Comma)
    return Bracket(outer, *own, spans, index, has_commas=True, has_final_comma=final)


def _span_of_part(document: Document, part: cst.CSTNode) -> _Span:
    if isinstance(part, cst.DictElement):
        return document.outer_span(part.key)[0], document.outer_span(part.value)[1]
    if isinstance(part, cst.Element):
        return document.outer_span(part.value)
    return document.span(part)


def _of_comprehension(document: Document, node: cst.BaseExpression, item: cst.CSTNode) -> Bracket | None:
    """Those of the comprehension whose element, or the value of it, or what a clause of it goes through is `node`."""
    clause = item
    while isinstance(item, cst.CompFor):
        above = document.parent(item)
        assert above is not None
        item = above
    match item:
        case cst.ListComp(elt=own) | cst.SetComp(elt=own) | cst.GeneratorExp(elt=own):
            first = document.outer_span(own)
        case cst.DictComp(key=key, value=own):
            first = document.outer_span(key)[0], document.outer_span(own)[1]
        case _:
            return None
    outer: cst.BaseExpression = item
    around = _edges(document, item)
    if around is None:
        call = document.parent(document.parent(item) or item)
        if item.lpar or not isinstance(call, cst.Call) or len(call.args) != 1:
            return None
        outer, around = call, call_parentheses(document, call)
    clauses = list(_clauses(document, item.for_in))
    parts = (first, *(span for _, span in clauses))
    index = next((number for number, (owner, _) in enumerate(clauses, 1) if owner is clause), 0)
    inside = own if index == 0 else clause.iter if isinstance(clause, cst.CompFor) else None
    if inside is not node:
        return None
    return Bracket(outer, *around, parts, index, has_commas=False, has_final_comma=False)


def _clauses(document: Document, clause: cst.CompFor) -> Iterator[tuple[cst.CSTNode, _Span]]:
    yield clause, _without_space(document, document.start(clause), document.outer_span(clause.iter)[1])
    for test in clause.ifs:
        yield test, _without_space(document, document.start(test), document.outer_span(test.test)[1])
    if clause.inner_for_in is not None:
        yield from _clauses(document, clause.inner_for_in)


def _without_space(document: Document, start: int, end: int) -> _Span:
    text = document.text[start:end]
    return start + len(text) - len(text.lstrip()), end


def equals_sign(document: Document, call: cst.Call) -> str:
    """As it stands between the keywords of a call and their values, where all are written alike."""
    named = [argument for argument in call.args if argument.keyword is not None]
    spaced = [
        document.module.code_for_node(one.equal) == " = " for one in named if isinstance(one.equal, cst.AssignEqual)
    ]
    return " = " if spaced and all(spaced) else "="


def wraps_aligned(document: Document) -> bool:
    """Whether most calls over several lines have their arguments aligned below the first, which follows the bracket."""
    aligned, broken = document.once(_aligned_and_broken)
    return aligned > broken


def breaks_calls(document: Document) -> bool:
    """Whether some call of several arguments has the first of them on another line than its bracket."""
    return document.once(_aligned_and_broken)[1] > 0


def _aligned_and_broken(document: Document) -> tuple[int, int]:
    """How many calls over several lines are aligned below the first argument, and how many begin with a line break."""
    aligned = broken = 0
    for call in document.nodes(cst.Call):
        starts = [document.start(argument) for argument in call.args]
        if len(starts) < 2:
            continue
        text, first = document.text, starts[0]
        if "\n" in text[call_parentheses(document, call)[0] : first]:
            broken += 1
            continue
        lines = {line: start for start in reversed(starts) if (line := document.line_start(start))}
        leading = [start - line for line, start in lines.items() if not text[line:start].strip()]
        if leading:
            aligned += all(column == first - document.line_start(first) for column in leading)
    return aligned, broken


def leaves_calls_long(document: Document) -> bool:
    """Whether more calls of several arguments are on a line of no limit than over several lines."""
    long, broken = document.once(_long_and_broken)
    return long > broken


def has_long_calls(document: Document) -> bool:
    """Whether some call of several arguments is on a line of no limit."""
    return document.once(_long_and_broken)[0] > 0


def never_wraps(document: Document) -> bool:
    """Whether no call of several arguments is over several lines."""
    return document.once(_long_and_broken)[1] == 0


def are_others_on_one_line(document: Document, call: cst.Call) -> bool:
    """Whether the file has other calls of what a call calls, and each of them is on one line."""
    called = document.text_of(call.func)
    others = [
        call_parentheses(document, one)
        for one in document.nodes(cst.Call)
        if one is not call and one.args and document.text_of(one.func) == called
    ]
    return bool(others) and not any("\n" in document.text[start:end] for start, end in others)


def _long_and_broken(document: Document) -> tuple[int, int]:
    """How many calls of several arguments are on a line of no limit, and how many over several lines."""
    long = broken = 0
    for call in document.nodes(cst.Call):
        if len(call.args) < 2:
            continue
        start, end = call_parentheses(document, call)
        if "\n" in document.text[start:end]:
            broken += 1
        else:
            long += end + 1 - document.line_start(start) > document.no_limit
    return long, broken
