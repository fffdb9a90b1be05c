"""Which modules can reach a function or class by name: a program runs only what some part of it mentions.

Names are followed outwards, from a definition to the definitions that mention it, up to code that runs when its module
is loaded or run as a script. This never proves that something runs, it only rules it out: every mention counts,
including a string that could be a name. Code that passes on a whole module (`getattr(models, name)`), looks into the
table of its own names (`globals()[name]`), or imports what a string names, may reach everything there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.classes import external_bases, mro
from torchrepro_lint.program.evaluation.values import ClassValue
from torchrepro_lint.program.modules import folder_of
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.mentions import LOADING, SCRIPT, mentions_of
from torchrepro_lint.program.running.training_hooks import is_named_by_a_configuration

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_beside_used_modules", "is_imported_in_vain", "is_left_over", "is_named_by"]

MAX_FILES = 1024  # that import the definition: past them, nobody is asked
MAX_DEFINITIONS = 64


#: A definition: the file in whose module it is, and its name.
_Definition: TypeAlias = tuple[Path, str]


@dataclass(frozen=True, slots=True)
class _Users:
    """The modules that reach a definition when they are loaded, those that do so when they are run as scripts, and the
    definitions that do.
    """

    loaded: frozenset[Path]
    scripts: frozenset[Path]
    definitions: frozenset[_Definition]


def is_named_by(
    program: Program, facts: ModuleFacts, scope: Scope, roots: Iterable[Path], other: tuple[Path, Scope] | None = None
) -> bool:
    """Whether a program that loads one of the modules `roots` mentions, or may mention, the function or class around
    `scope`, or the one around the scope `other` of a file. Tests count only for definitions in tests.
    """
    users = _users_of(program, facts, _outermost(scope))
    if users is None or (other is not None and (other[0], _outermost(other[1]).name) in users.definitions):
        return True
    for root in roots:
        if (
            users.scripts & program.imports.above(root)
            or (users.loaded & program.imports.together(root)) - program.tests
        ):
            return True
    return False


def is_left_over(program: Program, facts: ModuleFacts, scope: Scope) -> bool:
    """Whether neither code that runs nor a configuration mentions the function or class around a scope, while something
    else of that module is used, or a program in sight loads the module: it was left there. To import the name is no
    use of it. So is a module that only defines, and that no file imports, or only such modules, beside programs; and
    what only definitions mention that are left over beside others that a configuration names (`_target_: data.Images`).
    """
    users = _users_of(program, facts, _outermost(scope))
    if users is None or _is_used(program, users):
        return False
    if any(_is_configured(program, path, name) for path, name in users.definitions):
        return False
    if _is_loaded_by_a_program(program, facts.path):
        return True
    if any(entry_points(program)) and is_imported_in_vain(program, facts.path):
        return True
    if any(_has_configured(program, path) for path, _ in users.definitions):
        return True
    # It is not of use itself, so that it need not be left out.
    key = ("of-use", id(facts))
    return program.ev.remembered(
        key, lambda: any(_is_of_use(program, facts, one) for one in facts.scope.children), False
    )


def is_beside_used_modules(program: Program, path: Path) -> bool:
    """Whether a file lies in a folder below the project's root, and a program that lies elsewhere loads another file of
    that folder, and nothing that it knows by a text alone.
    """
    if path.parent == program.root:
        return False
    return any(one != path and one.parent == path.parent for one in _loaded_from_elsewhere(program))


def _loaded_from_elsewhere(program: Program) -> frozenset[Path]:
    """The files that programs in other folders load; none where one of them may load anything."""

    def find() -> frozenset[Path]:
        found: set[Path] = set()
        for start in {one.path for one in entry_points(program)}:
            loaded = program.imports.with_imports(frozenset((start,)))
            if any((facts := program.facts(one)) is None or mentions_of(program, facts).anything for one in loaded):
                return frozenset()
            found.update(one for one in loaded if one.parent != start.parent)
        return frozenset(found)

    return program.once("loaded from elsewhere", find)


def _is_configured(program: Program, path: Path, name: str) -> bool:
    facts = program.facts(path)
    return facts is not None and is_named_by_a_configuration(program.ev, facts, name)


def _has_configured(program: Program, path: Path) -> bool:
    """Whether a configuration names something that a file defines."""
    facts = program.facts(path)
    return facts is not None and any(
        is_named_by_a_configuration(program.ev, facts, one.name) for one in facts.scope.children
    )


def _only_defines(facts: ModuleFacts) -> bool:
    """Whether a module does nothing at its top level but to define and import."""
    return not any(
        isinstance(one, (tree.ExprStmt, tree.If, tree.For, tree.While, tree.With, tree.Try))
        and not (isinstance(one, tree.ExprStmt) and isinstance(one.value, tree.Const))
        for one in facts.body
    )


def is_imported_in_vain(program: Program, path: Path) -> bool:
    """Whether a module only defines, and so does all that imports it, directly or through others, if anything does; no
    program starts in these files, and no test is among them.
    """
    above = program.imports.above(path)
    if len(above) > MAX_FILES or above & program.tests or _is_loaded_by_a_program(program, path):
        return False
    return all((facts := program.facts(one)) is not None and _only_defines(facts) for one in sorted(above))


def _is_loaded_by_a_program(program: Program, path: Path) -> bool:
    """Whether a program in sight loads the module of a definition, whether or not it imports the name."""
    above = program.imports.above(path)
    return any(one.path in above for one in entry_points(program))


def _is_of_use(program: Program, facts: ModuleFacts, scope: Scope) -> bool:
    users = _users_of(program, facts, scope)
    return users is not None and _is_used(program, users)


def _is_used(program: Program, users: _Users) -> bool:
    return bool((users.loaded | users.scripts) - program.tests)


def _outermost(scope: Scope) -> Scope:
    while scope.parent is not None and scope.parent.parent is not None:
        scope = scope.parent
    return scope


def _users_of(program: Program, facts: ModuleFacts, outermost: Scope) -> _Users | None:
    """The users of the definition that opens a scope of the top level; None if they cannot be determined."""
    key = ("named-by", id(outermost))
    return program.ev.remembered(key, lambda: _find_users(program, facts, outermost), None)


def _find_users(program: Program, facts: ModuleFacts, outermost: Scope) -> _Users | None:
    definition = outermost.node
    if not isinstance(definition, (tree.FunctionDef, tree.ClassDef)) or program.is_test(facts.path):
        return None
    if isinstance(definition, tree.ClassDef) and _is_found_by_its_base(program, facts, definition):
        return None
    loaded: set[Path] = set()
    scripts: set[Path] = set()
    pending: list[_Definition] = [(facts.path, definition.name)]
    seen = set(pending)
    while pending:
        path, name = pending.pop()
        importers = program.imports.above(path)
        if len(importers) > MAX_FILES or len(seen) > MAX_DEFINITIONS:
            return None
        users = {(user, who) for user in importers for who in _mentioning(program, user, path, name)}
        if not users - {(path, name)} and _starts_a_program(program, path, name):
            loaded.add(path)
        for user, who in users - seen:
            if who == LOADING:
                loaded.add(user)
            elif who == SCRIPT:
                scripts.add(user)
            else:
                seen.add((user, who))
                pending.append((user, who))
    return _Users(frozenset(loaded), frozenset(scripts), frozenset(seen))


def _is_found_by_its_base(program: Program, facts: ModuleFacts, definition: tree.ClassDef) -> bool:
    """Whether what a class derives from may find it: a library's base that keeps a table of what derives from it
    (`luigi.Task`), or one of the project's with a metaclass of its own or `__init_subclass__`.
    """
    value = ClassValue(definition, program.ev.module_frame(facts))
    is_found = function_words("finds_subclasses").fullmatch
    if any(is_found(name) is not None for name in external_bases(program.ev, value)):
        return True
    own = [one.node for one in mro(program.ev, value) if isinstance(one, ClassValue)]
    return any(_is_told_of_subclasses(node) for node in own)


def _is_told_of_subclasses(node: tree.ClassDef) -> bool:
    if any(arg.keyword == "metaclass" and not _is_abstract(arg.value) for arg in node.bases):
        return True
    return any(isinstance(one, tree.FunctionDef) and one.name == "__init_subclass__" for one in node.body)


def _is_abstract(metaclass: tree.Expr) -> bool:
    return (dotted_name(metaclass) or "").rpartition(".")[2] == "ABCMeta"


def _starts_a_program(program: Program, path: Path, name: str) -> bool:
    """Whether a function that nothing mentions is called from outside: by a console script, or by its name, unless its
    file is run as a program itself, whose own code then calls what is to run.
    """
    starts = [one.called for one in entry_points(program) if one.path == path]
    return name in starts or (None not in starts and function_words("entry").fullmatch(name) is not None)


@lru_cache(maxsize=1_000)
def _in_text(name: str) -> re.Pattern[bytes]:
    return re.compile(rf"^(?!\s*(?:from|import)\b)[^#\n]*\b{re.escape(name)}\b".encode(), re.MULTILINE)


def _mentioning(program: Program, user: Path, home: Path, name: str) -> Iterator[str]:
    """The definitions of the file `user` that mention what has this name in the file `home`, or may reach it. In a
    file that cannot be read, all that its text mentions below its imports counts as used.
    """
    facts = program.facts(user)
    if facts is None:
        if program.project.holds(user, _in_text(name)):
            yield LOADING
        return
    mentions = mentions_of(program, facts)
    yield from (who for who, definer in mentions.names.get(name, ()) if definer in (None, home))
    yield from mentions.anything
    if user == home or name in mentions.bound:
        yield from mentions.own_table
    for who, module in mentions.modules:
        if home in program.imports.below(module) or home.is_relative_to(folder_of(module)):
            yield who
