"""Whether what is passed as `worker_init_fn` can be called with the worker id, or is None by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.switches import seeding_call
from torchrepro_lint.program.evaluation import attributes
from torchrepro_lint.program.evaluation.arguments import bound_frame
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.order import ordered
from torchrepro_lint.program.evaluation.values import (
    ClassValue,
    Constant,
    DictValue,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MethodValue,
    Partial,
    SequenceValue,
    Site,
    Value,
    Values,
)
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.worker_seeds.worker_init import init_run

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["CalledInit", "Misfit", "called_init", "misfit", "not_callable"]

_MAX_STEPS: Final = 6


@dataclass(frozen=True, slots=True, eq=False)
class CalledInit:
    """A call in the place of the function: it gives None. `written`: it is in the loader's own call."""

    call: tree.Call
    name: str
    function: FunctionValue | None
    written: bool


@dataclass(frozen=True, slots=True)
class Misfit:
    """Something that cannot be called with the worker id: its definition, its name, and why. `lacking` is the
    function that could be if it had one parameter more, after its others.
    """

    site: Site
    name: str
    reason: str
    lacking: FunctionValue | None = None


def called_init(ev: Evaluator, loader: Loader) -> CalledInit | None:
    """The call whose result, None, is passed instead of the function.

    A function with a `return` that names a value, even None, is a factory that decides there is nothing to run.
    """
    ev.begin_question()
    found = _expression(ev, loader)
    if found is None:
        return None
    node, frame, written = found
    if not isinstance(node, tree.Call):
        return None
    functions = ev.values(node.func, frame)
    if len(functions) != 1:
        return None
    (function,) = functions
    if isinstance(function, External):
        is_seed = function.name in known_calls("seeds_and_gives_none") and seeding_call(function.name) is not None
        return CalledInit(node, function.name, None, written) if is_seed else None
    plain = function.function if isinstance(function, MethodValue) else function
    if not isinstance(plain, FunctionValue) or not isinstance(plain.node, tree.FunctionDef):
        return None
    scope = ev.function_scope(plain)
    gives_nothing = not plain.node.is_generator and all(statement.value is None for statement, _ in scope.returns)
    if gives_nothing and not plain.node.is_async and _is_none(ev.values(node, frame)):
        return CalledInit(node, plain.name, plain, written)
    return None


def _expression(ev: Evaluator, loader: Loader) -> tuple[tree.Expr, Frame, bool] | None:
    """What is written for `worker_init_fn`, a name bound once in the same scope looked up, the frame in which that
    is, and whether it does in the call itself; what a dict of options holds does not.
    """
    name = loader.known.keywords.get("worker_init_fn")
    written = next((arg.value for arg in loader.call.args if name is not None and arg.keyword == name), None)
    if written is None and name in loader.known.parameters:
        place = loader.known.parameters.index(name)
        plain = [arg for arg in loader.call.args if arg.keyword is None]
        if place < len(plain) and not any(arg.star for arg in plain[: place + 1]):
            written = plain[place].value
    if written is None and name is not None:
        entries = (_entry_of(ev, arg.value, loader.frame, name) for arg in loader.call.args if arg.star == "**")
        entry = next((entry for entry in entries if entry is not None), None)
        return (*entry, False) if entry is not None else None
    bound = _bound_once(loader.frame, written)
    if bound is not None:
        return bound, loader.frame, False
    return (written, loader.frame, True) if written is not None else None


def _bound_once(frame: Frame, node: tree.Expr | None) -> tree.Expr | None:
    """The expression that a name of a scope is bound to, where that is the only one."""
    bindings = frame.scope.bindings.get(node.id, ()) if isinstance(node, tree.Name) else ()
    if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].unpack:
        return bindings[0].node  # type: ignore[return-value]
    return None


def _entry_of(ev: Evaluator, node: tree.Expr, frame: Frame, name: str) -> tuple[tree.Expr, Frame] | None:
    """What is written in a dict under a name, where the dict is written down: here, under a name that is bound once, or
    as what a function of the project returns.
    """
    for _ in range(_MAX_STEPS):
        match node:
            case tree.Name(id=used):
                around: Frame | None = frame
                while around is not None and used not in around.scope.bindings:
                    around = around.parent
                bound = _bound_once(around, node) if around is not None else None
                if bound is None or around is None:
                    return None
                node, frame = bound, around
            case tree.DictDisplay(items=items):
                return next(((value, frame) for key, value in items if _is_text(key, name)), None)
            case tree.Call(func=tree.Name(id="dict"), args=args):
                return next(((arg.value, frame) for arg in args if arg.keyword == name), None)
            case tree.Call(func=func, args=args):
                functions = [one for one in ev.values(func, frame) if isinstance(one, FunctionValue)]
                returns = ev.function_scope(functions[0]).returns if len(functions) == 1 else []
                if len(returns) != 1 or returns[0][0].value is None:
                    return None
                node, frame = returns[0][0].value, bound_frame(ev, functions[0], ev.arguments(args, frame))
            case _:
                return None
    return None


def _is_text(node: tree.Expr | None, text: str) -> bool:
    return isinstance(node, tree.Const) and node.value == text


def _is_none(values: Values) -> bool:
    return bool(values) and all(isinstance(value, Constant) and value.value is None for value in values)


def not_callable(values: Values) -> str | None:
    """What is passed instead of a function, where it is proven that nothing of it can be called; None is no mistake."""
    names = {_without_call(value) for value in values}
    return sorted(names)[0] if names and "" not in names else None


def _without_call(value: Value) -> str:
    """A value that cannot be called, in words; empty for any other."""
    match value:
        case Constant(value=constant) if constant is not None:
            return f"`{constant!r}`"
        case ExternalObject(name=name) if name in known_calls("makes_generators"):
            return f"a `{name}`"
        case SequenceValue(kind=kind):
            return f"a {kind}"
        case DictValue():
            return "a dict"
    return ""


def misfit(ev: Evaluator, value: Value) -> Misfit | None:
    """Why a worker cannot call `value` with its number; None where it can, or where nobody can tell."""
    match value:
        case FunctionValue():
            return _of_function(value, 0, 0, frozenset())
        case MethodValue(function=function):
            return _of_function(function, 1, 0, frozenset())
        case Partial(function=functions, arguments=given):
            if given.open_positional or given.open_keywords or len(functions) != 1:
                return None
            (inner,) = functions
            names = frozenset(name for name, _, _ in given.keywords)
            if isinstance(inner, MethodValue):
                return _of_function(inner.function, 1, len(given.positional), names)
            return _of_function(inner, 0, len(given.positional), names) if isinstance(inner, FunctionValue) else None
        case Instance():
            return _of_instance(ev, value)
        case ClassValue():
            return _of_class(ev, value)
    return None


def _of_function(function: FunctionValue, skip: int, positional: int, keywords: frozenset[str]) -> Misfit | None:
    node = function.node
    if isinstance(node, tree.FunctionDef) and node.decorators:
        return None
    reason = _why_not(node.params, skip, positional, keywords)
    if reason is None:
        return None
    places = [param for param in node.params if param.kind == "positional"]
    is_short = len(places) == skip + positional and not any(param.kind == "keyword" for param in node.params)
    lacking = function if is_short and not keywords else None
    return Misfit(Site(function.frame.facts.path, node.site), function.name, reason, lacking)


def _why_not(params: tuple[tree.Param, ...], skip: int, positional: int, keywords: frozenset[str]) -> str | None:
    """Why parameters cannot take one more argument by position, after those that a partial has given."""
    places = [param for param in params if param.kind == "positional"]
    if any(param.kind == "star" for param in params):
        places = places[: skip + positional + 1]
    elif len(places) < skip + positional + 1:
        return "takes no argument" if len(places) == skip + positional == skip else "has no argument left"
    taken, rest = places[skip : skip + positional + 1], places[skip + positional + 1 :]
    twice = [param.name for param in taken if param.name in keywords]
    if twice:
        return f"already has its argument `{twice[0]}`"
    others = [*rest, *(param for param in params if param.kind == "keyword")]
    missing = [param.name for param in others if param.default is None and param.name not in keywords]
    return f"needs `{missing[0]}` as well" if missing else None


def _of_instance(ev: Evaluator, value: Instance) -> Misfit | None:
    if not _is_all_known(ev, value.cls):
        return None
    methods = ev.attribute(value, "__call__")
    if not methods:
        return Misfit(_site(value.cls), value.cls.name, "makes objects that have no `__call__`")
    if len(methods) == 1 and isinstance(method := next(iter(methods)), MethodValue):
        return _of_function(method.function, 1, 0, frozenset())
    return None


def _of_class(ev: Evaluator, cls: ClassValue) -> Misfit | None:
    unbound = _unbound_base(cls)
    if unbound is not None:
        undefined = f"is a class and no function, and the name of its base, `{unbound}`, is not defined"
        return Misfit(_site(cls), cls.name, undefined)
    if not _is_all_known(ev, cls) or attributes.find_method(ev, cls, "__new__") is not None:
        return None
    found = attributes.find_method(ev, cls, "__init__")
    if found is None:
        return Misfit(_site(cls), cls.name, "is a class whose construction takes no argument")
    for function in ordered(found[1]):
        if not isinstance(function, FunctionValue) or not isinstance(function.node, tree.FunctionDef):
            return None
        reason = _why_not(function.node.params, 1, 0, frozenset())
        if function.node.decorators:
            return None
        if reason is not None:
            return Misfit(_site(cls), cls.name, f"is a class whose construction {reason}")
    run = init_run(ev, cls, frozenset())
    if run is not None and run.is_complete and not run.seedings and attributes.find_method(ev, cls, "__call__"):
        return Misfit(_site(cls), cls.name, "is a class: the worker makes an object of it, and nothing calls that")
    return None


def _site(cls: ClassValue) -> Site:
    return Site(cls.frame.facts.path, cls.node.site)


def _is_all_known(ev: Evaluator, cls: ClassValue) -> bool:
    """Whether a class and all its bases are the project's own, plain ones."""
    order = attributes.mro(ev, cls)
    own = [base for base in order if isinstance(base, ClassValue)]
    plain = all(not base.node.decorators and not any(arg.keyword for arg in base.node.bases) for base in own)
    outside = [base.name for base in order if isinstance(base, External)]
    return plain and all(name == "builtins.object" for name in outside) and not attributes.has_unknown_base(ev, cls)


def _unbound_base(cls: ClassValue) -> str | None:
    """A base that is a name which nothing binds, so that the class statement raises."""
    import builtins

    for base in cls.node.bases:
        if not isinstance(base.value, tree.Name) or hasattr(builtins, base.value.id):
            continue
        frame = cls.frame
        while frame is not None:
            if base.value.id in frame.scope.bindings or frame.scope.stars:
                break
            if frame.parent is None:
                return base.value.id
            frame = frame.parent
    return None
