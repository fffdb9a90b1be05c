"""The fix that gives a listing or a set an order: `sorted(...)` around it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.fixes.brackets import bracket_of
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.listings_beside import (
    is_sorted_if_asked,
    keeps_order,
    leaves_another_listing,
    list_around,
    listing_words,
)
from torchrepro_lint.fixes.unsafe_reasons import ELEMENTS, OPTION_DECIDES, SORTED_PART, Because
from torchrepro_lint.program.evaluation.values import Site

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["sort_fix", "sort_fixes"]

Planned = tuple[Fix | None, str | None]

#: How many listings a sum has, at least, that is sorted as one.
MIN_PARTS = 3
#: What a formatter may add to an expression: blanks, line ends, a comma behind the last of several.
_LAYOUT = re.compile(r"\s+|,(?=\s*[)\]])")
#: The suffix of files at the end of a pattern.
_SUFFIX = re.compile(r"\*\.\w+(?=['\"])")


def sort_fix(
    program: Program,
    site: Site,
    *,
    lazy: bool,
    comparable: bool,
    by_name: bool = False,
    sorted_too: Collection[Site] = (),
) -> Planned:
    """Put `sorted(...)` around an expression, or in the place of the `list(...)` or `[*...]` around it.

    The fix is safe for elements that are known to be `comparable`, unless they come `lazy` and are consumed as they
    come: sorting has to wait for their end; and unless the function lists the same again, other than at the sites
    `sorted_too`, and keeps that order: the items of the two lists may belong together; nor where the folder that is
    listed is taken by its position from a listing that stays as it is, or another listing beside it keeps its order;
    nor where what has its name is sorted below where that is asked for.
    `by_name`: they are directory entries, which sort by their names only.
    """
    document = document_of(program, site.path)
    node = document.node_at(*program.parsed(site.path).span(site.number), cst.BaseExpression)
    if node is None:
        return None, "the expression could not be located"
    if document.scope_of(node).resolve("sorted") is not None:
        return None, "`sorted` means something else here"
    key = ", key=lambda entry: entry.name" if by_name else ""
    entered = document.parent(node)
    nodes = _loops_over(document, entered) if isinstance(entered, cst.WithItem) else [_sum_around(document, node)]
    if not nodes:
        return None, "`with` opens the listing, and something other than a loop reads it"
    edits = [edit for one in nodes for edit in _around(document, one, key)]
    waits = lazy and not all(list_around(document, one) or _display_around(document, one) for one in nodes)
    because = ELEMENTS if not comparable or waits else _why_read(program, document, node, sorted_too)
    return Fix.checked("Sort it", tuple(edits), because), None


def _why_read(
    program: Program, document: Document, node: cst.BaseExpression, sorted_too: Collection[Site]
) -> Because | None:
    """Why nobody would merge it unread that a listing is sorted; None where somebody would."""
    if (
        _is_listed_again(program, document, node, sorted_too)
        or _is_in_a_listed_folder(program, document, node, sorted_too)
        or leaves_another_listing(document, node, _spans_here(program, document, sorted_too))
    ):
        return SORTED_PART
    return OPTION_DECIDES if is_sorted_if_asked(document, node) else None


def _is_listed_again(
    program: Program, document: Document, node: cst.BaseExpression, sorted_too: Collection[Site]
) -> bool:
    """Whether the function around a listing has another call of the same text, whose order a list of names gets."""
    function, text = document.function(node), _LAYOUT.sub("", document.text_of(node))
    others = [
        one
        for one in document.nodes(cst.Call, function)
        if one is not node and document.function(one) is function and keeps_order(document, one)
        if _LAYOUT.sub("", document.text_of(one)) == text
    ]
    if not others:
        return False
    spans = _spans_here(program, document, sorted_too)
    return any(document.span(one) not in spans for one in others)


def _spans_here(program: Program, document: Document, sites: Collection[Site]) -> set[tuple[int, int]]:
    """Where those of the sites that are in this file stand in its text."""
    return {program.parsed(site.path).span(site.number) for site in sites if site.path == document.path}


def _is_in_a_listed_folder(
    program: Program, document: Document, node: cst.BaseExpression, sorted_too: Collection[Site]
) -> bool:
    """Whether the folder that is listed is taken from a listing by its position, `listdir(join(root, folders[at]))`,
    and that listing is not among the sites `sorted_too`: then the machine still decides which folder it is.
    """
    names = {
        subscript.value.value
        for subscript in document.nodes(cst.Subscript, node)
        if isinstance(subscript.value, cst.Name)
    }
    if not names:
        return False
    spans = _spans_here(program, document, sorted_too)
    for call in document.nodes(cst.Call, document.function(node)):
        assign, called = document.parent(call), document.text_of(call.func).rpartition(".")[2]
        if called in listing_words() and isinstance(assign, cst.Assign) and document.span(call) not in spans:
            targets = {one.target.value for one in assign.targets if isinstance(one.target, cst.Name)}
            if not names.isdisjoint(targets):
                return True
    return False


def sort_fixes(program: Program, sites: Sequence[Site]) -> Planned:
    """The same for a set whose elements nobody knows, at all the places where it is iterated."""
    edits: list[Edit] = []
    for site in sites:
        fix, declined = sort_fix(program, site, lazy=False, comparable=False)
        if fix is None:
            return None, declined
        edits.extend(fix.edits)
    return Fix(Applicability.UNSAFE, "Sort it", tuple(edits)), None


def _around(document: Document, node: cst.BaseExpression, key: str) -> list[Edit]:
    """`sorted(...)` around an expression, or in the place of the `list(...)` or `[*...]` around it."""
    display = _display_around(document, node)
    if display is not None:
        whole, inner = document.span(display), document.span(node)
        return [
            document.replacement(whole[0], inner[0], "sorted("),
            document.replacement(inner[1], whole[1], f"{key})"),
        ]
    call = list_around(document, node)
    if call is None:
        start, end = document.span(node)
        if (broken := _broken_around(document, node, key)) is not None:
            return [broken]
        if document.has_limit and (wrapped := _wrapped_around(document, node, key)) is not None:
            return wrapped
        return [document.insertion(start, "sorted("), document.insertion(end, f"{key})")]
    last = [document.insertion(document.span(call)[1] - 1, key)] if key else []
    return [document.replacement(*document.span(call.func), "sorted"), *last]


def _broken_around(document: Document, node: cst.BaseExpression, key: str) -> Edit | None:
    """`sorted(...)` with a line of its own for each bracket, around a call that is laid out so; None for others."""
    start, end = document.span(node)
    lines = document.text[start:end].splitlines()
    is_broken = len(lines) > 2 and lines[0].endswith("(") and lines[-1].strip() == ")"
    if not is_broken or "#" in document.text[start:end] or '"""' in document.text[start:end]:
        return None
    outer, unit = document.indentation(start), document.indent_unit(node)
    one_line = lines[0] + " ".join(line.strip() for line in lines[1:-1]).rstrip(",") + ")"
    if any(line.rstrip().endswith(("(", "[", "{")) for line in lines[1:-1]):
        one_line = ""  # brackets within it are broken as well
    inner = outer + unit
    if one_line and len(inner) + len(one_line + key) <= document.line_length:
        lines = [one_line]
    else:
        lines = [lines[0], *(unit + line for line in lines[1:])]
    whole = ["sorted(", inner + lines[0], *lines[1:]]
    whole[-1] += f"{key}"
    return document.replacement(start, end, document.newline.join([*whole, f"{outer})"]))


def _wrapped_around(document: Document, node: cst.BaseExpression, key: str) -> list[Edit] | None:
    """`sorted(...)` on a line that would be longer than the formatter leaves it: what is in the outermost brackets of
    the statement has a line of its own. None where the line is short enough, or that line would not be.
    """
    start, end = document.span(node)
    bracket = bracket_of(document, node)
    whole = node if bracket is None else bracket.outer
    if not isinstance(document.parent(whole), cst.Assign | cst.AnnAssign | cst.Return | cst.For):
        return None
    around_start, around_end = document.span(whole)
    line_start, next_line = document.line_start(around_start), document.next_line(around_start)
    added = len("sorted()") + len(key)
    line = document.text[line_start:next_line].rstrip()
    if around_end > next_line or document.text[around_end:next_line].strip(" :\r\n"):
        return None
    outer = document.indentation(around_start)
    inner, behind = outer + document.indent_unit(node), document.newline + outer
    first, last = (start, end) if bracket is None else (bracket.parts[0][0], bracket.parts[-1][1])
    grown = len(inner) + last - first + (len(key) if bracket is None else added)
    if len(line) + added <= document.line_length or grown > document.line_length:
        return None
    if bracket is None:
        return [
            document.insertion(start, f"sorted({document.newline}{inner}"),
            document.insertion(end, f"{key}{behind})"),
        ]
    if document.text[last : bracket.close].strip():
        return None
    return [
        document.replacement(bracket.open + 1, first, document.newline + inner),
        document.insertion(start, "sorted("),
        document.insertion(end, f"{key})"),
        document.replacement(last, bracket.close, behind),
    ]


def _sum_around(document: Document, node: cst.BaseExpression) -> cst.BaseExpression:
    """The sum of three listings or more that a listing is a part of, if they differ in the suffix of the files alone:
    `glob("*.png") + glob("*.jpg") + glob("*.bmp")`. Else the listing itself.
    """
    whole = node
    while isinstance(outer := document.parent(whole), cst.BinaryOperation) and isinstance(outer.operator, cst.Add):
        whole = outer
    parts = list(_parts(whole))
    alike = {_SUFFIX.sub("*", _LAYOUT.sub("", document.text_of(part))) for part in parts}
    return whole if len(parts) >= MIN_PARTS and len(alike) == 1 else node


def _parts(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """The parts of a sum, from the left."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        yield from _parts(node.left)
        yield from _parts(node.right)
    else:
        yield node


def _loops_over(document: Document, item: cst.WithItem) -> list[cst.BaseExpression]:
    """What reads the name that `with` gives to what it opens, where all of that are loops, and `list(...)`."""
    name = item.asname.name if item.asname is not None else None
    block = document.parent(item)
    if not isinstance(name, cst.Name) or not isinstance(block, cst.With):
        return []
    uses = [use for use in document.nodes(cst.Name, block.body) if use.value == name.value]
    holders = [document.parent(use) for use in uses]
    loops = [
        (isinstance(holder, (cst.For, cst.CompFor)) and holder.iter is use) or list_around(document, use) is not None
        for use, holder in zip(uses, holders, strict=True)
    ]
    return list(uses) if all(loops) else []


def _display_around(document: Document, node: cst.BaseExpression) -> cst.List | None:
    """The display `[*node]`, with nothing else in it, comments least of all."""
    element = document.parent(node)
    display = document.parent(element) if isinstance(element, cst.StarredElement) else None
    if not isinstance(display, cst.List) or len(display.elements) != 1:
        return None
    return display if "#" not in cst.Module([]).code_for_node(display) else None
