"""Taking out an import that nothing needs any more once a part of the code is replaced."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence, Set

import libcst as cst

from torchrepro_lint.diagnostics import Edit
from torchrepro_lint.fixes.document import Document
from torchrepro_lint.fixes.scopes import Binding

__all__ = ["drop_unused_imports", "newly_unused_imports"]

# No fix needs these, so that none that goes in at the same time can rely on the import.
_ENTROPY = frozenset({"time", "uuid", "datetime", "secrets", "hashlib", "socket", "struct", "binascii"})
_FOR_THEIR_NAMES = sys.stdlib_module_names | {"numpy"}


def drop_unused_imports(document: Document, replaced: Sequence[cst.CSTNode], kept: str = "") -> list[Edit]:
    """The deletions of module-level imports of entropy whose names only the nodes `replaced` read.

    `kept` is the text that is put there. An import stays if it may be there for others: in an `__init__.py`, with a
    comment, or where its name is in a string, as in `__all__`.
    """
    if document.path.name == "__init__.py":
        return []
    inside = {id(node) for root in replaced for node in document.walk(root)}
    names = {node.value for root in replaced for node in document.walk(root) if isinstance(node, cst.Name)}
    edits = []
    for name in sorted(names):
        node = _import_from(document, name, _ENTROPY)
        if node is None or name in kept or _is_read(document, name, node, inside):
            continue
        edit = _without(document, node)
        edits += [edit] if edit is not None else []
    return edits


def newly_unused_imports(before: Document, after: Document, others: Callable[[], Iterable[bytes]]) -> list[Edit]:
    """The deletions from `after` of module-level imports that it needs no more, though `before` did: those of the
    standard library and of NumPy, which are imported for their names alone, and of constants of a package around the
    file (`from .. import SEED`), which Python has imported before the file.

    Several fixes that go in together may each leave the import to the others. `others` gives the other files of the
    project: what one of them may take from this file stays.
    """
    if after.path.name == "__init__.py":
        return []
    edits = []
    for name in sorted(after.scope.bindings):
        node = _imported(after, name)
        if node is None or _is_read(after, name, node):
            continue
        old = _imported(before, name)
        edit = _without(after, node) if old is not None and _is_read(before, name, old) else None
        if edit is not None and not any(map(_takes(after, name).search, others())):
            edits.append(edit)
    return edits


def _takes(document: Document, name: str) -> re.Pattern[bytes]:
    """What a file says that may take a name from a module: `from utils import *`, `from utils import time`."""
    module, own = re.escape(document.path.stem.encode()), re.escape(name.encode())
    return re.compile(rb"\bfrom\s+[\w.]*\b%s\s+import\b[^\n]*(\*|\(|\b%s\b)" % (module, own))


def _imported(document: Document, name: str) -> cst.CSTNode | None:
    """The import that alone binds a name, if it is there for the name."""
    found = _import_from(document, name, _FOR_THEIR_NAMES)
    only = _only_import(document, name) if found is None and name.isupper() else None
    return only.node if only is not None and only.target is not None and set(only.target[0]) == {"."} else found


def _import_from(document: Document, name: str, modules: Set[str]) -> cst.CSTNode | None:
    """The import that alone binds a name of the module, if it is one of these modules or of what is in them."""
    only = _only_import(document, name)
    return only.node if only is not None and only.target and only.target[0].partition(".")[0] in modules else None


def _only_import(document: Document, name: str) -> Binding | None:
    """The binding of a name of the module that only an import binds."""
    bindings = document.scope.bindings.get(name, [])
    return bindings[0] if len(bindings) == 1 and bindings[0].target is not None else None


def _is_read(document: Document, name: str, node: cst.CSTNode, apart: Set[int] = frozenset()) -> bool:
    """Whether anything but the import `node` itself, and the nodes `apart`, by id, mentions its name."""
    statement = document.parent(node)
    module = statement.module if isinstance(statement, cst.ImportFrom) else None
    own = {id(part) for root in (node, module) if root is not None for part in document.walk(root)}
    return any(_speaks_of(part, name) for part in document.walk() if id(part) not in own and id(part) not in apart)


def _speaks_of(node: cst.CSTNode, name: str) -> bool:
    match node:
        case cst.Name(value=value):
            return value == name
        case cst.SimpleString(value=text):
            # `__all__ = ["time"]`, `x: "Optional[time]"`, `eval("time.time() - begun")`; not "the time: 3 s".
            end = r"(?!\w)" if not re.search(r"\s", text) else r"\s*[.(\[]"
            return re.search(rf"(?<!\w){re.escape(name)}{end}", text) is not None
    return False


def _without(document: Document, alias: cst.CSTNode) -> Edit | None:
    """The deletion of a line that imports one name, or of one name that is the first or the last of several."""
    statement = document.parent(alias)
    line = document.parent(statement) if statement is not None else None
    if not isinstance(line, cst.SimpleStatementLine) or not isinstance(statement, cst.Import | cst.ImportFrom):
        return None
    if document.parent(line) is not document.module or len(line.body) > 1:
        return None
    if line.trailing_whitespace.comment is not None or isinstance(statement.names, cst.ImportStar):
        return None
    names = list(statement.names)
    if len(names) == 1:
        start, end = document.line_start(document.start(line)), document.next_line(document.end(line) - 1)
        if _is_blank(document, end) and (start == 0 or _is_blank(document, document.line_start(start - 1))):
            end = document.next_line(end)  # it was a section by itself
        return document.replacement(start, end, "")
    spans = [document.span(name) for name in names]
    if alias is names[0]:
        return document.replacement(document.start(alias), spans[1][0], "")
    before = document.text[: document.start(alias)].rstrip(" \t")
    if alias is names[-1] and before.endswith(","):
        return document.replacement(len(before) - 1, document.end(alias), "")
    return None


def _is_blank(document: Document, line_start: int) -> bool:
    return line_start < len(document.text) and not document.text[line_start : document.next_line(line_start)].strip()
