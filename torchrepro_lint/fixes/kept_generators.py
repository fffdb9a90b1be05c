"""Whether the objects of a class can keep a generator in an attribute that their constructor makes.

    class Trainer:                                   # class Quiet(Trainer):
        def __init__(self):                              def __init__(self):
            self.generator = torch.Generator()               self.log = None  # has no such attribute

They cannot where the class allows no other attributes than those that it names, where a subclass never calls the
constructor, or where all attributes are written to a file. A release of torch in which a generator cannot be copied or
pickled leaves out those objects of which that is, or may be, done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from torchrepro_lint.dotted import last_part
from torchrepro_lint.knowledge.plain_classes import plain_classes
from torchrepro_lint.program.evaluation.classes import decorator_name, external_bases, mro
from torchrepro_lint.program.evaluation.values import ClassValue, External, Instance
from torchrepro_lint.program.running.callers import called_name, frame_without_callers

if TYPE_CHECKING:
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["why_none_is_kept"]

#: torch.Generator can be copied and pickled from there on (pytorch/pytorch#126271).
_COPIES: Final = "2.4"
#: Calls that copy or pickle what they are given (copy, pickle and its relatives, torch.save).
_COPYING: Final = frozenset({"deepcopy", "dump", "dumps", "save"})
_MAY_COPY: Final = re.compile(rb"\b(?:deepcopy|dumps?|save)\(")
#: What a file says whose methods read all attributes of their object.
_ALL_ATTRIBUTES: Final = re.compile(rb"\bvars\(\s*self\b|\bself\.__dict__\b(?!\.update\(|\s*=|\[)")
#: What a class defines that decides which attributes its objects can have.
_GUARDS: Final = frozenset({"__slots__", "__setattr__"})


def why_none_is_kept(program: Program, cls: ClassValue) -> str | None:
    """Why no object of a class that has an `__init__` can keep a generator that this makes; None where each can."""
    own = [one for one in mro(program.ev, cls) if isinstance(one, ClassValue)]
    guard = next((name for one in own for name in sorted(_GUARDS) if name in _scope(one).bindings), None)
    if guard is not None:
        return f"its class has `{guard}`, and may take no other attributes"
    derived = next((one for one in program.ev.subclasses(cls) if not _calls_the_constructor(program, one, cls)), None)
    if derived is not None:
        return f"`{derived.name}`, a subclass, does not call the `__init__` that would make the generator"
    if any(program.project.holds(one.frame.facts.path, _ALL_ATTRIBUTES) for one in own):
        return "its file reads all attributes of its objects, and a generator cannot be written as a text"
    bases = external_bases(program.ev, cls)
    if any(last_part(base).endswith("Dataset") for base in bases):
        return "a data set that holds a generator is copied into each worker with it"
    if program.target.known and not program.target.admits_below(_COPIES):
        return None
    if any(base not in plain_classes() and not last_part(base).endswith("Sampler") for base in bases):
        return f"its objects may be copied, which torch < {_COPIES} cannot do with a generator"
    copied = next(_copies(program, cls), None)
    if copied is not None:
        return f"`{copied}` copies its objects, which torch < {_COPIES} cannot do with a generator"
    return None


def _scope(cls: ClassValue) -> Scope:
    return cls.frame.facts.scope_of(cls.node)


def _calls_the_constructor(program: Program, derived: ClassValue, cls: ClassValue) -> bool:
    """Whether making an object of a subclass calls the constructor of a class, as far as that is written there."""
    for one in mro(program.ev, derived):
        if isinstance(one, External):
            if one.name not in plain_classes():
                return False
            continue
        if one.node is cls.node:
            return True
        if any(decorator_name(decorator) == "dataclass" for decorator in one.node.decorators):
            return False
        init = next((child for child in _scope(one).children if child.name == "__init__"), None)
        if init is not None:
            return any(called_name(call.func) == "__init__" for call, _ in init.calls)
    return True


def _copies(program: Program, cls: ClassValue) -> Iterator[str]:
    """The names of the calls in sight that copy or pickle an object of a class or of a subclass."""
    for path in program.project.matching(_MAY_COPY):
        facts = program.facts(path)
        for scope in facts.walk_scopes() if facts is not None else ():
            assert facts is not None
            for call, _ in scope.calls:
                name = called_name(call.func)
                if name not in _COPYING or not call.args:
                    continue
                program.ev.begin_question()
                frame = frame_without_callers(program.ev, facts, scope)
                for value in program.ev.values(call.args[0].value, frame):
                    if isinstance(value, Instance) and _is_of(program, value.cls, cls):
                        yield name


def _is_of(program: Program, made: ClassValue, cls: ClassValue) -> bool:
    return any(isinstance(one, ClassValue) and one.node is cls.node for one in mro(program.ev, made))
