"""An editor for tests: pygls' own client, talking to the server in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

__all__ = ["Editor", "applied", "open_editor"]

TIMEOUT = 600  # for what hangs: how long an answer takes says how busy the machine is
CMD = ("-m", "torchrepro_lint", "server", "--stdio")

FULL = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    ),
    text_document=types.TextDocumentClientCapabilities(
        publish_diagnostics=types.PublishDiagnosticsClientCapabilities(related_information=True),
        code_action=types.CodeActionClientCapabilities(
            resolve_support=types.ClientCodeActionResolveOptions(properties=["edit"])
        ),
    ),
    notebook_document=types.NotebookDocumentClientCapabilities(types.NotebookDocumentSyncClientCapabilities()),
)


class Editor:
    """What a person does in an editor, and what the editor shows."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.shown: dict[str, types.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self.log: list[str] = []
        self.registered: list[str] = []
        self._news = asyncio.Event()

    def open(self, path: Path, text: str | None = None, version: int = 1) -> str:
        return self.open_text(path.as_uri(), path.read_text() if text is None else text, version)

    def open_text(self, uri: str, text: str, version: int = 1) -> str:
        item = types.TextDocumentItem(uri, "python", version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, version: int, changes: Sequence[Any]) -> None:
        document = types.VersionedTextDocumentIdentifier(version, uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    def replace(self, uri: str, version: int, text: str) -> None:
        self.change(uri, version, [types.TextDocumentContentChangeWholeDocument(text)])

    async def diagnostics(self, uri: str, version: int | None) -> list[types.Diagnostic]:
        """What is shown of a document, once it is about that version."""
        await self.until(lambda: uri in self.shown and self.shown[uri].version == version)
        return list(self.shown[uri].diagnostics)

    async def until(self, condition: Any) -> None:
        async def wait() -> None:
            while not condition():
                self._news.clear()
                await self._news.wait()

        await asyncio.wait_for(wait(), TIMEOUT)

    async def actions(self, uri: str, place: types.Range, only: Sequence[str] | None = None) -> list[types.CodeAction]:
        context = types.CodeActionContext(diagnostics=[], only=only)
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
        )
        return [action for action in found or [] if isinstance(action, types.CodeAction)]

    async def hover(self, uri: str, line: int, character: int) -> types.Hover | None:
        at = types.Position(line, character)
        return await self.client.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(uri), at))

    def told(self) -> None:
        self._news.set()


@asynccontextmanager
async def open_editor(
    root: Path, capabilities: types.ClientCapabilities = FULL, options: object = None
) -> AsyncIterator[Editor]:
    """An editor that has opened the folder `root`."""
    client = LanguageClient("editor", "1")
    editor = Editor(client)

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def shown(params: types.PublishDiagnosticsParams) -> None:
        editor.shown[params.uri] = params
        editor.told()

    @client.feature(types.WINDOW_SHOW_MESSAGE)
    def message(params: types.ShowMessageParams) -> None:
        editor.messages.append(params.message)
        editor.told()

    @client.feature(types.WINDOW_LOG_MESSAGE)
    def logged(params: types.LogMessageParams) -> None:
        editor.log.append(params.message)
        editor.told()

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        editor.registered += [one.method for one in params.registrations]
        editor.told()

    await client.start_io(sys.executable, *CMD, cwd=str(root))
    await asyncio.wait_for(
        client.initialize_async(
            types.InitializeParams(capabilities, root_uri=root.as_uri(), initialization_options=options)
        ),
        TIMEOUT,
    )
    client.initialized(types.InitializedParams())
    try:
        yield editor
    finally:
        await asyncio.wait_for(client.shutdown_async(None), TIMEOUT)
        client.exit(None)
        await asyncio.wait_for(client.stop(), TIMEOUT)


def applied(edit: types.WorkspaceEdit, texts: dict[str, str], encoding: str = "utf-16-le") -> dict[str, str]:
    """The texts of documents with an edit made in them, as an editor makes it."""
    result = dict(texts)
    changes = dict(edit.changes or {})
    for change in edit.document_changes or []:
        assert isinstance(change, types.TextDocumentEdit)
        changes[change.text_document.uri] = change.edits  # type: ignore[assignment]
    for uri, edits in changes.items():
        lines = result[uri].split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)

        def offset(at: types.Position, lines: list[str] = lines, starts: list[int] = starts) -> int:
            assert at.line < len(lines), "behind the end"
            data = lines[at.line].encode(encoding)
            assert at.character * 2 <= len(data)
            return starts[at.line] + len(data[: at.character * 2].decode(encoding))

        spans = [(offset(one.range.start), offset(one.range.end), n, one.new_text) for n, one in enumerate(edits)]
        for start, end, _, new in sorted(spans, reverse=True):
            result[uri] = result[uri][:start] + new + result[uri][end:]
    return result
