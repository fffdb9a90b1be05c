"""Where a file writes a seed: the arguments of its seeding calls, and what it reads as `args.seed` anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.document import Document, dotted_name

__all__ = ["SEED_NAME", "SeedUse", "is_configuration", "is_seed_chain", "names_in", "seed_uses", "string_key"]

#: What seeds are called.
SEED_NAME = re.compile(r"(random_|manual_|global_|base_|rng_|torch_|train_)?(seed|random_state)", re.IGNORECASE)
_SEEDING_HELPER = re.compile(
    r"seed_(everything|all|torch|rngs?|env)\w*|random_seed|reseed|"
    r"(set|fix|setup|init|initiali[sz]e|same|make)_?(all_|global_|random_|manual_|torch_|rng_)*(seeds?|determinism)\w*|"
    r"enable_full_determinism|manual_seed_all"
)
_CONFIG = re.compile(
    r"self|C|h|\w*(args|cfg|conf|config|configs|configuration|opts?|options|hparams|hps|hyp|params|flags|settings)",
    re.IGNORECASE,
)
_BUILT_IN = ("int", "getattr")


@dataclass(frozen=True, slots=True)
class SeedUse:
    """A seed expression as the file has it: an argument of a seeding call, or `args.seed` anywhere. `names` are those
    that it reads.
    """

    node: cst.BaseExpression
    names: tuple[str, ...]
    text: str
    start: int
    in_call: bool
    function: cst.FunctionDef | None


def is_configuration(name: str) -> bool:
    """Whether a name is one that configurations have."""
    return _CONFIG.fullmatch(name) is not None


def seed_uses(document: Document) -> tuple[SeedUse, ...]:
    """All seed expressions of a file, in the order of its text, the outer ones before those in them."""
    return tuple(_each_use(document))


def _each_use(document: Document) -> Iterator[SeedUse]:
    for node in document.walk():
        if isinstance(node, cst.Call):
            argument = _seeding_argument(node)
            if argument is not None and _is_pure(argument):
                yield _use(document, argument, in_call=True)
        elif isinstance(node, cst.Attribute | cst.Subscript):
            parent = document.parent(node)
            if isinstance(parent, cst.Call) and parent.func is node:
                continue
            if is_seed_chain(node):
                yield _use(document, node, in_call=False)


def _seeding_argument(call: cst.Call) -> cst.BaseExpression | None:
    """What a call seeds a global random number generator with; None for any other call."""
    called = dotted_name(call.func)
    if called is None or not call.args:
        return None
    receiver, _, last = called.rpartition(".")
    owner = last_part(receiver)
    if last == "manual_seed":
        known = owner in ("", "torch", "th", "cuda", "random")
    elif last == "seed":
        known = owner == "random"
    else:
        known = _SEEDING_HELPER.fullmatch(last) is not None
    if not known:
        return None
    for argument in call.args:
        if argument.keyword is not None and SEED_NAME.fullmatch(argument.keyword.value):
            return argument.value
    first = call.args[0]
    if first.keyword is not None or first.star:
        return None
    # A helper may take the whole configuration: `set_seed(args)`.
    is_whole = isinstance(first.value, cst.Name) and _CONFIG.fullmatch(first.value.value) is not None
    return None if is_whole else first.value


def _use(document: Document, node: cst.BaseExpression, *, in_call: bool) -> SeedUse:
    text = document.module.code_for_node(node).strip()
    return SeedUse(node, tuple(names_in(node)), text, document.start(node), in_call, document.function(node))


def is_seed_chain(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Attribute):
        name = node.attr.value
    else:
        name = (string_key(node) or "") if isinstance(node, cst.Subscript) else ""
    roots = names_in(node)
    return bool(SEED_NAME.fullmatch(name) and roots and _CONFIG.fullmatch(roots[0])) and _is_pure(node)


def _is_pure(node: cst.CSTNode) -> bool:
    """An expression that may be evaluated once more at another place: names, their attributes, sums, constants."""
    if isinstance(node, cst.Name | cst.Integer):
        return True
    if isinstance(node, cst.Attribute):
        return _is_pure(node.value)
    if isinstance(node, cst.Subscript):
        return string_key(node) is not None and _is_pure(node.value)
    if isinstance(node, cst.BinaryOperation):
        return _is_pure(node.left) and _is_pure(node.right)
    if isinstance(node, cst.BooleanOperation):  # `args.seed or 42`
        return isinstance(node.operator, cst.Or) and _is_pure(node.left) and isinstance(node.right, cst.Integer)
    if isinstance(node, cst.IfExp):
        return _is_pure(node.body) and _is_pure(node.orelse) and _is_none_test(node.test)
    if isinstance(node, cst.Call):
        called = last_part(dotted_name(node.func) or "")
        if called == "get_rank":
            return not node.args
        if called == "getattr" and len(node.args) == 3:
            return _is_look_up(*(argument.value for argument in node.args))
        if called == "get" and isinstance(node.func, cst.Attribute):
            return len(node.args) == 2 and _is_look_up(node.func.value, *(argument.value for argument in node.args))
        return called == "int" and len(node.args) == 1 and _is_pure(node.args[0].value)
    return False


def _is_none_test(node: cst.BaseExpression) -> bool:
    match node:
        case cst.Comparison(
            left=tested,
            comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.IsNot(), comparator=cst.Name("None"))],
        ):
            return _is_pure(tested)
    return False


def _is_look_up(mapping: cst.BaseExpression, key: cst.BaseExpression, default: cst.BaseExpression) -> bool:
    """`cfg.get("seed", 1337)`; without a default the seed may be None."""
    return isinstance(key, cst.SimpleString) and isinstance(default, cst.Integer) and _is_pure(mapping)


def string_key(node: cst.Subscript) -> str | None:
    """The text by which something is looked up: `opt["rank"]`; None for other keys."""
    if len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index):
        key = node.slice[0].slice.value
        if isinstance(key, cst.SimpleString) and isinstance(key.evaluated_value, str):
            return key.evaluated_value
    return None


def names_in(node: cst.CSTNode) -> list[str]:
    """The names that a pure expression reads."""
    if isinstance(node, cst.Name):
        return [node.value]
    if isinstance(node, cst.Attribute | cst.Subscript):
        return names_in(node.value)
    if isinstance(node, cst.BinaryOperation | cst.BooleanOperation):
        return names_in(node.left) + names_in(node.right)
    if isinstance(node, cst.IfExp):
        return names_in(node.body) + names_in(node.test) + names_in(node.orelse)
    if isinstance(node, cst.Comparison):
        return names_in(node.left)
    if isinstance(node, cst.Call):
        called = [] if isinstance(node.func, cst.Name) and node.func.value in _BUILT_IN else names_in(node.func)
        return called + [name for argument in node.args for name in names_in(argument.value)]
    return []
