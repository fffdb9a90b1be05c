"""Adding keyword arguments to a call, in the layout that the call already has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.fixes.apply import apply_edits
from torchrepro_lint.fixes.brackets import (
    Bracket,
    are_others_on_one_line,
    bracket_of,
    breaks_calls,
    call_parentheses,
    equals_sign,
    has_long_calls,
    leaves_calls_long,
    never_wraps,
    wraps_aligned,
)
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.passed_arguments import is_what_is_kept
from torchrepro_lint.fixes.tool_comments import is_for_a_tool

__all__ = ["add_keyword_arguments"]

_COMMENT_TO_END = re.compile(r"[ \t\f]*#[^\r\n]*")
# What may be after brackets that the formatter breaks before those within them.
_END = re.compile(r"(?:\[[^][#\r\n]*\])*(?:,|:|[ \t]+as \w+:)?[ \t\f]*(?:#[^\r\n]*)?[\r\n]*")


def add_keyword_arguments(
    document: Document, call: cst.Call, pairs: Sequence[tuple[str, str]], altered: Sequence[Edit] = ()
) -> list[Edit]:
    """Add `name=value` arguments after the others of a call, before a final `**kwargs`. `altered` are edits of its
    other arguments, which are made as well.

    One argument per line stays one per line; a call on one line stays on one line as long as it fits the line length or
    its author leaves such calls long, and is otherwise wrapped as other calls of the file are. Where there are none, it
    is wrapped as black would; aligned below its own arguments in a file with lines that no formatter leaves.
    Trailing commas and comments stay where they are.
    """
    if not pairs:
        return list(altered)
    equal = equals_sign(document, call)
    return _Call(document, call, altered).add([f"{name}{equal}{value}" for name, value in pairs])


@dataclass(frozen=True, slots=True)
class _Item:
    """An argument in the text: where it starts and ends, and where its comma is, if it has one."""

    start: int
    end: int
    comma: int | None


class _Call:
    def __init__(self, document: Document, call: cst.Call, altered: Sequence[Edit]) -> None:
        self.document = document
        self.altered = altered
        self.text = document.text
        self.call = call
        self.open, self.close = call_parentheses(document, call)
        self.items = [self._item(argument) for argument in call.args]
        self.kwargs = bool(call.args) and call.args[-1].star == "**"
        only = call.args[0].value if len(call.args) == 1 else None
        self.bare_generator = isinstance(only, cst.GeneratorExp) and not only.lpar

    def add(self, new: list[str]) -> list[Edit]:
        edits = self._laid_out(new)
        around = [edit for edit in edits if any(edit.start <= one.start < edit.end for one in self.altered)]
        return edits if around else [*self.altered, *edits]

    def _laid_out(self, new: list[str]) -> list[Edit]:
        if self.bare_generator:
            item = self.items[0]
            return [
                self.document.insertion(item.start, "("),
                self.document.insertion(item.end, "), " + ", ".join(new)),
            ]
        if not self.items:
            return [self._into_empty(new)]
        if self._is_one_line():
            if self._fits(new) or not self._may_wrap() or self._is_left_long():
                return self._inline(new)
            return [self._as_one(self._beyond_the_line(new))]
        return self._on_lines(new)

    def _item(self, argument: cst.Arg) -> _Item:
        start, end = self.document.span(argument)
        if not isinstance(argument.comma, cst.Comma):
            return _Item(start, end, None)
        return _Item(start, end, self.document.start(argument.comma))

    def _into_empty(self, new: list[str]) -> Edit:
        return self.document.insertion(self.open + 1, ", ".join(new))

    # Calls on one line.

    def _is_one_line(self) -> bool:
        """Whether no two parts of the call's own layout are on different lines. An argument may span lines."""
        if "\n" in self._gap(self.open + 1, self.items[0].start):
            return False
        ends = [item.start for item in self.items[1:]] + [self.close]
        return not any(
            "\n" in gap or "\r" in gap
            for gap in (self._gap(item.end, end) for item, end in zip(self.items, ends, strict=True))
        )

    def _gap(self, start: int, end: int) -> str:
        return self.text[start:end]

    def _inline(self, new: list[str]) -> list[Edit]:
        joined = ", ".join(new)
        if self.kwargs:
            start = self.items[-1].start
            lead = " " if self.text[start - 1] == "," else ""
            return [self.document.insertion(start, f"{lead}{joined}, ")]
        last = self.items[-1]
        if last.comma is None:
            return [self.document.insertion(last.end, ", " + joined)]
        return [self.document.insertion(last.comma + 1, f" {joined},")]

    def _fits(self, new: list[str]) -> bool:
        """Whether the line that grows stays within the limit; a comment at its end is not counted."""
        grown = self._length() + len(", ".join(new)) + 2
        # Who never wraps a call, and uses no formatter, does not wrap one of usual length.
        unwrapped = self.document.is_beyond_defaults and self.document.once(never_wraps)
        return grown <= (self.document.no_limit if unwrapped else self.document.line_length)

    def _length(self) -> int:
        """How long the line is on which the call ends; a comment behind it is not counted."""
        end = self.document.next_line(self.close)
        line_start = self.document.line_start(self.items[-1].end)
        if _COMMENT_TO_END.match(self.text, self.close + 1, end) is not None:
            return self.close + 1 - line_start
        return len(self.text[line_start:end].rstrip())

    def _is_left_long(self) -> bool:
        """Whether the author keeps such a call on one line, however long: this one, most calls of the file, or the
        others of the same function in a file with such lines.
        """
        if self._length() > self.document.no_limit:
            return True
        if self.document.once(has_long_calls) and are_others_on_one_line(self.document, self.call):
            return True
        return not self.document.once(wraps_aligned) and self.document.once(leaves_calls_long)

    def _may_wrap(self) -> bool:
        """Arguments that span lines themselves are left as they are: taking them apart is not ours to do."""
        return "\n" not in self.text[self.open : self.close] and "\r" not in self.text[self.open : self.close]

    def _as_one(self, edits: list[Edit]) -> Edit:
        """One edit for several of a new layout: what alters a part of what it lays out, or adds an argument after the
        others, waits for the next round.
        """
        start = min(self.open, *(edit.start for edit in edits))
        end = max(self.close + 1, *(edit.end for edit in edits))
        whole = [*edits, *self.altered]
        shifted = [Edit(edit.path, edit.start - start, edit.end - start, edit.content) for edit in whole]
        return self.document.replacement(start, end, apply_edits(self.text[start:end], shifted))

    def _beyond_the_line(self, new: list[str]) -> list[Edit]:
        """A line that would be too long: formatters break the outermost of its brackets first, and those within them
        where that is not enough. Below what stands aligned after an opening bracket, arguments are aligned as well, and
        everywhere in a file whose author aligns them, or uses no formatter and breaks no call as one does.
        """
        brackets: list[Bracket] = []
        node: cst.BaseExpression = self.call
        outer = self.document.indentation(self.open)
        while (bracket := bracket_of(self.document, node)) is not None:
            first, last = bracket.parts[0][0], bracket.parts[-1][1]
            before, after = self._gap(bracket.open + 1, first), self._gap(last, bracket.close)
            if "\n" in self._gap(bracket.open, bracket.close) or "\r" in self._gap(bracket.open, bracket.close):
                if "\n" not in before and "\r" not in before:
                    return self._aligned(bracket, new)
                is_one_line = not any(end in self._gap(first, last) for end in "\r\n")
                if is_one_line and after.strip(" \t\r\n,") == before.strip() == "" and after != after.rstrip("\r\n \t"):
                    outer = self.document.indentation(bracket.open)
                    return self._broken([bracket, *brackets], new, outer)
                break
            brackets.insert(0, bracket)
            node = bracket.outer
        aligns = self.document.once(wraps_aligned) or self._is_unformatted()
        if aligns and (below := self._below_its_own([", ".join(new)])) is not None:
            return below
        end = self.document.end(node)
        if _END.fullmatch(self.text, end, self.document.next_line(end)) is None:
            brackets = []
        return self._broken(brackets, new, outer)

    def _is_unformatted(self) -> bool:
        """Whether the call is what a statement keeps or gives back, in a file that no formatter has laid out."""
        return (
            is_what_is_kept(self.document, self.call)
            and self.document.is_beyond_defaults
            and not breaks_calls(self.document)
        )

    def _broken(self, brackets: list[Bracket], new: list[str], outer: str) -> list[Edit]:
        """The brackets around the call broken, the outermost first, as far as the line length asks for it."""
        if not brackets:
            return self._wrapped(new, outer)
        bracket, *rest = brackets
        newline, inner = self.document.newline, outer + self.document.indent_unit(self.call)
        grown = len("".join(f", {one}" for one in new))
        (first, _), (_, last) = bracket.parts[0], bracket.parts[-1]
        edits = [self.document.replacement(bracket.open + 1, first, newline + inner)]
        magic = bracket.has_final_comma or self.items[-1].comma is not None
        if (
            not magic
            and len(inner) + last - first + grown <= self.document.line_length
            and not self._is_broken(bracket)
        ):
            return [*edits, *self._inline(new), self.document.replacement(last, bracket.close, newline + outer)]
        comma = "," if bracket.has_commas and (len(bracket.parts) > 1 or bracket.has_final_comma) else ""
        for (_, end), (start, _) in zip(bracket.parts, bracket.parts[1:], strict=False):
            edits.append(self.document.replacement(end, start, f"{comma}{newline}{inner}"))
        start, end = bracket.part
        own_magic = self.items[-1].comma is not None
        if not own_magic and len(inner) + end - start + grown + len(comma) <= self.document.line_length:
            edits.extend(self._inline(new))
        else:
            edits.extend(self._broken(rest, new, inner))
        return [*edits, self.document.replacement(last, bracket.close, f"{comma}{newline}{outer}")]

    def _is_broken(self, bracket: Bracket) -> bool:
        return any(end in self._gap(bracket.open + 1, bracket.parts[0][0]) for end in "\r\n")

    def _aligned(self, bracket: Bracket, new: list[str]) -> list[Edit]:
        """The call among parts that stand aligned after an opening bracket: on a line of its own, if it fits there,
        else with the new arguments below its own.
        """
        start, end = bracket.part
        grown = len("".join(f", {one}" for one in new)) + 1
        leading = [part for part in bracket.parts[1:] if self._starts_line(_Item(*part, None))]
        indent = self.document.indentation(leading[0][0]) if leading else self._blank_before(bracket.parts[0][0])
        leads = self._starts_line(_Item(start, end, None))
        if bracket.index and not leads and len(indent) + end - start + grown <= self.document.line_length:
            before = self._gap(bracket.parts[bracket.index - 1][1], start).rstrip()
            gap = self.document.replacement(
                bracket.parts[bracket.index - 1][1], start, before + self.document.newline + indent
            )
            return [gap, *self._inline(new)]
        if self.kwargs and len(self.items) == 1:
            return self._wrapped(new, self.document.indentation(self.open))
        return self._below_its_own(new) or self._inline(new)

    def _below_its_own(self, new: list[str]) -> list[Edit] | None:
        """The new arguments aligned below those that the call has. None where there are none, or where the line would
        be too long again.
        """
        if self.kwargs and len(self.items) == 1:
            return None
        last = self.items[-2] if self.kwargs else self.items[-1]
        below = len(self._indent_of(self._line_leader(last))) + max(map(len, new)) + self._tail_after(last.end)
        return self._fill(last, new) if below <= self.document.line_length else None

    def _wrapped(self, new: list[str], outer: str) -> list[Edit]:
        newline = self.document.newline
        inner = outer + self.document.indent_unit(self.call)
        old = [self.text[item.start : item.end] for item in self.items]
        arguments = [*old[:-1], *new, old[-1]] if self.kwargs else [*old, *new]
        magic = self.items[-1].comma is not None
        limit = self.document.line_length
        if self.document.is_beyond_defaults and is_what_is_kept(self.document, self.call):
            limit = self.document.no_limit  # who writes longer lines than formatters would not take eight for one
        if not magic and len(inner) + len(", ".join(arguments)) <= limit:
            separator, final = ", ", ""
        else:
            separator, final = f",{newline}{inner}", ","
        edits = [self.document.replacement(self.open + 1, self.items[0].start, newline + inner)]
        for before, after in zip(self.items, self.items[1:], strict=False):
            gap = separator + (separator.join(new) + separator if self.kwargs and after is self.items[-1] else "")
            if self.text[before.end : after.start] != gap:
                edits.append(self.document.replacement(before.end, after.start, gap))
        last = self.items[-1]
        if self.kwargs:
            if len(self.items) == 1:
                edits[0] = self.document.replacement(
                    self.open + 1, last.start, newline + inner + separator.join(new) + separator
                )
            tail = final
        else:
            tail = separator + separator.join(new) + final
        edits.append(self.document.replacement(last.end, self.close, tail + newline + outer))
        return edits

    # Calls over several lines.

    def _on_lines(self, new: list[str]) -> list[Edit]:
        if self.kwargs and len(self.items) == 1:
            indent = self._indent_of(self.items[0])
            separator = f",{self.document.newline}{indent}"
            return [self.document.insertion(self.items[0].start, separator.join(new) + separator)]
        last = self.items[-2] if self.kwargs else self.items[-1]
        if self._leads_with_comma(last):
            return self._comma_first(last, new)
        if self._is_one_inner_line() and not self._fits(new):
            return [self._as_one(self._wrapped(new, self.document.indentation(self.open)))]
        if self._is_packed(last):
            return self._fill(last, new)
        return self._one_per_line(last, new)

    def _leads_with_comma(self, item: _Item) -> bool:
        return self.text[self.document.line_start(item.start) : item.start].strip() == ","

    def _comma_first(self, last: _Item, new: list[str]) -> list[Edit]:
        comment = _COMMENT_TO_END.match(self.text, last.end)
        lead = self.text[self.document.line_start(last.start) : last.start]
        text = "".join(f"{self.document.newline}{lead}{pair}" for pair in new)
        return [self.document.insertion(comment.end() if comment is not None else last.end, text)]

    def _is_one_inner_line(self) -> bool:
        """Whether the call has the layout that black tries first: all arguments on one line of their own."""
        text = self.text[self.open + 1 : self.close]
        return (
            self._starts_line(self.items[0])
            and len(text.strip().splitlines()) == 1
            and not text.rstrip(" \t").endswith(text.strip())
            and "#" not in text
        )

    def _starts_line(self, item: _Item) -> bool:
        return self.document.line_start(item.start) + len(self.document.indentation(item.start)) == item.start

    def _is_packed(self, last: _Item) -> bool:
        """Whether lines hold several arguments each: then new ones go on after the last as long as they fit. If each of
        the last two has a line of its own, so do new ones, whatever comes before.
        """
        index = self.items.index(last)
        shares_line = [not self._starts_line(item) for item in self.items[1 : index + 1]]
        return any(shares_line[-2:]) or (index == 0 and not self._starts_line(last))

    def _indent_of(self, item: _Item) -> str:
        if self._starts_line(item):
            return self.document.indentation(item.start)
        if self.document.line_start(item.start) == self.document.line_start(self.open):
            return self._blank_before(item.start)
        return self.document.indentation(item.start)

    def _blank_before(self, offset: int) -> str:
        head = self.text[self.document.line_start(offset) : offset]
        return "".join(character if character == "\t" else " " for character in head)

    def _one_per_line(self, last: _Item, new: list[str]) -> list[Edit]:
        return self._below(last, new, f",{self.document.newline}{self._indent_of(last)}")

    def _below(self, last: _Item, new: list[str], separator: str) -> list[Edit]:
        """Put new lines below the line of `last`, whose comma and comment stay on it."""
        newline, _, indent = separator[1:].rpartition(self.document.newline)
        line = f"{newline}{self.document.newline}{indent}"
        joined = separator.join(new)
        if last.comma is None:
            comment = _COMMENT_TO_END.match(self.text, last.end)
            if comment is not None:
                return [self.document.insertion(last.end, ","), self.document.insertion(comment.end(), line + joined)]
            behind = self._comment_of_the_last(last)
            if behind is None:
                return [self.document.insertion(last.end, separator + joined)]
            kept = self.document.insertion(last.end, f",{behind.group()}{line}{joined}")
            return [kept, self.document.replacement(*behind.span(), "")]
        comment = _COMMENT_TO_END.match(self.text, last.comma + 1)
        offset = comment.end() if comment is not None else last.comma + 1
        return [self.document.insertion(offset, line + joined + ",")]

    def _comment_of_the_last(self, last: _Item) -> re.Match[str] | None:
        """The comment behind a call of several lines, which is about the argument before it; none for a tool."""
        if self.close != last.end or self.document.line_start(self.open) == self.document.line_start(self.close):
            return None
        comment = _COMMENT_TO_END.match(self.text, self.close + 1)
        return None if comment is None or is_for_a_tool(comment.group()) else comment

    def _fill(self, last: _Item, new: list[str]) -> list[Edit]:
        offset = last.end if last.comma is None else last.comma
        column = offset - self.document.line_start(offset)
        tail = self._tail_after(offset)
        joined = ", ".join(new)
        commented = _COMMENT_TO_END.match(self.text, (last.comma or last.end - 1) + 1) is not None
        if not commented and column + 2 + len(joined) + tail <= self.document.line_length:
            if last.comma is None:
                return [self.document.insertion(last.end, ", " + joined)]
            return [self.document.insertion(last.comma + 1, f" {joined},")]
        indent = self._indent_of(self.items[0] if last is self.items[0] else self._line_leader(last))
        newline = self.document.newline
        if len(indent) + len(joined) + tail <= self.document.line_length:
            return self._below(last, [joined], f",{newline}{indent}")
        return self._below(last, new, f",{newline}{indent}")

    def _line_leader(self, item: _Item) -> _Item:
        """The first argument on the line of `item`."""
        line = self.document.line_start(item.start)
        return next(other for other in self.items if self.document.line_start(other.start) == line)

    def _tail_after(self, offset: int) -> int:
        """How much closing text follows on the same line."""
        end = self.document.next_line(offset)
        if self.document.line_start(self.close) != self.document.line_start(offset):
            return 1
        return len(self.text[offset:end].rstrip())
