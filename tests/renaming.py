"""Programs under other names: what a program does stays, and what its author called things is gone."""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import re
import tokenize
from collections.abc import Collection, Iterator

__all__ = ["renamed"]

_WORD = re.compile(r"[^\W\d]\w*")
#: What fixes how the program is started, or is the author's for nobody: `__name__`, `self`, `_`.
_KEPT = frozenset({"self", "cls", "_"})


def renamed(text: str, but: Collection[str] = ()) -> str:
    """The program with each variable, parameter, function and class of its own called by a number: `v1`, `f2`, `C3`.

    A name is the same everywhere in the file. It stays where more than the file's own names hang on it: what is imported
    or built in, what is also a method, a field of a class or a keyword somewhere in the file, and what a text names, a
    string of the program as well as one in an f-string. Attributes stay, and the names in `but`.
    """
    tree = ast.parse(text)
    kept = (
        _KEPT | set(dir(builtins)) | set(keyword.kwlist) | set(keyword.softkwlist) | set(_other_uses(tree)) | set(but)
    )
    new: dict[str, str] = {}
    for kind, name in _own_names(tree):
        if name not in kept and not name.startswith("__"):
            new.setdefault(name, f"{kind}{len(new) + 1}")
    pieces: list[str] = []
    lines = text.splitlines(keepends=True)
    row, column = 1, 0
    imports = {row for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for row in _rows(node)}
    before = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_own = token.type == tokenize.NAME and token.string in new and before != "."
        before = token.string
        if is_own and token.start[0] not in imports:
            pieces += _between(lines, (row, column), token.start)
            pieces.append(new[token.string])
            row, column = token.end
    pieces += _between(lines, (row, column), (len(lines) + 1, 0))
    return "".join(pieces)


def _rows(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> Iterator[str]:
    (row, column), (last, stop) = start, end
    while row < last and row <= len(lines):
        yield lines[row - 1][column:]
        row, column = row + 1, 0
    if row <= len(lines):
        yield lines[row - 1][column:stop]


def _own_names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that the program gives, each with a letter for what it is the name of."""
    methods = {id(one) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for one in node.body}
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name):
                yield "C", name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if id(node) not in methods:
                yield "f", name
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield "v", name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield "v", name


def _other_uses(tree: ast.Module) -> Iterator[str]:
    texts = {id(part) for node in ast.walk(tree) for part in _docstring(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for one in names:
                    yield (one.asname or one.name).partition(".")[0]
            case ast.keyword(arg=str(name)):
                yield name
            case ast.ClassDef(body=body):
                yield from _names_of_a_class(body)
            case ast.JoinedStr():
                yield from (part.id for part in ast.walk(node) if isinstance(part, ast.Name))
            case ast.Constant(value=str(value)) if id(node) not in texts:
                yield from _WORD.findall(value)
            case ast.MatchClass(kwd_attrs=names):
                yield from names


def _docstring(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
        match node.body[0]:
            case ast.Expr(value=ast.Constant(value=str()) as text):
                yield text


def _names_of_a_class(body: list[ast.stmt]) -> Iterator[str]:
    """Methods and attributes, which others have by their names."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (one.id for one in targets if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
