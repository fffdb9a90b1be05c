"""Which message of the editor leads to what. Each handler gets the server, by the annotation of its first parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lsprotocol import types

from torchrepro_lint.lsp.actions import FIX_ALL, FIX_ALL_COMMAND
from torchrepro_lint.lsp.ending import end_process
from torchrepro_lint.lsp.messages import hover
from torchrepro_lint.lsp.server import Server
from torchrepro_lint.toolkit import Toolkit

__all__ = ["make_server"]

_WATCHED = ("**/*.py", "**/*.ipynb", "**/*.toml", "**/*.yaml", "**/*.yml", "**/setup.cfg", "**/*requirements*")


def make_server() -> Server:
    """A server that knows what to do with each message; it has yet to be started."""
    server = Server()
    for methods, handler in _HANDLERS.items():
        for method in methods:
            server.feature(method)(handler)
    kinds = [types.CodeActionKind.QuickFix, FIX_ALL]
    options = types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(_code_action)
    server.command(FIX_ALL_COMMAND)(_fix_all)
    return server


def _initialize(server: Server, params: types.InitializeParams) -> None:
    server.configure(params.initialization_options)


async def _initialized(server: Server, _: types.InitializedParams) -> None:
    if server.watches_files:
        watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        registration = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        await server.client_register_capability_async(types.RegistrationParams([registration]))


async def _changed(server: Server, _: object) -> None:
    server.changed()


async def _disk_changed(server: Server, _: object) -> None:
    server.session.forget()
    server.changed()


async def _configured(server: Server, params: types.DidChangeConfigurationParams) -> None:
    server.configure(params.settings)
    server.changed()


async def _code_action(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    return await server.actions(params)


async def _resolve(server: Server, action: types.CodeAction) -> types.CodeAction:
    if action.edit is None and isinstance(action.data, str):
        action.edit = await server.fix_all(action.data)
    return action


async def _fix_all(server: Server, uri: str) -> None:
    await server.apply_all_fixes(uri)


def _exit(_server: Server, _: object) -> None:
    """End at once: an analysis that is still running would keep the process alive until it is through."""
    end_process(0 if _server.protocol._shutdown else 1)


async def _hover(server: Server, params: types.HoverParams) -> types.Hover | None:
    result = await server.up_to_date()
    shown = [one for _, one in result.shown.get(params.text_document.uri, ())]
    return hover(shown, Toolkit().all_rules(), params.position)


_HANDLERS: Mapping[tuple[str, ...], Callable[[Server, Any], Any]] = {
    (types.INITIALIZE,): _initialize,
    (types.INITIALIZED,): _initialized,
    (
        types.TEXT_DOCUMENT_DID_OPEN,
        types.TEXT_DOCUMENT_DID_CHANGE,
        types.TEXT_DOCUMENT_DID_CLOSE,
        types.NOTEBOOK_DOCUMENT_DID_OPEN,
        types.NOTEBOOK_DOCUMENT_DID_CHANGE,
        types.NOTEBOOK_DOCUMENT_DID_CLOSE,
    ): _changed,
    (
        types.TEXT_DOCUMENT_DID_SAVE,
        types.NOTEBOOK_DOCUMENT_DID_SAVE,
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
    ): _disk_changed,
    (types.WORKSPACE_DID_CHANGE_CONFIGURATION,): _configured,
    (types.CODE_ACTION_RESOLVE,): _resolve,
    (types.TEXT_DOCUMENT_HOVER,): _hover,
    (types.EXIT,): _exit,
}
