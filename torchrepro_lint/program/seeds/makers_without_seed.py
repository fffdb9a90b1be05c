"""Calls that make a generator without a seed, as far as their text tells: few programs have any, and only these are
walked for what draws from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from torchrepro_lint.dotted import last_parts
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import call_sites
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.rng import object_seedings
from torchrepro_lint.program.running.call_index import NamedCall, called_name
from torchrepro_lint.program.running.never_read import is_read_nowhere

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["makers_without_seed"]


@cache
def _maker_words() -> frozenset[str]:
    """What comes last in the names of the calls that make a generator, or the bit generator that one is made of."""
    return frozenset(last_parts(name for name in object_seedings() if "seed" not in name)) - {"Generator"}


@cache
def _makers() -> re.Pattern[bytes]:
    """A call that makes a generator, and in which no number is the seed."""
    return re.compile(rb"(?<!\w)(?:%s)\((?!\s*\d)" % "|".join(sorted(_maker_words())).encode())


def makers_without_seed(program: Program) -> list[NamedCall]:
    """The calls that have no seed, or one that may be left out, in the order of files and text; not those of tests."""
    return program.once("makers without seed", lambda: list(_written(program)))


def _written(program: Program) -> Iterator[NamedCall]:
    for path in program.project.matching(_makers()):
        facts = program.facts(path) if not program.is_test(path) else None
        for scope in facts.walk_scopes() if facts is not None else ():
            for call, arms in scope.calls:
                if called_name(call.func) in _maker_words() and _may_lack_a_seed(scope, call):
                    if facts is None or _is_one_of_several(scope, call) or is_read_nowhere(program, facts, call):
                        continue
                    yield NamedCall(facts, scope, call, arms)


def _may_lack_a_seed(scope: Scope, call: tree.Call) -> bool:
    match call.args:
        case () | (tree.Arg(value=tree.Const(value=None)),):
            return True
        case (tree.Arg(value=tree.Name(id=name)),):
            params = scope.node.params if isinstance(scope.node, tree.FunctionDef) else ()
            return any(param.name == name and param.default is not None for param in params)
    return False


def _is_one_of_several(scope: Scope, call: tree.Call) -> bool:
    """Whether a class gives an attribute something else elsewhere, with a seed or from outside: it is then not proven
    which one is there.
    """
    held = set(scope.given_to(call))
    return any(
        isinstance(store.target, tree.Attribute)
        and store.target.attr in held
        and not isinstance(store.value, tree.Const)
        and call.site not in call_sites(store.value)
        for method in _methods_around(scope)
        for store in method.stores
    )


def _methods_around(scope: Scope) -> Iterable[Scope]:
    if isinstance(scope.node, tree.ClassDef):
        return scope.children
    cls = scope.parent
    return cls.children if cls is not None and isinstance(cls.node, tree.ClassDef) else ()
