"""The generator of a loader that a method makes again and again: an attribute, which the constructor makes once.

def __init__(self, data):
    self.train_generator = torch.Generator()
    self.train_generator.manual_seed(torch.initial_seed())
    self.data = data

def train_loader(self):
    return DataLoader(self.data, shuffle=True, generator=self.train_generator)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.generators import calls_that_want_one, number_to_come, numbered_name
from torchrepro_lint.fixes.made_names import made_name
from torchrepro_lint.fixes.placement import Declined, receiver_of
from torchrepro_lint.fixes.seed_expression import PassedSeed, Seed
from torchrepro_lint.fixes.seeding_request import Constructor
from torchrepro_lint.fixes.unseeded_calls import KnownLoaders

__all__ = ["AttributeHome", "attribute_home"]


@dataclass(frozen=True, slots=True)
class AttributeHome:
    """Where the generator is made: before a statement of the constructor, or `after` its last; how it is called there
    and in the method, and its seed.
    """

    statement: cst.BaseStatement
    after: bool
    name_there: str
    name_here: str
    seed: Seed


def attribute_home(
    document: Document,
    call: cst.Call,
    constructor: Constructor | str,
    known: KnownLoaders | None,
    seed_at: Callable[[cst.BaseStatement, Sequence[PassedSeed]], Seed | Declined],
) -> AttributeHome | Declined:
    """Where the generator of the loader `call` is kept, or why in no attribute: `seed_at` gives the seed before a
    statement of the constructor.
    """
    method = document.function(call)
    cls = document.enclosing_class(call)
    receiver = receiver_of(document, method, cls)
    if receiver is None or method is None or cls is None:
        return Declined("it is in no method of an object")
    if isinstance(constructor, str):
        return Declined(constructor)
    init = document.node_at(*constructor.span, cst.FunctionDef)
    own = receiver_of(document, init, cls) if init is not None else None
    if init is None or own is None or not isinstance(init.body, cst.IndentedBlock):
        return Declined("its class has no `__init__`")
    name = _free_attribute(document, call, cls, known)
    declined = Declined("its `__init__` has no place for it")
    for statement, after in _places(document, init.body, own):
        seed = seed_at(statement, constructor.passed)
        if isinstance(seed, Seed):
            return AttributeHome(statement, after, f"{own}.{name}", f"{receiver}.{name}", seed)
        declined = seed
    return declined


def _free_attribute(document: Document, call: cst.Call, cls: cst.ClassDef, known: KnownLoaders | None) -> str:
    """A name for the generator of a loader that no other of the class has, also of the loaders that are still to get
    one: whoever calls the method may go on with each of them.
    """
    stem = _stem(document, call)
    others = [one for one in calls_that_want_one(document, known, cls) if _stem(document, one) == stem]
    before = number_to_come(document, call, others)
    return numbered_name(
        f"{stem}_generator", before, lambda name: re.search(rf"\.\s*{name}\b", document.text) is not None
    )


def _stem(document: Document, call: cst.Call) -> str:
    """What is made, after the name that it is given or the name of the method: `train` for `train_dataloader`;
    `loader` or `sampler` where neither says whose it is.
    """
    method = document.function(call)
    name = method.name.value if method is not None else ""
    found = re.fullmatch(r"_*(?:(?:get|make|build|create)_)*(\w*?)_?(?:data_?)?loaders?", name)
    if found is None and (dotted_name(call.func) or "").endswith("Sampler"):
        return made_name(document, call) or "sampler"
    return made_name(document, call) or (found[1] if found is not None else "") or "loader"


def _places(document: Document, body: cst.IndentedBlock, receiver: str) -> Iterator[tuple[cst.BaseStatement, bool]]:
    """The statements before which the attribute can be set: the first that does more than keep what is given, and those
    after it up to one that calls a method, which may make the loader already. If there is none, after the last.
    """
    plain = True
    for statement in body.body:
        if plain and _is_plain(statement, receiver):
            continue
        plain = False
        yield statement, False
        if _calls_a_method(document, statement, receiver):
            return
    if plain and body.body:
        yield body.body[-1], True


def _is_plain(statement: cst.BaseStatement, receiver: str) -> bool:
    """A docstring, an import, `super().__init__(...)`, or an attribute that is set to a name or a constant."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Import() | cst.ImportFrom()]):
            return True
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]):
            return True
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=cst.Attribute(attr=cst.Name("__init__"))))]):
            return True
        case cst.SimpleStatementLine(
            body=[
                cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(value=cst.Name(value=owner)))], value=value)
            ]
        ):
            return owner == receiver and isinstance(value, cst.Name | cst.Attribute | cst.BaseNumber | cst.SimpleString)
    return False


def _calls_a_method(document: Document, statement: cst.BaseStatement, receiver: str) -> bool:
    return any(
        isinstance(node.func, cst.Attribute)
        and isinstance(node.func.value, cst.Name)
        and node.func.value.value == receiver
        for node in document.nodes(cst.Call, statement)
    )
