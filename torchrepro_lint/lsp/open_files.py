"""The files and notebooks that are open in the editor, as the editor's documents hold them."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument, Workspace

from torchrepro_lint.lsp.buffers import Buffer, Buffers, Document
from torchrepro_lint.source.cells import Cell, is_notebook, join
from torchrepro_lint.source.root import absolute

__all__ = ["open_buffers"]


def open_buffers(workspace: Workspace) -> Buffers:
    """The open files as they are now."""
    found: list[Buffer] = []
    in_notebooks: set[str] = set()
    for notebook in workspace.notebook_documents.values():
        in_notebooks.update(cell.document for cell in notebook.cells)
        path = _path(workspace, notebook.uri)
        if path is None or not is_notebook(path):
            continue
        cells: list[Cell] = []
        documents: dict[int | None, Document] = {}
        for number, cell in enumerate(notebook.cells, 1):
            document = workspace.get_text_document(cell.document)
            if cell.kind is types.NotebookCellKind.Code and document.language_id == "python":
                cells.append(Cell(number, document.source))
                documents[number] = Document(document.uri, document.version)
        found.append(Buffer(path, join(cells), documents))
    for document in workspace.text_documents.values():
        path = _path(workspace, document.uri)
        if document.uri not in in_notebooks and path is not None and _is_python(path, document):
            found.append(Buffer(path, document.source, {None: Document(document.uri, document.version)}))
    return Buffers(found, str(getattr(workspace.position_encoding, "value", "utf-16")))


def _path(workspace: Workspace, uri: str) -> Path | None:
    """The file that a URI names, None where it names none, or one that the system can have no file for. What was never
    saved lies in the editor's folder.
    """
    scheme, _, name = uri.partition(":")
    if scheme == "file":
        on_disk = to_fs_path(uri)
        path = Path(on_disk) if on_disk else None
    elif scheme == "untitled" and name:
        path = Path(workspace.root_path or ".", name)
        path = path if path.suffix else path.with_suffix(".py")
    else:
        path = None
    return absolute(path) if path is not None and _may_be(path) else None


def _may_be(path: Path) -> bool:
    try:
        path.lstat()
        str(path).encode()  # what is not UTF-8 in a URI has no name in the messages to the editor
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return True
    except (OSError, ValueError):  # too long, a null character
        return False
    return True


def _is_python(path: Path, document: TextDocument) -> bool:
    return not is_notebook(path) and (document.language_id == "python" or path.suffix == ".py")
