"""The language server as an editor meets it: a process that is spoken to over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from lsp.editor import CMD, Editor, applied, open_editor
from lsprotocol import types
from notebooks import PROGRAM
from programs import LOADER, PACKAGE

from torchrepro_lint.cli import main
from torchrepro_lint.lsp.actions import FIX_ALL_COMMAND

LOADER_CALL = types.Range(types.Position(6, 11), types.Position(11, 5))
ORDER = """\
import torch

torch.use_deterministic_algorithms(True)
print(torch.rand(1))
print(*torch.utils.data.DataLoader(range(4), shuffle=True))
"""


def run(root: Path, act: Callable[[Editor], Coroutine[Any, Any, None]], **options: Any) -> None:
    async def session() -> None:
        async with open_editor(root, **options) as editor:
            await act(editor)

    asyncio.run(session())


def codes(found: list[types.Diagnostic]) -> list[str]:
    return [str(one.code) for one in found]


def test_a_finding_as_it_is_shown(write) -> None:
    root = write(PACKAGE)

    async def act(editor: Editor) -> None:
        uri = editor.open(root / "pkg/loader.py")
        found = await editor.diagnostics(uri, 1)
        assert codes(found) == ["TRL101"]
        one = found[0]
        assert one.range == LOADER_CALL
        assert one.severity is types.DiagnosticSeverity.Warning  # which torch the project uses is unknown
        assert one.source == "torchrepro-lint"
        assert one.message.startswith("workers draw from NumPy")
        assert one.code_description is not None
        assert one.code_description.href.endswith("/rules/TRL101/")
        assert one.related_information is not None
        places = [(Path(step.location.uri).name, step.location.range.start.line) for step in one.related_information]
        assert places == [
            ("loader.py", 7),
            ("dataset.py", 12),
            ("dataset.py", 13),
            ("augment.py", 3),
            ("augment.py", 4),
        ]

    run(root, act)


def test_an_open_file_is_told_what_it_breaks_in_another(write) -> None:
    root = write(PACKAGE)

    async def act(editor: Editor) -> None:
        uri = editor.open(root / "pkg/augment.py")
        (one,) = await editor.diagnostics(uri, 1)
        assert (one.code, one.range.start.line) == ("TRL101", 4)
        assert one.message.endswith("loader.py:7:12)")
        assert one.related_information is not None
        assert Path(one.related_information[0].location.uri).name == "loader.py"
        own = editor.open(root / "pkg/loader.py")
        assert [one.code for one in await editor.diagnostics(own, 1)] == ["TRL101"]
        await editor.until(lambda: not editor.shown[uri].diagnostics)

    run(root, act)


def test_the_log_says_once_that_a_program_seeds_nothing(write) -> None:
    text = "from torch.utils.data import DataLoader\n\nloader = DataLoader(range(8), shuffle=True)\n"
    root = write({"torchrepro-lint.toml": "", "train.py": text})

    async def act(editor: Editor) -> None:
        uri = editor.open(root / "train.py")
        assert await editor.diagnostics(uri, 1) == []
        await editor.until(lambda: bool(editor.log))
        editor.replace(uri, 2, text + "\nimport torch\n\ntorch.backends.cudnn.enable = False\n")
        assert codes(await editor.diagnostics(uri, 2)) == ["TRL305"]
        (line,) = editor.log
        assert "1 program seeds nothing for its run" in line and "train.py" in line
        assert editor.messages == []

    run(root, act)


def test_findings_follow_what_is_typed_in_any_file(write) -> None:
    root = write(PACKAGE)

    async def act(editor: Editor) -> None:
        uri = editor.open(root / "pkg/loader.py")
        assert await editor.diagnostics(uri, 1)
        # Nothing is saved: the data set of the other buffer counts.
        other = editor.open(root / "pkg/augment.py", "def jitter(image):\n    return image\n")
        await editor.until(lambda: not editor.shown[uri].diagnostics)
        assert await editor.diagnostics(other, 1) == []
        editor.replace(other, 2, PACKAGE["pkg/augment.py"])
        await editor.until(lambda: editor.shown[uri].diagnostics)
        edit = types.TextDocumentContentChangePartial(types.Range(types.Position(10, 20), types.Position(10, 21)), "0")
        editor.change(uri, 2, [edit])
        assert await editor.diagnostics(uri, 2) == []
        editor.replace(uri, 3, LOADER)
        assert codes(await editor.diagnostics(uri, 3)) == ["TRL101"]
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
        assert await editor.diagnostics(uri, None) == []

    run(root, act)


def test_fixes_one_by_one_and_all_together(write) -> None:
    root = write({**PACKAGE, "torchrepro-lint.toml": 'target-torch = "<1.9"\n'})

    async def act(editor: Editor) -> None:
        uri = editor.open(root / "pkg/loader.py", version=7)
        quick = await editor.actions(uri, types.Range(types.Position(7, 0), types.Position(7, 0)))
        assert [(action.title, action.kind, action.is_preferred) for action in quick] == [
            ("Pass a worker init function (TRL101)", "quickfix", True),
            ("Silence TRL101 here (# noqa)", "quickfix", None),
            ("torchrepro-lint: fix all", "source.fixAll.torchrepro-lint", None),
        ]
        edit = quick[0].edit
        assert edit is not None and edit.document_changes is not None
        assert edit.document_changes[0].text_document.version == 7  # type: ignore[union-attr]
        mended = applied(edit, {uri: LOADER})[uri]
        assert "worker_init_fn=seed_worker" in mended
        compile(mended, "loader.py", "exec")
        assert quick[1].edit is not None
        assert "return DataLoader(  # noqa: TRL101\n" in applied(quick[1].edit, {uri: LOADER})[uri]
        silenced = LOADER.replace("return DataLoader(", "return DataLoader(  # noqa: TRL201")
        editor.replace(uri, 8, silenced)
        await editor.diagnostics(uri, 8)
        (silence,) = [one for one in await editor.actions(uri, LOADER_CALL) if one.title.startswith("Silence TRL101")]
        assert silence.edit is not None
        assert "return DataLoader(  # noqa: TRL201, TRL101\n" in applied(silence.edit, {uri: silenced})[uri]
        editor.replace(uri, 9, LOADER)
        await editor.diagnostics(uri, 9)

        (everything,) = await editor.actions(uri, LOADER_CALL, only=["source.fixAll"])
        assert everything.edit is None
        resolved = await editor.client.code_action_resolve_async(everything)
        assert resolved.edit is not None
        mended = applied(resolved.edit, {uri: LOADER})[uri]
        editor.replace(uri, 10, mended)
        assert await editor.diagnostics(uri, 10) == []
        assert await editor.actions(uri, LOADER_CALL) == []
        assert (root / "pkg/loader.py").read_text() == LOADER
        # What --fix would have written.
        assert main(["--fix", "-q", str(root / "pkg/loader.py")]) == 0
        assert (root / "pkg/loader.py").read_text() == mended

    run(root, act)


def test_columns_count_as_the_editor_counts(write) -> None:
    text = 's = "\U0001f600"; ' + ORDER.replace("\n\n", "\n").rstrip().replace("\n", "; ") + "\n"
    root = write({"torchrepro-lint.toml": 'extend-select = ["TRL201"]\n', "a.py": text})

    async def act(editor: Editor) -> None:
        uri = editor.open(root / "a.py")
        (one,) = await editor.diagnostics(uri, 1)
        line = text.split("\n")[0]
        assert one.range.start.character == len(line[: line.index("torch.utils")].encode("utf-16-le")) // 2
        (fix, *_) = await editor.actions(uri, one.range)
        assert fix.edit is not None
        compile(applied(fix.edit, {uri: text})[uri], "a.py", "exec")

    run(root, act)


def test_an_editor_that_can_do_little(write) -> None:
    root = write({**PACKAGE, "torchrepro-lint.toml": 'target-torch = "<1.9"\n'})

    async def act(editor: Editor) -> None:
        uri = editor.open(root / "pkg/loader.py")
        assert [one.related_information for one in await editor.diagnostics(uri, 1)] == [None]
        (everything,) = await editor.actions(uri, LOADER_CALL, only=["source.fixAll"])
        assert everything.edit is not None and everything.edit.changes is not None
        assert set(everything.edit.changes) == {uri}
        assert editor.registered == []

    run(root, act, capabilities=types.ClientCapabilities())


def test_hovering_shows_what_the_rule_says(write) -> None:
    root = write(PACKAGE)

    async def act(editor: Editor) -> None:
        uri = editor.open(root / "pkg/loader.py")
        found = await editor.hover(uri, 6, 15)
        assert found is not None and isinstance(found.contents, types.MarkupContent)
        assert found.contents.kind is types.MarkupKind.Markdown
        assert found.contents.value.startswith("### TRL101 numpy-rng-in-workers\n\n#### What it does\n\n")
        assert "\n```python\n" in found.contents.value
        assert await editor.hover(uri, 0, 0) is None

    run(root, act)


def test_settings_of_the_editor_and_of_files(write) -> None:
    root = write({"torchrepro-lint.toml": "", "a.py": ORDER, "left/out.py": ORDER})

    async def act(editor: Editor) -> None:
        await editor.until(lambda: editor.registered == ["workspace/didChangeWatchedFiles"])
        uri = editor.open(root / "a.py")
        assert codes(await editor.diagnostics(uri, 1)) == ["TRL201"]
        for table in ({"ignore": ["TRL2"]}, {"torchrepro-lint": {"ignore": ["TRL2"]}}):
            editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(table))
            await editor.until(lambda: not editor.shown[uri].diagnostics)
            editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))
            await editor.until(lambda: editor.shown[uri].diagnostics)

        other = editor.open(root / "left/out.py")
        assert codes(await editor.diagnostics(other, 1)) == ["TRL201"]
        settings = root / "torchrepro-lint.toml"
        settings.write_text('ignore = ["TRL201"]\n')
        event = types.FileEvent(settings.as_uri(), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        await editor.until(lambda: not editor.shown[uri].diagnostics)
        settings.write_text('extend-exclude = ["left"]\n')
        editor.client.text_document_did_save(
            types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(settings.as_uri()))
        )
        await editor.until(lambda: editor.shown[uri].diagnostics)
        assert not editor.shown[other].diagnostics

        settings.write_text("igonre = []\n")
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        await editor.until(lambda: editor.messages)
        assert 'unknown setting; did you mean "ignore"?' in editor.messages[0]
        assert editor.shown[uri].diagnostics

    run(root, act, options={"profile": "default"})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"profil": "strict"}, 'profil: unknown setting; did you mean "profile"?'),
        ({"ignore": ["TRL201", "TRL9x"]}, 'ignore: unknown rule "TRL9x"; did you mean "TRL901"?'),
    ],
)
def test_options_that_are_wrong_are_said_and_left_out(write, options: dict[str, object], told: str) -> None:
    root = write({"torchrepro-lint.toml": "", "a.py": ORDER})

    async def act(editor: Editor) -> None:
        await editor.until(lambda: editor.messages)
        assert editor.messages == [f"torchrepro-lint: the editor's settings: {told}"]
        assert codes(await editor.diagnostics(editor.open(root / "a.py"), 1)) == ["TRL201"]

    run(root, act, options=options)


def test_a_file_that_does_not_parse_is_said_and_the_next_one_goes_on(write) -> None:
    root = write({"torchrepro-lint.toml": "", "a.py": ORDER, "b.py": ORDER})

    async def act(editor: Editor) -> None:
        uri, other = editor.open(root / "a.py"), editor.open(root / "b.py")
        assert codes(await editor.diagnostics(uri, 1)) == ["TRL201"]
        editor.replace(uri, 2, ORDER + "f(")
        (broken,) = await editor.diagnostics(uri, 2)
        assert broken.code == "TRL900"
        assert await editor.actions(uri, broken.range) == []
        found = await editor.hover(uri, broken.range.start.line, broken.range.start.character)
        assert found is not None and "TRL900 unreadable-file" in str(found.contents)
        assert codes(await editor.diagnostics(other, 1)) == ["TRL201"]
        editor.replace(uri, 3, ORDER)
        assert codes(await editor.diagnostics(uri, 3)) == ["TRL201"]

    run(root, act)


def test_a_notebook_is_one_program_and_each_cell_a_document(write) -> None:
    root = write({"torchrepro-lint.toml": 'target-torch = "<1.9"\n'})
    path = root / "a.ipynb"
    sources = [cell["source"][0] if isinstance(cell, dict) else cell for cell in PROGRAM]
    kinds = [
        types.NotebookCellKind.Markup if isinstance(cell, dict) else types.NotebookCellKind.Code for cell in PROGRAM
    ]
    uris = [f"vscode-notebook-cell:{path}#{number}" for number in range(len(PROGRAM))]
    texts = dict(zip(uris, sources, strict=True))

    async def act(editor: Editor) -> None:
        cells = [types.NotebookCell(kind, uri) for kind, uri in zip(kinds, uris, strict=True)]
        notebook = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, cells)
        items = [types.TextDocumentItem(uri, "python", 1, text) for uri, text in texts.items()]
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, items))
        found = await editor.diagnostics(uris[3], 1)
        assert codes(found) == ["TRL101"]
        assert found[0].range.start == types.Position(1, 9)
        assert found[0].related_information is not None
        assert found[0].related_information[1].location.uri == uris[2]
        assert found[0].related_information[1].location.range.start == types.Position(5, 4)
        assert await editor.diagnostics(uris[1], 1) == []

        (everything,) = await editor.actions(uris[3], found[0].range, only=["source.fixAll"])
        resolved = await editor.client.code_action_resolve_async(everything)
        assert resolved.edit is not None
        mended = applied(resolved.edit, texts)
        assert mended[uris[1]].startswith("%matplotlib inline\n!pip install torch\n")
        assert "worker_init_fn=seed_worker" in mended[uris[3]]
        assert {uri for uri in uris if mended[uri] != texts[uri]} == {uris[1], uris[3]}

        # Without its data set the program is another one.
        remove = types.NotebookCellArrayChange(2, 1, [])
        closed = [types.TextDocumentIdentifier(uris[2])]
        structure = types.NotebookDocumentCellChangeStructure(remove, did_close=closed)
        change = types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(structure))
        version = types.VersionedNotebookDocumentIdentifier(2, path.as_uri())
        editor.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(version, change))
        await editor.until(lambda: "TRL101" not in codes(list(editor.shown[uris[3]].diagnostics)))

    run(root, act)


def test_what_was_never_saved_is_looked_at_too(write) -> None:
    settings = 'target-torch = "==1.8"\nextend-select = ["TRL201"]\n'
    root = write({**PACKAGE, "torchrepro-lint.toml": settings})
    text = f"from pkg.dataset import Digits\n{ORDER}".replace("use_deterministic_algorithms(True)", "manual_seed(0)")

    async def act(editor: Editor) -> None:
        uri = editor.open_text("untitled:Untitled-1", text)
        (found,) = await editor.diagnostics(uri, 1)
        assert found.code == "TRL201"
        *_, everything = await editor.actions(uri, found.range, only=["source.fixAll"])
        resolved = await editor.client.code_action_resolve_async(everything)
        assert resolved.edit is not None
        assert "generator=g" in applied(resolved.edit, {uri: text})[uri]
        editor.open_text("git:/pkg/loader.py", text)
        saved = editor.open(root / "pkg/loader.py")
        assert codes(await editor.diagnostics(saved, 1)) == ["TRL101"]
        assert "git:/pkg/loader.py" not in editor.shown

    run(root, act)


def test_an_editor_that_takes_commands_gets_an_answer_before_the_fixes_are_made(write) -> None:
    root = write({**PACKAGE, "torchrepro-lint.toml": 'target-torch = "<1.9"\n'})
    workspace = types.WorkspaceClientCapabilities(apply_edit=True)

    async def act(editor: Editor) -> None:
        uri = editor.open(root / "pkg/loader.py")
        await editor.diagnostics(uri, 1)
        asked: list[types.ApplyWorkspaceEditParams] = []

        @editor.client.feature(types.WORKSPACE_APPLY_EDIT)
        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            asked.append(params)
            return types.ApplyWorkspaceEditResult(applied=True)

        context = types.CodeActionContext(diagnostics=[], only=["source.fixAll"])
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), LOADER_CALL, context)
        # lsprotocol reads an action that has a command as one.
        (everything,) = await editor.client.text_document_code_action_async(params) or ()
        assert isinstance(everything, types.Command)
        assert FIX_ALL_COMMAND in everything.command
        await editor.client.workspace_execute_command_async(types.ExecuteCommandParams(FIX_ALL_COMMAND, [uri]))
        (edit,) = (one.edit for one in asked)
        assert "worker_init_fn=seed_worker" in applied(edit, {uri: LOADER})[uri]

    run(root, act, capabilities=types.ClientCapabilities(workspace=workspace))


def test_an_editor_that_can_do_nothing_waits_only_for_what_it_asks_for(write) -> None:
    root = write(PACKAGE)

    async def act(editor: Editor) -> None:
        uri = editor.open(root / "pkg/loader.py")
        await editor.diagnostics(uri, 1)
        assert {one.kind for one in await editor.actions(uri, LOADER_CALL)} == {"quickfix"}

    run(root, act, capabilities=types.ClientCapabilities())


_SLOW = """
import time
from torchrepro_lint.cli import main
from torchrepro_lint.lsp.session import Session
Session.check = lambda *_: time.sleep(60)
main(["server"])
"""


def test_it_ends_at_once_while_an_analysis_runs(tmp_path: Path) -> None:
    document = {"uri": (tmp_path / "a.py").as_uri(), "languageId": "python", "version": 1, "text": "import torch\n"}
    said = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
    ]
    ends = [{"id": 2, "method": "shutdown"}, {"method": "exit"}]
    server = subprocess.Popen(
        [sys.executable, "-c", _SLOW], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert server.stdin is not None
    for messages in (said, ends):
        for one in messages:
            body = json.dumps({"jsonrpc": "2.0", **one}).encode()
            server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        server.stdin.flush()
        time.sleep(2 if messages is said else 0)
    assert server.wait(timeout=30) == 0
    server.stdin.close()


def test_it_ends_without_a_word(tmp_path: Path) -> None:
    said = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **one}).encode() for one in said]
    server = subprocess.Popen(
        [sys.executable, *CMD], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    _, errors = server.communicate(b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(one), one) for one in bodies))
    assert (server.returncode, errors) == (0, b"")


def test_without_pygls_it_says_what_to_install(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pygls").mkdir()
    (tmp_path / "pygls/__init__.py").write_text("")  # as old ones are: without what is asked for
    ran = subprocess.run(
        [sys.executable, "-m", "torchrepro_lint", "server"],
        env={"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == ('torchrepro-lint: error: the server needs pygls 2: pip install "torchrepro-lint[server]"\n')


def test_a_change_of_a_document_that_is_not_open_is_not_shown(write) -> None:
    root = write({"split.py": ORDER})

    async def act(editor: Editor) -> None:
        editor.replace((root / "other.py").as_uri(), 2, "x = 1\n")
        assert codes(await editor.diagnostics(editor.open(root / "split.py"), 1)) == ["TRL201"]
        assert editor.messages == []

    run(root, act)


@pytest.mark.parametrize(
    "name", ["a%00b.py", "x" * 300 + ".py", "a/" * 3000 + "b.py", "%ff%fe.py", "a%0Ab.py"], ids=range(5)
)
def test_a_document_with_an_impossible_name_does_not_keep_others_from_being_looked_at(name: str, write) -> None:
    root = write(PACKAGE)

    async def act(editor: Editor) -> None:
        editor.open_text(f"file://{root.as_posix()}/{name}", LOADER)
        uri = editor.open(root / "pkg/loader.py")
        assert codes(await editor.diagnostics(uri, 1)) == ["TRL101"]

    run(root, act)
