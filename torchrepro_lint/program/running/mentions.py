"""What each definition of a file mentions: names, modules that are passed on as a whole, and means of reaching things
that are not named in the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, uncalled
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Binding
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.modules import folder_of
from torchrepro_lint.program.running.call_index import called_name
from torchrepro_lint.program.running.guards import is_main_guard
from torchrepro_lint.program.running.parents import Node, children
from torchrepro_lint.program.running.statements import blocks_of

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["LOADING", "SCRIPT", "Mentions", "mentions_of"]

#: Who mentions a name: a definition of the module by its own name, or code that runs as the module is loaded, or as it
#: is run as a script.
LOADING = ""
SCRIPT = "__main__"
_DEFINITIONS = ("function", "class")
_IMPORTS = ("import", "import-from")
_OUTSIDE = Path()  # stands for all that is not the project's
#: What stands between the names of a text: `models/unet.py:UNet`.
_SEPARATOR = re.compile(r"[./:]")


@dataclass(slots=True, eq=False)
class Mentions:
    """What one file mentions, grouped by the definitions that mention it."""

    #: For each name who mentions it, and the file that defines what is meant, where that is known.
    names: dict[str, set[tuple[str, Path | None]]] = field(default_factory=dict)
    modules: set[tuple[str, Path]] = field(default_factory=set)  # that are handed on whole
    own_table: set[str] = field(default_factory=set)  # by whom names of the module are looked up
    anything: set[str] = field(default_factory=set)
    outside: dict[str, set[str]] = field(default_factory=dict)  # who names what of other packages, by its dotted name
    bound: set[str] = field(default_factory=set)

    def note(self, name: str, who: str, definer: Path | None = None) -> None:
        self.names.setdefault(name, set()).add((who, definer))


def mentions_of(program: Program, facts: ModuleFacts) -> Mentions:
    """All that a file mentions; found once."""
    return program.ev.remembered(("mentions", id(facts)), lambda: _mentions(program, facts), Mentions())


def _mentions(program: Program, facts: ModuleFacts) -> Mentions:
    found = Mentions(bound=set(facts.scope.bindings))
    imports = _Imports(program, facts)
    chains: set[tuple[str, str]] = set()
    # Nothing below an import that surely fails is defined, and nothing there runs.
    end = next((place for place, one in enumerate(facts.body) if one.site in facts.scope.raises), None)
    pending: list[tuple[Node, str]] = list(_parts(facts.body[:end], LOADING))
    while pending:
        node, who = pending.pop()
        match node:
            case tree.Import():
                imports.note(node)
            case tree.ImportFrom():
                imports.note_from(node)
            case tree.Name(id=name):
                chains.add((who, name))
            case tree.Attribute(value=value, attr=attr):
                dotted = dotted_name(value)
                if dotted is not None:
                    chains.add((who, dotted if attr == "__dict__" else f"{dotted}.{attr}"))
                    continue
                found.note(attr, who)
                if _finds_anything(attr):
                    found.anything.add(who)
            case tree.Const(value=str(text)):
                for part in filter(str.isidentifier, _SEPARATOR.split(text)):
                    found.note(part, who)
            case tree.FunctionDef(name="__init_subclass__"):
                found.anything.add(who)
        pending.extend((child, who) for child in _looked_up(node))
    for who, dotted in chains:
        _note_chain(found, imports, who, dotted)
    if facts.scope.stars:  # whose names the module has as well
        found.anything.update(found.own_table)
    return found


def _looked_up(node: Node) -> Iterator[Node]:
    """The parts of a node, without the texts that something is only compared with: `if method == "HGNN"` chooses what
    its arms name, and finds nothing by that text.
    """
    for child in children(node):
        if not isinstance(node, tree.Compare):
            yield child
        elif isinstance(child, tree.Display):
            yield from (item for item in child.items if not isinstance(item, tree.Const))
        elif not isinstance(child, tree.Const):
            yield child


@cache
def _finds_anything(name: str) -> bool:
    return function_words("finds_anything").fullmatch(name) is not None


def _note_chain(found: Mentions, imports: _Imports, who: str, dotted: str) -> None:
    """Notes what `a.b.c` mentions: each of its names, and a module that it is as a whole."""
    first, *further = dotted.split(".")
    if not further and function_words("own_table").fullmatch(first):
        found.own_table.add(who)
    if any(map(_finds_anything, (first, *further))):
        found.anything.add(who)
    if imports.is_outside(first):
        named = (".".join((module, *further)) for module in imports.outside[first])
        found.outside.setdefault(who, set()).update(named)
        return
    for name, definer in imports.meant_by(first):
        found.note(name, who, definer)
    modules = imports.modules.get(first, set())
    for name in further:
        definers = {imports.definer(module, name) for module in modules} or {None}
        for definer in definers:
            found.note(name, who, definer)
        modules = {inner for module in modules if (inner := imports.module_in(module, name)) is not None}
    found.modules.update((who, module) for module in modules)


class _Imports:
    """What the names that the import statements of a file bind stand for, wherever these statements are."""

    def __init__(self, program: Program, facts: ModuleFacts) -> None:
        self._program = program
        self._facts = facts
        self.modules: dict[str, set[Path]] = {}
        self.outside: dict[str, set[str]] = {}
        self._names: dict[str, set[tuple[str, Path | None]]] = {}

    def note(self, statement: tree.Import) -> None:
        """`import a.b` gives the name `a` to a module, `import a.b as c` the name `c`."""
        first = statement.module.partition(".")[0]
        bound = statement.alias or first
        target = self._program.project.resolve(self._facts.path, statement.module if statement.alias else first)
        if target is not None:
            self.modules.setdefault(bound, set()).add(target)
        else:
            self.outside.setdefault(bound, set()).add(statement.module if statement.alias else first)

    def note_from(self, statement: tree.ImportFrom) -> None:
        """`from a import b` gives the name `b` to what the module has by that name, or to a module in the package."""
        home = self._program.project.resolve_from(self._facts.path, statement.level, statement.module)
        for name, alias in statement.names:
            if home is None:
                self.outside.setdefault(alias or name, set()).add(f"{statement.module}.{name}")
                continue
            self._names.setdefault(alias or name, set()).add((name, self.definer(home, name)))
            module = self.module_in(home, name)
            if module is not None:
                self.modules.setdefault(alias or name, set()).add(module)

    def is_outside(self, name: str) -> bool:
        """Whether a name can only stand for something in another package."""
        return name in self.outside and name not in self.modules and not any(self.meant_by(name))

    def meant_by(self, name: str) -> Iterator[tuple[str, Path | None]]:
        """What a name without a dot can mean: the name of a definition, and the file that contains it, if known."""
        bindings = self._facts.scope.bindings.get(name, ())
        yield from self._names.get(name, ())
        if any(one.kind in _DEFINITIONS for one in bindings):
            yield name, self._facts.path
        elif any(one.kind not in _IMPORTS for one in bindings):
            yield name, None
        elif self._facts.scope.stars and not bindings:
            yield from ((name, definer) for definer in self._by_stars(name) or {None})

    def _by_stars(self, name: str) -> set[Path | None]:
        """The files that define what `from module import *` may give the file by a name; none where no module that is
        known has the name.
        """
        found: set[Path | None] = set()
        for statement in self._facts.scope.stars:
            home = self._program.project.resolve_from(self._facts.path, statement.level, statement.module)
            facts = self._program.facts(home) if home is not None and home.suffix == ".py" else None
            if facts is None:
                if home is not None or self._may_be_own(statement):
                    return set()
            elif name in facts.scope.bindings:
                found.add(self.definer(facts.path, name))
            elif facts.scope.stars:
                return set()
        return found

    def _may_be_own(self, statement: tree.ImportFrom) -> bool:
        """Whether a module that is not found may be one of the project's all the same, by its name."""
        last = statement.module.rpartition(".")[2]
        return statement.level > 0 or any(last in (one.stem, one.parent.name) for one in self._program.project.files)

    def definer(self, module: Path, name: str) -> Path | None:
        """The file that defines the name in a module, possibly by importing it from there; None if unknown."""
        seen: set[Path] = set()
        while module.suffix == ".py" and module not in seen:
            seen.add(module)
            facts = self._program.facts(module)
            bindings = facts.scope.bindings.get(name, ()) if facts is not None else ()
            if bindings and all(one.kind in _DEFINITIONS for one in bindings):
                return module
            match bindings:
                case [Binding(node=tree.ImportFrom(names=names) as statement)] if (name, None) in names:
                    home = self._program.project.resolve_from(module, statement.level, statement.module)
                case _:
                    return None
            if home is None:
                return _OUTSIDE
            module = home
        return None

    def module_in(self, package: Path, name: str) -> Path | None:
        """The module of that name in a package."""
        return self._program.project.module_file(folder_of(package), name) if name.isidentifier() else None


def _may_table(decorator: tree.Expr) -> bool:
    """Whether a decorator may put the definition into a table."""
    return function_words("tables_nothing").fullmatch(called_name(uncalled(decorator)) or "") is None


def _parts(block: tree.Block, who: str) -> Iterator[tuple[Node, str]]:
    """The nodes of the module's own code, each with its owner: the module, or a definition in it."""
    for statement in block:
        match statement:
            case tree.FunctionDef(name=name, decorators=decorators) | tree.ClassDef(name=name, decorators=decorators):
                tables = (decorator for decorator in decorators if _may_table(decorator))
                yield from ((tree.Name(decorator.site, name), who) for decorator in tables)
                yield from ((decorator, who) for decorator in decorators)
                yield from ((child, name) for child in children(statement) if child not in decorators)
            case tree.Assign(targets=(tree.Name(id="__all__"),)):
                pass
            case tree.If() | tree.Try() | tree.With() | tree.For() | tree.While() | tree.Match():
                inside = SCRIPT if is_main_guard(statement) else who
                blocks = list(blocks_of(statement))
                own = {id(one) for block in blocks for one in block}
                heads = (one for one in children(statement) if not isinstance(one, (tree.Handler, tree.Case)))
                yield from ((head, inside) for head in heads if id(head) not in own)
                for inner in blocks:
                    yield from _parts(inner, inside)
            case _:
                yield statement, who
