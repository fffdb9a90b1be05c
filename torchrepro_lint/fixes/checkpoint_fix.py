"""The fix that puts what a checkpoint lacks into it, and loads it where the optimizer's state is loaded.

    state = {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}

    optimizer.load_state_dict(state["optimizer"])
    if "scheduler" in state:
        scheduler.load_state_dict(state["scheduler"])

Checkpoints that exist already do not have it, so a run that resumes from one of them goes on as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Edit, Fix
from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.visibility import is_bound_at
from torchrepro_lint.knowledge.function_words import function_words

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.values import Site
    from torchrepro_lint.program.ordering.incomplete_checkpoints import Incomplete
    from torchrepro_lint.program.program import Program

__all__ = ["checkpoint_fix"]

Planned = tuple[Fix | None, str | None]
_STATE_DICT = "state_dict"


@dataclass(frozen=True, slots=True)
class _Kept:
    """The state of the optimizer in a checkpoint: the item of the dict that is saved, and its key."""

    item: cst.DictElement
    key: str


def checkpoint_fix(program: Program, one: Incomplete) -> Planned:
    """Save and load the states that are missing. Unsafe: the checkpoints of a program get another form."""
    if one.save.path != one.load.path:
        return None, "the checkpoint is loaded in another file"
    document = document_of(program, one.save.path)
    save, load = _call_at(program, document, one.save), _call_at(program, document, one.load)
    if save is None or load is None:
        return None, "the calls that save and load could not be located"
    kept = list(_optimizers(document, save))
    if len(kept) != 1:
        return None, "no dict is written out beside this that holds the state of one optimizer"
    loading = list(_loads(document, load, kept[0].key))
    if len(loading) != 1:
        return None, "the state of the optimizer is not loaded in the function that loads the checkpoint"
    loaded_from, at = loading[0]
    edits: list[Edit] = []
    names: list[str] = []
    for _, moved in one.missing:
        name = _name_of(program, moved)
        root = name.partition(".")[0] if name is not None else ""
        if name is None or not (is_bound_at(document, root, save) and is_bound_at(document, root, at)):
            return None, "what is missing has no name in the functions that save and load"
        edits.extend(_edits(document, kept[0], loaded_from, at, name))
        names.append(name)
    return Fix(Applicability.UNSAFE, f"Save and load the state of {' and '.join(names)}", tuple(edits)), None


def _call_at(program: Program, document: Document, site: Site) -> cst.Call | None:
    return document.node_at(*program.parsed(site.path).span(site.number), cst.Call)


def _optimizers(document: Document, save: cst.Call) -> Iterator[_Kept]:
    """The states of optimizers in the dicts that are written out in the function of a call."""
    function = document.function(save)
    for item in document.nodes(cst.DictElement, function):
        if document.function(item) is not function or not isinstance(item.key, cst.SimpleString):
            continue
        match item.value:
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="state_dict"))):
                name = dotted_name(owner)
                key = item.key.evaluated_value
                if name is not None and isinstance(key, str) and function_words("optimizer").search(last_part(name)):
                    yield _Kept(item, key)


def _loads(document: Document, load: cst.Call, key: str) -> Iterator[tuple[str, cst.SimpleStatementLine]]:
    """Where the function of a call loads the state under a key: the name of the checkpoint, and the statement."""
    function = document.function(load)
    for call in document.nodes(cst.Call, function):
        if document.function(call) is not function or len(call.args) != 1:
            continue
        match call:
            case cst.Call(
                func=cst.Attribute(attr=cst.Name(value="load_state_dict")),
                args=[cst.Arg(value=cst.Subscript(value=cst.Name(value=name), slice=[element]))],
            ):
                index = element.slice
                statement = document.statement(call)
                if (
                    isinstance(index, cst.Index)
                    and isinstance(index.value, cst.SimpleString)
                    and index.value.evaluated_value == key
                    and isinstance(statement, cst.SimpleStatementLine)
                ):
                    yield name, statement


def _name_of(program: Program, moved: Site) -> str | None:
    """The name of what a call moves on, `scheduler` in `scheduler.step()`, or of what it makes."""
    document = document_of(program, moved.path)
    call = _call_at(program, document, moved)
    if call is None:
        return None
    if isinstance(call.func, cst.Attribute) and call.func.attr.value in ("step", "update"):
        return dotted_name(call.func.value)
    made = document.parent(call)
    if isinstance(made, cst.Assign) and len(made.targets) == 1:
        return dotted_name(made.targets[0].target)
    return None


def _edits(document: Document, kept: _Kept, loaded_from: str, at: cst.SimpleStatementLine, name: str) -> Iterator[Edit]:
    key = f'"{last_part(name)}{"_" + _STATE_DICT if kept.key.endswith("_" + _STATE_DICT) else ""}"'
    item, end = kept.item, document.end(kept.item.value)
    start = document.start(item.key)
    apart = document.text[document.line_start(start) : start]
    glue = f",{document.newline}{apart}" if not apart.strip() else ", "
    yield document.insertion(end, f"{glue}{key}: {name}.{_STATE_DICT}()")
    indent = document.indentation(document.start(at))
    lines = (
        f"{indent}if {key} in {loaded_from}:",
        f"{indent}{document.indent_unit(at)}{name}.load_state_dict({loaded_from}[{key}])",
    )
    text = "".join(line + document.newline for line in lines)
    yield document.insertion(document.next_line(document.end(at)), text)
