"""A program made of texts, and what is asked of it, written as text that does not depend on hashing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Literal

from torchrepro_lint.engine import check
from torchrepro_lint.facts.scopes import END
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    Constant,
    DictValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MemberOf,
    MethodValue,
    ModuleValue,
    Partial,
    SequenceValue,
    Value,
    Values,
)
from torchrepro_lint.program.program import Program
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import TargetTorch


def program_of(root: Path, files: Mapping[str, str] | str, settings: Settings | None = None) -> Program:
    """The program of these files; one text alone is `main.py`."""
    texts = {"main.py": files} if isinstance(files, str) else files
    overlay = {root / name: dedent(text) for name, text in texts.items()}
    return Program(root, sorted(overlay), settings or Settings(), TargetTorch(), overlay=overlay)


def is_reported(folder: Path, text: str, rule: str, profile: Literal["default", "strict"] = "strict") -> bool:
    """Whether a rule reports anything in a program of one file."""
    path = folder / "train.py"
    compile(text, "train.py", "exec")
    return bool(check([path], {"select": (rule,), "profile": profile}, overlay={path: text}).findings)


def named(program: Program, name: str, file: str = "main.py") -> str:
    """What a global name of a file can be when the file has run."""
    facts = program.facts(program.root / file)
    assert facts is not None, program.unreadable
    return shown(program.ev.name(name, END, program.ev.module_frame(facts)))


def shown(values: Values) -> str:
    """`1 | "a" | [1 2] | {"k": 1} | Thing() | ?`, in the order of the text."""
    return " | ".join(sorted(one(value) for value in values)) or "nothing"


def one(value: Value) -> str:
    match value:
        case Constant(value=constant):
            return repr(constant)
        case External(name=name):
            return name
        case ExternalObject(name=name):
            return f"{name}()"
        case FunctionValue():
            return f"def {value.name}"
        case ClassValue():
            return f"class {value.name}"
        case MethodValue(function=function, receiver=receiver):
            return f"{one(receiver)}.{function.name}"
        case Instance(cls=cls):
            return f"{cls.name}()"
        case ModuleValue(path=path):
            return f"module {path.name}"
        case MemberOf(receiver=receiver, attr=attr):
            return f"{one(receiver)}.{attr}"
        case Partial(function=function):
            return f"partial({shown(function)})"
        case SequenceValue(kind=kind, items=items, element=element):
            inside = " ".join(shown(item) for item in items) if items is not None else f"*({shown(element)})"
            return f"{kind}[{inside}]"
        case DictValue(entries=entries, open=is_open):
            inside = " ".join(f"{key!r}{':' if sure else '?:'}{shown(found)}" for key, found, sure in entries)
            return f"{{{inside}{' ...' if is_open else ''}}}"
    return "?"
