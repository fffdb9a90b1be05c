"""What calls of Python's builtins and of its standard library's wrappers give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from torchrepro_lint.program.evaluation import containers
from torchrepro_lint.program.evaluation.arguments import merged
from torchrepro_lint.program.evaluation.arithmetic import computed
from torchrepro_lint.program.evaluation.conditions import agreed, truthiness
from torchrepro_lint.program.evaluation.dataclass_fields import as_dict
from torchrepro_lint.program.evaluation.joining import dict_of_pairs
from torchrepro_lint.program.evaluation.kinds import kind_of
from torchrepro_lint.program.evaluation.named_by_text import namespace, some_class
from torchrepro_lint.program.evaluation.values import (
    NOTHING,
    Arguments,
    Constant,
    DictValue,
    Instance,
    ModuleValue,
    Partial,
    SequenceValue,
    Site,
    Value,
    Values,
    union,
    unknown,
    values_of,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["PYTHON_CALLS", "first_argument", "replaced"]

_MAX_REDUCED: Final = 12


#: What the first parameters of these functions are called.
_FIRST: Final = frozenset(
    {"a", "aw", "coro", "coro_or_future", "inst", "instance", "iterable", "main", "obj", "population", "seq", "x"}
)


def first_argument(arguments: Arguments) -> Values:
    """The first argument, by its place or its name. Nothing where there is none; anything where one is not seen."""
    if arguments.positional:
        return arguments.positional[0]
    if arguments.open_positional or arguments.keywords or arguments.open_keywords:
        return next((values for name, values, _ in arguments.keywords if name in _FIRST), unknown())
    return NOTHING


def _sequence(kind: str) -> Callable[[Evaluator, Arguments], Values]:
    def make(ev: Evaluator, arguments: Arguments) -> Values:
        if not arguments.positional:
            return values_of(SequenceValue(kind, None if arguments.open_positional else (), arguments.unseen))
        source = first_argument(arguments)
        only = next(iter(source)) if len(source) == 1 else None
        if isinstance(only, SequenceValue) and only.items is not None and kind != "set":
            return values_of(SequenceValue(kind, only.items, NOTHING))
        return values_of(SequenceValue(kind, None, ev.elements(source)))

    return make


def _reordered(ev: Evaluator, arguments: Arguments) -> Values:
    return values_of(SequenceValue("list", None, ev.elements(first_argument(arguments))))


def _dict(ev: Evaluator, arguments: Arguments) -> Values:
    result = DictValue((), arguments.open_keywords or arguments.open_positional, NOTHING)
    for values in arguments.positional[:1]:
        for value in values:
            other = value if isinstance(value, DictValue) else dict_of_pairs(value) or DictValue((), True, unknown())
            result = containers.updated(result, other, len(values) == 1)
    entries = tuple((name, values, certain) for name, values, certain in arguments.keywords)
    return values_of(containers.updated(result, DictValue(entries, False), True))


def _defaultdict(ev: Evaluator, arguments: Arguments) -> Values:
    made = ev.call_all(first_argument(arguments), Arguments(), None) if arguments.positional else arguments.unseen
    return values_of(DictValue((), True, made))


def _enumerate(ev: Evaluator, arguments: Arguments) -> Values:
    source = first_argument(arguments)
    items = _items(source)
    if items is not None and len(arguments.positional) == 1 and not arguments.keywords:
        return _rows([(values_of(Constant(index)), item) for index, item in enumerate(items)])
    pair = SequenceValue("tuple", (unknown(), ev.elements(source)), NOTHING)
    return values_of(SequenceValue("generator", None, values_of(pair)))


def _zip(ev: Evaluator, arguments: Arguments) -> Values:
    columns = [_items(values) for values in arguments.positional]
    known = [column for column in columns if column is not None]
    if known and len(known) == len(columns) and not arguments.open_positional:
        return _rows(list(zip(*known, strict=False)))
    parts = tuple(ev.elements(values) for values in arguments.positional)
    if arguments.open_positional:
        row = SequenceValue("tuple", None, union(unknown(), *parts))
    else:
        row = SequenceValue("tuple", parts, NOTHING)
    return values_of(SequenceValue("generator", None, values_of(row)))


def _items(values: Values) -> tuple[Values, ...] | None:
    """The items of what is proven to be one sequence, in order."""
    only = next(iter(values)) if len(values) == 1 else None
    return only.items if isinstance(only, SequenceValue) and only.kind != "set" else None


def _rows(rows: Sequence[tuple[Values, ...]]) -> Values:
    tuples = tuple(values_of(SequenceValue("tuple", row, NOTHING)) for row in rows)
    return values_of(SequenceValue("generator", tuples, NOTHING))


def _map(ev: Evaluator, arguments: Arguments) -> Values:
    given = Arguments(tuple(map(ev.elements, arguments.positional[1:])), (), arguments.open_positional)
    return values_of(SequenceValue("generator", None, ev.call_all(first_argument(arguments), given, None)))


def _filter(ev: Evaluator, arguments: Arguments) -> Values:
    source = arguments.positional[1] if len(arguments.positional) > 1 else arguments.unseen
    return values_of(SequenceValue("generator", None, ev.elements(source)))


def _next(ev: Evaluator, arguments: Arguments) -> Values:
    return union(ev.elements(first_argument(arguments)), *arguments.positional[1:2])


def _iter(ev: Evaluator, arguments: Arguments) -> Values:
    return values_of(SequenceValue("generator", None, ev.elements(first_argument(arguments))))


def _chain(ev: Evaluator, arguments: Arguments) -> Values:
    """`itertools.chain(first, second)`: the items of one after those of the other."""
    columns = [_items(values) for values in arguments.positional]
    known = [column for column in columns if column is not None]
    if len(known) == len(columns) and not arguments.open_positional:
        return values_of(SequenceValue("generator", tuple(item for column in known for item in column), NOTHING))
    return values_of(SequenceValue("generator", None, union(arguments.unseen, *map(ev.elements, arguments.positional))))


def _chain_of_each(ev: Evaluator, arguments: Arguments) -> Values:
    return values_of(SequenceValue("generator", None, ev.elements(ev.elements(first_argument(arguments)))))


def _gather(ev: Evaluator, arguments: Arguments) -> Values:
    """`asyncio.gather(one(), other())`: what is awaited counts as what it gives."""
    if arguments.open_positional:
        return values_of(SequenceValue("list", None, unknown()))
    return values_of(SequenceValue("list", arguments.positional, NOTHING))


def _getattr(ev: Evaluator, arguments: Arguments) -> Values:
    if len(arguments.positional) < 2:
        return unknown()
    default = arguments.positional[2] if len(arguments.positional) > 2 else NOTHING
    parts = [default]
    for name in arguments.positional[1]:
        if isinstance(name, Constant) and isinstance(name.value, str):
            parts.append(ev.instances_attribute(arguments.positional[0], name.value))
        else:
            parts.extend(some_class(ev, owner) for owner in arguments.positional[0])
    return union(*parts) or unknown()


def _bool(ev: Evaluator, arguments: Arguments) -> Values:
    holds = agreed(truthiness(ev, value) for value in first_argument(arguments))
    return values_of(Constant(holds)) if holds is not None else unknown()


def _queue(ev: Evaluator, arguments: Arguments) -> Values:
    """A queue counts as the list of what is put into it; another thread may put in what nobody sees."""
    return values_of(SequenceValue("list", None, unknown()))


def _chosen(ev: Evaluator, arguments: Arguments) -> Values:
    return ev.elements(first_argument(arguments))


def _converted(kind: type) -> Callable[[Evaluator, Arguments], Values]:
    def convert(ev: Evaluator, arguments: Arguments) -> Values:
        constant = ev.one_constant(first_argument(arguments))
        if constant is None or len(arguments.positional) != 1:
            return unknown()
        return computed(lambda: kind(constant.value), constant.value)

    return convert


def _len(ev: Evaluator, arguments: Arguments) -> Values:
    source = first_argument(arguments)
    only = next(iter(source)) if len(source) == 1 else None
    if isinstance(only, SequenceValue) and only.items is not None and only.kind != "set":
        return values_of(Constant(len(only.items)))
    return unknown()


def _isinstance(ev: Evaluator, arguments: Arguments) -> Values:
    if len(arguments.positional) < 2:
        return unknown()
    holds = agreed(ev.is_instance(value, kind) for value in arguments.positional[0] for kind in arguments.positional[1])
    return values_of(Constant(holds)) if holds is not None else unknown()


def _same(ev: Evaluator, arguments: Arguments) -> Values:
    return first_argument(arguments)


def _as_dict(*, deep: bool) -> Callable[[Evaluator, Arguments], Values]:
    def convert(ev: Evaluator, arguments: Arguments) -> Values:
        found = union(*(as_dict(ev, value, deep=deep) for value in first_argument(arguments)))
        return found or unknown()

    return convert


def _vars(ev: Evaluator, arguments: Arguments) -> Values:
    return (
        union(
            *(
                namespace(ev, value) if isinstance(value, ModuleValue) else as_dict(ev, value, deep=False)
                for value in first_argument(arguments)
            )
        )
        or unknown()
    )


def _partial(ev: Evaluator, arguments: Arguments) -> Values:
    if not arguments.positional:
        return unknown()
    rest = Arguments(
        arguments.positional[1:], arguments.keywords, arguments.open_positional, arguments.open_keywords
    )  # fmt: skip
    return values_of(Partial(arguments.positional[0], rest))


def _type(ev: Evaluator, arguments: Arguments) -> Values:
    given = first_argument(arguments)
    classes = [kind for value in given if (kind := kind_of(value)) is not None]
    return values_of(*classes) if classes and len(classes) == len(given) else unknown()


def replaced(arguments: Arguments, site: Site | None) -> Values:
    """`dataclasses.replace(config, augment=False)`: another object, made at `site` of other arguments."""
    changes = Arguments((), arguments.keywords, False, arguments.open_keywords)
    return union(*(_changed(value, changes, site) for value in first_argument(arguments))) or unknown()


def _changed(value: Value, changes: Arguments, site: Site | None) -> Values:
    if isinstance(value, Instance) and value.arguments is not None and not value.arguments.positional:
        return values_of(Instance(value.cls, merged(value.arguments, changes), site or value.site))
    return unknown()


def _reduce(ev: Evaluator, arguments: Arguments) -> Values:
    """`reduce(compose, functions)`, where it is known what is gone through."""
    if len(arguments.positional) < 2:
        return unknown()
    function, source, *first = arguments.positional
    items = _items(source)
    if items is None or len(items) > _MAX_REDUCED or not (first or items):
        return unknown()
    result, *rest = (*first, *items)
    for item in rest:
        result = ev.call_all(function, Arguments((result, item)), None)
    return result


PYTHON_CALLS: dict[str, Callable[[Evaluator, Arguments], Values]] = {
    "builtins.list": _sequence("list"),
    "builtins.tuple": _sequence("tuple"),
    "builtins.set": _sequence("set"),
    "builtins.frozenset": _sequence("set"),
    "builtins.sorted": _reordered,
    "builtins.reversed": _reordered,
    "builtins.dict": _dict,
    "collections.deque": _sequence("list"),
    "collections.OrderedDict": _dict,
    "collections.defaultdict": _defaultdict,
    "random.choice": _chosen,
    "numpy.random.choice": _chosen,
    "random.choices": _reordered,
    "random.sample": _reordered,
    "builtins.enumerate": _enumerate,
    "builtins.zip": _zip,
    "builtins.map": _map,
    "builtins.filter": _filter,
    "builtins.next": _next,
    "builtins.iter": _iter,
    "itertools.chain": _chain,
    "itertools.chain.from_iterable": _chain_of_each,
    "itertools.cycle": _iter,
    "itertools.islice": _iter,
    "asyncio.create_task": _same,
    "asyncio.ensure_future": _same,
    "asyncio.gather": _gather,
    "asyncio.run": _same,
    "builtins.getattr": _getattr,
    "queue.Queue": _queue,
    "queue.LifoQueue": _queue,
    "queue.PriorityQueue": _queue,
    "queue.SimpleQueue": _queue,
    "builtins.bool": _bool,
    "builtins.int": _converted(int),
    "builtins.float": _converted(float),
    "builtins.str": _converted(str),
    "builtins.len": _len,
    "builtins.isinstance": _isinstance,
    "builtins.type": _type,
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "dataclasses.asdict": _as_dict(deep=True),
    "attr.asdict": _as_dict(deep=True),
    "attrs.asdict": _as_dict(deep=True),
    "builtins.vars": _vars,
    "copy.copy": _same,
    "copy.deepcopy": _same,
    "tqdm.tqdm": _same,
    "tqdm.auto.tqdm": _same,
}
