"""The program text as plain data: what `ModuleFacts` are made of.

A module is lowered once from its syntax tree into these nodes, which keep what analysis asks for (names, calls, control
flow) and drop what it never does (white space, parentheses, comments). Every node has a `site`: its number in the one
walk over the tree. Sites are the identity of a node within its file; positions are computed from them later, and only
for files that have something to report (see `quick_places.py`) or to fix (see `positions.py`).

Nodes are never changed after they are made. They hash by identity: equal text at two places is two nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import EllipsisType
from typing import NamedTuple, TypeAlias, Union

ConstantValue: TypeAlias = Union[bool, int, float, complex, str, bytes, EllipsisType, None]


@dataclass(slots=True, eq=False)
class Const:
    """A literal: number, text, bytes, `True`, `False`, `None`, `...`."""

    site: int
    value: ConstantValue


@dataclass(slots=True, eq=False)
class Name:
    site: int
    id: str


@dataclass(slots=True, eq=False)
class Attribute:
    site: int
    value: Expr
    attr: str


@dataclass(slots=True, eq=False)
class Arg:
    """One argument of a call or a class definition. `star` is `""`, `"*"` or `"**"`."""

    site: int
    value: Expr
    keyword: str | None = None
    star: str = ""


@dataclass(slots=True, eq=False)
class Call:
    site: int
    func: Expr
    args: tuple[Arg, ...]


@dataclass(slots=True, eq=False)
class Subscript:
    """`value[index]`; an index of several parts is a tuple `Display`, a slice is `Opaque` over its parts."""

    site: int
    value: Expr
    index: Expr


@dataclass(slots=True, eq=False)
class Starred:
    site: int
    value: Expr


@dataclass(slots=True, eq=False)
class Display:
    """A tuple, list or set display. `kind` is `"tuple"`, `"list"` or `"set"`."""

    site: int
    kind: str
    items: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class DictDisplay:
    """A dict display; a key of `None` marks `**value`."""

    site: int
    items: tuple[tuple[Expr | None, Expr], ...]


@dataclass(slots=True, eq=False)
class Unary:
    """`op` is `"not"`, `"-"`, `"+"` or `"~"`."""

    site: int
    op: str
    operand: Expr


@dataclass(slots=True, eq=False)
class Binary:
    """An arithmetic or bit operation; `op` is its token (`"+"`, `"%"`, `"//"`, ...)."""

    site: int
    op: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class Boolean:
    """`op` is `"and"` or `"or"`."""

    site: int
    op: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class Compare:
    """`left ops[0] comparators[0] ops[1] ...`; an op is its token (`"=="`, `"not in"`, `"is"`, ...)."""

    site: int
    left: Expr
    ops: tuple[str, ...]
    comparators: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Conditional:
    """`body if test else orelse`."""

    site: int
    test: Expr
    body: Expr
    orelse: Expr


@dataclass(slots=True, eq=False)
class Param:
    """`kind` is `"positional"` (with or without `/`), `"star"`, `"keyword"` (keyword only) or `"double-star"`."""

    site: int
    name: str
    kind: str
    default: Expr | None = None
    annotation: Expr | None = None


@dataclass(slots=True, eq=False)
class Lambda:
    site: int
    params: tuple[Param, ...]
    body: Expr


@dataclass(slots=True, eq=False)
class Clause:
    """One `for target in iter if conditions` of a comprehension."""

    target: Expr
    iter: Expr
    conditions: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Comprehension:
    """`kind` is `"list"`, `"set"`, `"dict"` or `"generator"`; `key` is given for a dict only."""

    site: int
    kind: str
    key: Expr | None
    element: Expr
    clauses: tuple[Clause, ...]


@dataclass(slots=True, eq=False)
class Await:
    site: int
    value: Expr


@dataclass(slots=True, eq=False)
class Yield:
    """`yield value` or, with `delegates`, `yield from value`."""

    site: int
    value: Expr | None
    delegates: bool


@dataclass(slots=True, eq=False)
class Walrus:
    """`target := value`."""

    site: int
    target: Expr
    value: Expr


@dataclass(slots=True, eq=False)
class FormatString:
    """An f-string; `values` are its replacement fields, in order, and `beginning` the text before them, where it may
    be the beginning of a name, also of a dotted one (`"datasets."`).
    """

    site: int
    values: tuple[Expr, ...]
    beginning: str = ""


@dataclass(slots=True, eq=False)
class Opaque:
    """Something whose value is never asked for (a slice, say); `parts` are the expressions inside."""

    site: int
    parts: tuple[Expr, ...]


Expr: TypeAlias = Union[
    Const, Name, Attribute, Call, Subscript, Starred, Display, DictDisplay, Unary, Binary, Boolean, Compare,
    Conditional, Lambda, Comprehension, Await, Yield, Walrus, FormatString, Opaque,
]  # fmt: skip


# --- statements -----------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Assign:
    """`targets[0] = targets[1] = ... = value`; with an annotation there is one target, and perhaps no value."""

    site: int
    targets: tuple[Expr, ...]
    value: Expr | None
    annotation: Expr | None = None


@dataclass(slots=True, eq=False)
class AugAssign:
    """`target op= value`; `op` is the token without the `=`."""

    site: int
    target: Expr
    op: str
    value: Expr


@dataclass(slots=True, eq=False)
class ExprStmt:
    site: int
    value: Expr


@dataclass(slots=True, eq=False)
class Return:
    site: int
    value: Expr | None


@dataclass(slots=True, eq=False)
class Raise:
    """`raise value from cause`."""

    site: int
    value: Expr | None
    cause: Expr | None = None


@dataclass(slots=True, eq=False)
class Assert:
    site: int
    test: Expr
    message: Expr | None = None


@dataclass(slots=True, eq=False)
class Delete:
    site: int
    targets: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Jump:
    """`break` or `continue`."""

    site: int
    kind: str


@dataclass(slots=True, eq=False)
class ScopeDeclaration:
    """`global names` or `nonlocal names`."""

    site: int
    kind: str
    names: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Import:
    """`import module` or `import module as alias`; one node for each name imported."""

    site: int
    module: str
    alias: str | None


@dataclass(slots=True, eq=False)
class ImportFrom:
    """`from ..module import name as alias`; `level` counts the dots; `names` is `(("*", None),)` for a star."""

    site: int
    module: str
    level: int
    names: tuple[tuple[str, str | None], ...]


@dataclass(slots=True, eq=False)
class If:
    """`elif` is an `If` alone in `orelse`."""

    site: int
    test: Expr
    body: Block
    orelse: Block


@dataclass(slots=True, eq=False)
class For:
    site: int
    target: Expr
    iter: Expr
    body: Block
    orelse: Block


@dataclass(slots=True, eq=False)
class While:
    site: int
    test: Expr
    body: Block
    orelse: Block


@dataclass(slots=True, eq=False)
class With:
    site: int
    items: tuple[tuple[Expr, Expr | None], ...]
    body: Block


@dataclass(slots=True, eq=False)
class Handler:
    """One `except type as name:`."""

    site: int
    type: Expr | None
    name: str | None
    body: Block


@dataclass(slots=True, eq=False)
class Try:
    site: int
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block


#: One step from the subject of a match to a part of it: ("item", position), where a negative one counts from the end;
#: ("rest", how many items before it, how many behind it); ("key", constant); ("attribute", name).
Step: TypeAlias = tuple[str, int | str] | tuple[str, int, int]


class Capture(NamedTuple):
    """A name that a pattern binds, and the steps to what it gets, the outermost first: None where they are unknown."""

    name: str
    steps: tuple[Step, ...] | None


@dataclass(slots=True, eq=False)
class Case:
    """One `case` of a match: the values and captures of its pattern, its guard and its body.

    `literals` are the constants that the pattern compares with, or `None` where it does more than compare;
    a wildcard has no literals and no captures.
    """

    literals: tuple[Expr, ...] | None
    captures: tuple[Capture, ...]
    guard: Expr | None
    body: Block


@dataclass(slots=True, eq=False)
class Match:
    site: int
    subject: Expr
    cases: tuple[Case, ...]


@dataclass(slots=True, eq=False)
class FunctionDef:
    """A function or method. `is_generator` is true when its own body has a `yield`."""

    site: int
    name: str
    params: tuple[Param, ...]
    decorators: tuple[Expr, ...]
    returns: Expr | None
    body: Block
    is_async: bool
    is_generator: bool


@dataclass(slots=True, eq=False)
class ClassDef:
    site: int
    name: str
    bases: tuple[Arg, ...]
    decorators: tuple[Expr, ...]
    body: Block


Stmt: TypeAlias = Union[
    Assign, AugAssign, ExprStmt, Return, Raise, Assert, Delete, Jump, ScopeDeclaration, Import, ImportFrom,
    If, For, While, With, Try, Match, FunctionDef, ClassDef,
]  # fmt: skip

Block: TypeAlias = tuple[Stmt, ...]
