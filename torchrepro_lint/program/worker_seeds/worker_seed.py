"""`SeedReader`: what an expression in code that runs in a worker depends on.

It reads backwards from the expression over the bindings that reach it, and forwards into the project's own functions,
whose parameters carry the dependence of what is given to them (see dependence.py). Frames that the init function enters
run in the worker; names of all other frames were computed in the main process before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import dotted_name, sub_expressions
from torchrepro_lint.facts.scopes import END, Binding
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.program.evaluation.builtin_calls import member_name
from torchrepro_lint.program.evaluation.expressions import comprehension_frames
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.inner_tests import options_of
from torchrepro_lint.program.evaluation.values import (
    UNKNOWN,
    ClassValue,
    Constant,
    External,
    ExternalObject,
    FunctionValue,
    Instance,
    MemberOf,
    MethodValue,
    Partial,
    Value,
    Values,
)
from torchrepro_lint.program.running.written_arguments import written_argument
from torchrepro_lint.program.worker_seeds.dependence import (
    CONSTANT,
    NONE,
    UNKNOWN_SEED,
    Dependence,
    Term,
    joined,
    of_values,
    on,
)
from torchrepro_lint.program.worker_seeds.main_process import attribute_of_main, name_of_main
from torchrepro_lint.program.worker_seeds.seed_arithmetic import combined, of_item
from torchrepro_lint.program.worker_seeds.seed_sources import CallInWorker, outside_call
from torchrepro_lint.program.worker_seeds.worker_frames import WorkerFrames
from torchrepro_lint.program.worker_seeds.worker_info import is_worker_info

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.evaluator import Evaluator

__all__ = ["SeedReader"]

_MAX_DEPTH = 60


class SeedReader(WorkerFrames):
    """Answers what expressions depend on, in one run of one init function in a worker."""

    def __init__(self, ev: Evaluator, dataset: Values) -> None:
        super().__init__(ev, dataset)
        self._active: set[tuple[int, Frame]] = set()

    # --- expressions ------------------------------------------------------------------------------------------

    def of(self, node: tree.Expr, frame: Frame) -> Dependence:
        """What the value of `node` depends on, in a frame that runs in the worker."""
        return self._once(node, frame, lambda: self._of(node, frame))

    def _once(self, node: tree.Expr | tree.AugAssign, frame: Frame, read: Callable[[], Dependence]) -> Dependence:
        key = (id(node), frame)
        if key in self._active:
            return CONSTANT  # a loop: what takes part is found on the outer turn
        if len(self._active) > _MAX_DEPTH:
            return UNKNOWN_SEED
        self._active.add(key)
        try:
            return read()
        finally:
            self._active.discard(key)

    def _of(self, node: tree.Expr, frame: Frame) -> Dependence:
        match node:
            case tree.Const(value=value):
                return NONE if value is None else CONSTANT
            case tree.Lambda():
                return CONSTANT
            case tree.Name(id=name, site=site):
                return self._name(name, site, frame)
            case tree.Attribute():
                return self._attribute(node, frame)
            case tree.Call():
                return self._call(node, frame)
            case tree.Subscript(value=value, index=index):
                return of_item(self.of(value, frame), value, index) | self.of(index, frame).narrow
            case tree.Binary(op=op, left=left, right=right):
                return combined(op, self.of(left, frame), self.of(right, frame), self.ev.values(right, frame))
            case tree.Boolean() | tree.Conditional():
                return joined(self.of(option, frame) for option in options_of(self.ev, node, frame))
            case tree.Walrus(value=value) | tree.Await(value=value) | tree.Starred(value=value):
                return self.of(value, frame)
            case tree.Comprehension(element=element, clauses=clauses):
                found = self.of(clauses[0].iter, frame).narrow
                for inner in comprehension_frames(self.ev, node, frame):
                    found = found | self.of(element, self.enter(inner, (frame, node.site)))
                return found
        found = CONSTANT
        for part in sub_expressions(node):
            found = found | self.of(part, frame)
        return found if isinstance(node, (tree.Display, tree.Unary)) else found.narrow

    # --- names ------------------------------------------------------------------------------------------------

    def _name(self, name: str, place: int, frame: Frame) -> Dependence:
        """What a name stands for at a place."""
        current: Frame | None = frame
        wanted = None
        while current is not None:
            scope = current.scope
            wanted = scope.declared.get(name) or wanted
            at_module = wanted == "global" and scope.node is not None
            foreign_class = current is not frame and isinstance(scope.node, tree.ClassDef)
            if not (at_module or foreign_class) and name in scope.bindings:
                if current not in self.inside:
                    return name_of_main(name, current)
                where = current
                bindings, _ = scope.reaching(name, place, lambda path, at=where: self.ev.decide(path, at))  # type: ignore[misc]
                if bindings:
                    return joined(self._binding(binding, current, place) for binding in bindings)
            if not isinstance(scope.node, (tree.Comprehension, tree.ClassDef)):
                place = END
            current = current.parent
        return CONSTANT

    def _binding(self, binding: Binding, frame: Frame, place: int) -> Dependence:
        node = binding.node
        match binding.kind, node:
            case "param", tree.Param(name=name):
                return of_values(frame.param(name) or frozenset())
            case "augmented", tree.AugAssign(target=tree.Name(id=name), op=op, value=value, site=site):
                before = self._once(node, frame, lambda: self._name(name, site, frame))
                return combined(op, before, self.of(value, frame), self.ev.values(value, frame))
            case "assign", tree.Display(items=items) if len(binding.unpack) == 1 and binding.unpack[0] < len(items):
                return self.of(items[binding.unpack[0]], frame)
            case "assign", _:
                found = self.of(node, frame)  # type: ignore[arg-type]
                return found.narrow if binding.unpack else self._fed(binding, found, frame, place)
            case "element" | "context", _:
                inner = frame.parent if isinstance(frame.scope.node, tree.Comprehension) and frame.parent else frame
                return self.of(node, inner).narrow  # type: ignore[arg-type]
            case "import" | "import-from" | "function" | "class", _:
                return CONSTANT
        return UNKNOWN_SEED

    def _fed(self, binding: Binding, found: Dependence, frame: Frame, place: int) -> Dependence:
        """What was brought into an object after it was made: `digest.update(x)`, `generator.manual_seed(x)`."""
        for call, path in frame.scope.calls:
            match call.func:
                case tree.Attribute(value=tree.Name(id=name), attr=attr) if name == binding.name:
                    if not binding.order < call.site < place or self.ev.decide(path, frame) is False or not call.args:
                        continue
                    brought = self.of(call.args[0].value, frame).narrow
                    if attr in ("seed", "manual_seed"):
                        found = brought
                    elif attr in method_words("seed_parts", "into"):
                        found = found | brought
        return found

    # --- attributes -------------------------------------------------------------------------------------------

    def _attribute(self, node: tree.Attribute, frame: Frame) -> Dependence:
        owners = self.ev.values(node.value, frame)
        if any(map(is_worker_info, owners)):
            return _of_worker_info(node.attr)
        stored = self._stored(node, frame)
        if stored is not None:
            return stored
        marked = of_values(self.ev.values(node, frame))
        inner = self.of(node.value, frame)
        if marked.terms or marked.wide or inner.terms:
            return marked | inner.narrow
        if self.is_dataset(node.value, frame):
            owners = self.dataset
            if not owners or UNKNOWN in owners:
                return UNKNOWN_SEED
        own = [owner for owner in owners if isinstance(owner, Instance)]
        homes = [owner.cls.frame.facts for owner in own] or [frame.facts]
        return joined(attribute_of_main(node.attr, home, of_object=bool(own)) for home in homes)

    def _stored(self, node: tree.Attribute, frame: Frame) -> Dependence | None:
        """What this function itself has assigned to the attribute before."""
        if frame not in self.inside:
            return None
        wanted = dotted_name(node)
        if wanted is None:
            return None
        found = [
            self.of(store.value, frame)
            for store in frame.scope.stores
            if store.statement.site < node.site and not store.augmented and dotted_name(store.target) == wanted
            if self.ev.decide(store.path, frame) is not False
        ]
        return found[-1] if found else None

    # --- calls ------------------------------------------------------------------------------------------------

    def _call(self, node: tree.Call, frame: Frame) -> Dependence:
        given = CONSTANT
        for arg in node.args:
            given = given | self.of(arg.value, frame)
        receiver = self.of(node.func.value, frame).narrow if isinstance(node.func, tree.Attribute) else CONSTANT
        functions = self.callees(node.func, frame)
        return joined(self._called(value, node, frame, given, receiver) for value in functions)

    def _called(
        self, value: Value, node: tree.Call, frame: Frame, given: Dependence, receiver: Dependence
    ) -> Dependence:
        match value:
            case External(name=name):
                return outside_call(self._outside(name, node, frame, given, receiver))
            case FunctionValue() | MethodValue() | Partial():
                frames = list(self.frames_of(value, self.arguments(node.args, frame)))
                return joined(self.returned(self.enter(inner, (frame, node.site))) for inner in frames)
            case MemberOf():
                name = member_name(value) or f"?.{value.attr}"
                return outside_call(self._outside(name, node, frame, given, receiver))
            case ClassValue() | ExternalObject() | Instance():
                return (given | receiver).narrow
        return self._unresolved(node.func, given, receiver)

    def _outside(
        self, name: str, node: tree.Call, frame: Frame, given: Dependence, receiver: Dependence
    ) -> CallInWorker:
        def argument(parameter: Parameter) -> Dependence | None:
            written = written_argument(node, parameter)
            if written is None:
                return CONSTANT if any(arg.star for arg in node.args) else None
            return self.seed_of(written, frame)

        return CallInWorker(name, given, receiver, argument, lambda rng: self.state(rng, frame, node.site))

    def seed_of(self, node: tree.Expr, frame: Frame) -> Dependence:
        """What a seed depends on; a seed that is proven to be None is one from entropy, and `none` says so."""
        found = self.of(node, frame)
        if not found.terms:
            values = self.ev.values(node, frame)
            if values and all(value == _NONE for value in values):
                return NONE
        return found

    def _unresolved(self, func: tree.Expr, given: Dependence, receiver: Dependence) -> Dependence:
        match func:
            case tree.Attribute(attr=attr) if attr in method_words("seed_parts") | method_words("asks_for_rank"):
                return (given | receiver).narrow
            case tree.Name(id=name) if name in method_words("asks_for_rank"):
                return CONSTANT
        return UNKNOWN_SEED

    def returned(self, frame: Frame) -> Dependence:
        """What a function of the project gives back in a frame of the worker."""
        node = frame.scope.node
        if isinstance(node, tree.Lambda):
            return self.of(node.body, frame)
        given = [
            self.of(statement.value, frame) if statement.value is not None else NONE
            for statement, path in frame.scope.returns
            if self.ev.may_run(statement.site, path, frame)
        ]
        return joined(given) if given else NONE


_NONE = Constant(None)


def _of_worker_info(attr: str) -> Dependence:
    match attr:
        case "id":
            return on(Term.WORKER)
        case "seed":
            return on(Term.TORCH_SEED, wide=True)
    return CONSTANT
