"""Fixes as code actions: one for each finding, one for all of a file, and one that silences a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types

from torchrepro_lint.diagnostics import Applicability, Edit, Finding
from torchrepro_lint.fix_report import Change
from torchrepro_lint.fixes.noqa_fix import silencing
from torchrepro_lint.lsp.buffers import Buffers, Document
from torchrepro_lint.source.cells import python_text
from torchrepro_lint.source.line_changes import line_changes
from torchrepro_lint.source.text import split_lines

__all__ = ["FIX_ALL", "FIX_ALL_COMMAND", "changes_of", "fix_action", "noqa_action", "wanted", "workspace_edit"]

FIX_ALL = "source.fixAll.torchrepro-lint"
#: The command by which an editor has all fixes of a document made; its argument is the document's URI.
FIX_ALL_COMMAND = "torchrepro-lint.fixAll"


def wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether the editor asks for actions of a kind: it names it, or a kind above it, or names none."""
    return only is None or any(kind == one or kind.startswith(f"{one}.") for one in only)


def fix_action(finding: Finding, shown: types.Diagnostic, buffers: Buffers, *, versions: bool) -> types.CodeAction:
    """The fix of a finding that has one. The editor may offer a safe one with a key."""
    assert finding.fix is not None
    safe = finding.fix.applicability is Applicability.SAFE
    return types.CodeAction(
        title=f"{finding.fix.message} ({finding.code})" + ("" if safe else ", to be reviewed afterwards"),
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[shown],
        is_preferred=safe,
        edit=workspace_edit(finding.fix.edits, buffers, versions=versions),
    )


def noqa_action(finding: Finding, shown: types.Diagnostic, buffers: Buffers, *, versions: bool) -> types.CodeAction:
    """A comment that silences the finding, where `--add-noqa` puts it."""
    path = finding.location.path
    text = buffers.texts[path]
    return types.CodeAction(
        title=f"Silence {finding.code} here (# noqa)",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[shown],
        edit=workspace_edit(silencing(path, text, python_text(path, text), [finding]), buffers, versions=versions),
    )


def changes_of(change: Change) -> Iterator[Edit]:
    """The edits, of whole lines, that make the new text of a file out of the old one."""
    old, new = split_lines(change.source.text), split_lines(change.text)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    for kind, first, last, new_first, new_last in line_changes(old, new):
        if kind != "equal":
            yield Edit(change.source.path, starts[first], starts[last], "".join(new[new_first:new_last]))


def workspace_edit(edits: Iterable[Edit], buffers: Buffers, *, versions: bool) -> types.WorkspaceEdit:
    """Edits of one file or more as the protocol has them. With `versions`, for editors that refuse an edit of a
    document that has changed since.
    """
    by_document: dict[Document, list[types.TextEdit]] = {}
    for document, edit in map(buffers.edit, edits):
        by_document.setdefault(document, []).append(edit)
    if not versions:
        return types.WorkspaceEdit(changes={document.uri: own for document, own in by_document.items()})
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version), own)
            for document, own in by_document.items()
        ]
    )
