"""What a file says of the release of a library that it runs with, by the names that it takes from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.old_names import last_release_with

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.program.program import Program

__all__ = ["newest_release"]


def newest_release(program: Program, path: Path, package: str) -> str | None:
    """The newest release of a package that has all that a file takes from it; None where nothing has gone since."""

    def find() -> str | None:
        facts = program.facts(path)
        return last_release_with(package, _uses_of(facts, package)) if facts is not None else None

    return program.once(("newest release", path, package), find)


def _uses_of(facts: ModuleFacts, package: str) -> Iterator[tuple[str, str | None]]:
    """The dotted names that a file imports from a package, or calls by way of an import, as far as its text shows, and
    with each name once more every keyword of a call of it.
    """
    imported: dict[str, str] = {}
    for scope in facts.walk_scopes():
        for name, bindings in scope.bindings.items():
            for binding in bindings:
                match binding.node:
                    case tree.Import(module=module, alias=alias) if _is_of(module, package):
                        imported[name] = module if alias else package
                    case tree.ImportFrom(module=module, level=0, names=names) if _is_of(module, package):
                        for own, alias in names:
                            if (alias or own) == name:
                                imported[name] = f"{module}.{own}"
    yield from ((name, None) for name in imported.values())
    for scope in facts.walk_scopes():
        for call, _ in scope.calls:
            root, *rest = _parts(call.func)
            if root in imported:
                name = ".".join((imported[root], *rest))
                yield from ((name, keyword) for keyword in (None, *(arg.keyword for arg in call.args)))


def _is_of(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _parts(node: tree.Expr) -> list[str]:
    """The names of a dotted expression; one that is empty for any other."""
    parts: list[str] = []
    while isinstance(node, tree.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, tree.Name) else [""]
