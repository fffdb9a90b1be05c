"""The server of one editor: when the analysis runs, and what it answers.

The analysis runs in a thread of its own, some time after the last change; what an action or a hover is asked about is
the result for the documents as they are then, waited for where it is still being made.
"""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import FeatureNotificationError, JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from torchrepro_lint import __version__
from torchrepro_lint.diagnostics import Finding, TorchReproLintError
from torchrepro_lint.engine import Report
from torchrepro_lint.fix_report import Change
from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.lsp.actions import (
    FIX_ALL,
    FIX_ALL_COMMAND,
    changes_of,
    fix_action,
    noqa_action,
    wanted,
    workspace_edit,
)
from torchrepro_lint.lsp.buffers import Buffers
from torchrepro_lint.lsp.messages import diagnostic
from torchrepro_lint.lsp.open_files import open_buffers
from torchrepro_lint.lsp.session import EDITOR, Session
from torchrepro_lint.report.at_steps import told_at_steps
from torchrepro_lint.report.summary import left_to_strict
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.settings import override_from_table
from torchrepro_lint.source.stamps import stamp
from torchrepro_lint.source.text import SourceError, read_bytes

__all__ = ["Server"]

# Seconds without a change after which the analysis runs.
DELAY = 0.25
# A question to the program may nest thousands of calls deep; threads get far less room for that than the main one.
_STACK = 64 * 1024 * 1024
# How often all fixes of a file are made anew because something has changed meanwhile.
_TRIES = 5
# A comment is no answer to a file that cannot be read, or to a comment that silences nothing.
_NOT_SILENCED = frozenset(rule.code for rule in HOUSEKEEPING)


@dataclass(frozen=True, slots=True)
class _Result:
    """The findings for the documents of one moment, and the diagnostics that they became, by document. `closed` are the
    files that are not open and that fixes would change, with when they were written.
    """

    buffers: Buffers
    report: Report = field(default_factory=Report)
    shown: Mapping[str, list[tuple[Finding, types.Diagnostic]]] = field(default_factory=dict)
    closed: Mapping[Path, object] = field(default_factory=dict)


class _Protocol(LanguageServerProtocol):
    """The protocol, with an answer to each request: also to one whose parameters are not what they should be."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and isinstance(data.get("id"), int | str):
                self._send_response(data["id"], error=error.to_response_error())
            raise


class Server(LanguageServer):
    """The server of one editor."""

    def __init__(self) -> None:
        super().__init__(
            "torchrepro-lint",
            __version__,
            notebook_document_sync=types.NotebookDocumentSyncOptions(
                [types.NotebookDocumentFilterWithNotebook("jupyter-notebook", [types.NotebookCellLanguage("python")])]
            ),
            protocol_cls=_Protocol,
        )
        self.session = Session()
        self.result = _Result(Buffers(()))
        self._pool = _thread_with_deep_stack()
        self._task: asyncio.Task[None] | None = None
        self._changes = 0
        self._last_error: str | None = None
        self._last_note: str | None = None

    # When the analysis runs.

    def changed(self) -> None:
        """Something has changed that findings may depend on."""
        self._changes += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._analyse())

    async def up_to_date(self) -> _Result:
        """The result for the documents as they are."""
        while self._task is not None and not self._task.done():
            await asyncio.shield(self._task)
        return self.result

    async def in_thread(self, function: Any, *arguments: Any) -> Any:
        """What a function of the session gives. One runs at a time."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    async def _analyse(self) -> None:
        seen = -1
        while seen != self._changes:
            seen = self._changes
            await asyncio.sleep(DELAY)
            if seen != self._changes:
                continue
            buffers = open_buffers(self.workspace)
            try:
                report = await self.in_thread(self.session.check, buffers.texts)
            except TorchReproLintError as error:
                self._show_error(str(error))
                continue
            except Exception:
                # A fault of the tool is no reason to fall silent for the rest of the day.
                self._log(traceback.format_exc())
                continue
            self._last_error = None
            if seen == self._changes:
                self._publish(buffers, report)

    def _publish(self, buffers: Buffers, report: Report) -> None:
        shown: dict[str, list[tuple[Finding, types.Diagnostic]]] = {one.uri: [] for one in buffers.documents()}
        broken = told_at_steps(report.elsewhere, buffers.by_path, Texts(buffers.texts))
        for finding in (*report.findings, *broken):
            uri = buffers.document(finding.location.path, finding.location.start.row).uri
            shown[uri].append((finding, diagnostic(finding, buffers, related=self._can_relate)))
        versions = {document.uri: document.version for document in buffers.documents()}
        for uri in {**self.result.shown, **shown}:
            own = [one for _, one in shown.get(uri, ())]
            if own or self.result.shown.get(uri) or uri not in self.result.shown:
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, own, versions.get(uri)))
        for error in report.errors:
            self._log(error)
        self._note(left_to_strict(report.left, Texts()))
        edited = {edit.path for one in report.findings if one.fix is not None for edit in one.fix.edits}
        closed = {path: stamp(path) for path in edited.difference(buffers.texts)}
        self.result = _Result(buffers, report, shown, closed)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """What went wrong with a message that waits for no answer, such as a change of a document that was never
        opened, goes to the log: the person at the editor can do nothing about it.
        """
        if source is FeatureNotificationError:
            self._log(str(error))
        else:
            super().report_server_error(error, source)

    def _log(self, text: str) -> None:
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, text))

    def _note(self, text: str | None) -> None:
        """A remark on what is not shown goes to the log, once and not after each key."""
        if text is not None and text != self._last_note:
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, text))
        self._last_note = text

    def _show_error(self, text: str) -> None:
        """Say what is wrong with the settings, once and not after each key."""
        if text != self._last_error:
            self._last_error = text
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"torchrepro-lint: {text}"))

    # What the editor can do.

    @property
    def _can_relate(self) -> bool:
        text = self.client_capabilities.text_document
        return bool(text and text.publish_diagnostics and text.publish_diagnostics.related_information)

    @property
    def has_versions(self) -> bool:
        """Whether the editor takes edits of documents of a version."""
        workspace = self.client_capabilities.workspace
        return bool(workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes)

    @property
    def resolves_edits(self) -> bool:
        """Whether the editor asks for the edit of an action when it is chosen."""
        text = self.client_capabilities.text_document
        support = text.code_action.resolve_support if text and text.code_action else None
        return support is not None and "edit" in support.properties

    @property
    def applies_edits(self) -> bool:
        """Whether the editor makes an edit that the server asks for."""
        workspace = self.client_capabilities.workspace
        return bool(workspace and workspace.apply_edit)

    @property
    def watches_files(self) -> bool:
        """Whether the editor can be asked to tell of changes on the disk."""
        workspace = self.client_capabilities.workspace
        watched = workspace.did_change_watched_files if workspace else None
        return bool(watched and watched.dynamic_registration)

    # Answers.

    def configure(self, table: object) -> None:
        """Take the editor's settings: a table as in `torchrepro-lint.toml`, perhaps under the name of the tool."""
        if isinstance(table, Mapping):
            table = table.get("torchrepro-lint", table)
        try:
            self.session.configure(override_from_table(table, EDITOR) if isinstance(table, Mapping) else {})
        except TorchReproLintError as error:
            self._show_error(str(error))
            self.session.configure({})

    async def fix_all(self, uri: str) -> types.WorkspaceEdit | None:
        """All that `--fix` would change for a file, None where that is nothing, or where files change all the time."""
        for _ in range(_TRIES):
            result = await self._of_present_texts()
            path = result.buffers.path_of(uri) if result is not None else None
            if result is None or path is None or not any(result.report.may_fix(one) for one in _of_file(result, path)):
                return None
            seen = self._changes
            fixed = await self.in_thread(self.session.fixed, path, result.buffers.texts)
            if seen == self._changes and all(_is_as_read(change, result.buffers) for change in fixed.changes):
                edits = [edit for change in fixed.changes for edit in changes_of(change)]
                return workspace_edit(edits, result.buffers, versions=self.has_versions) if edits else None
        return None

    async def apply_all_fixes(self, uri: str) -> None:
        """Have the editor make all that `--fix` would change for a file."""
        edit = await self.fix_all(uri)
        if edit is not None:
            await self.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, "torchrepro-lint: fix all"))

    async def _of_present_texts(self) -> _Result | None:
        """The result whose edits may be offered: of the texts that the editor has now, and of what is on the disk. None
        where there is none, as after a fault of the tool.
        """
        result = await self.up_to_date()
        return result if open_buffers(self.workspace).texts == result.buffers.texts else None

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The actions for a place in a document."""
        result = await self._of_present_texts()
        if result is None:
            return []
        uri, only = params.text_document.uri, params.context.only
        actions: list[types.CodeAction] = []
        if wanted(types.CodeActionKind.QuickFix.value, only):
            here = [pair for pair in result.shown.get(uri, ()) if _overlap(pair[1].range, params.range)]
            for finding, shown in here:
                if finding.fix is not None and self.session.may_edit(finding.fix, result.buffers.texts, result.closed):
                    actions.append(fix_action(finding, shown, result.buffers, versions=self.has_versions))
            for finding, shown in here:
                if finding.code not in _NOT_SILENCED:
                    actions.append(noqa_action(finding, shown, result.buffers, versions=self.has_versions))
        path = result.buffers.path_of(uri)
        if wanted(FIX_ALL, only) and path is not None:
            if any(result.report.may_fix(one) for one in _of_file(result, path)):
                everything = types.CodeAction("torchrepro-lint: fix all", FIX_ALL, data=uri)
                if not self.resolves_edits and self.applies_edits:
                    # All fixes take seconds; the editor has its answer now, and the edit when the action is chosen.
                    everything.command = types.Command(everything.title, FIX_ALL_COMMAND, arguments=[uri])
                elif not self.resolves_edits and only is not None:
                    everything.edit = await self.fix_all(uri)
                if self.resolves_edits or everything.command is not None or everything.edit is not None:
                    actions.append(everything)
        return actions


def _thread_with_deep_stack() -> ThreadPoolExecutor:
    pool = ThreadPoolExecutor(1, "analysis")
    before = threading.stack_size(_STACK)
    try:
        pool.submit(int).result()  # the thread begins with its first task
    finally:
        threading.stack_size(before)
    return pool


def _is_as_read(change: Change, buffers: Buffers) -> bool:
    """Whether a file that would be changed still is what the change is of: that of an open one is seen elsewhere."""
    path = change.source.path
    try:
        return path in buffers.texts or read_bytes(path) == change.source.data
    except SourceError:
        return False


def _of_file(result: _Result, path: Path) -> list[Finding]:
    return [finding for finding in result.report.findings if finding.location.path == path]


def _overlap(one: types.Range, other: types.Range) -> bool:
    def key(position: types.Position) -> tuple[int, int]:
        return position.line, position.character

    return key(one.start) <= key(other.end) and key(other.start) <= key(one.end)
