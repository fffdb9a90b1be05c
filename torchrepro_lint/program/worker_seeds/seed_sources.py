"""What the result of an outside call depends on, when the call runs in a worker process."""

from __future__ import annotations

from collections.abc import Callable

from torchrepro_lint.knowledge.calls import known_calls, known_packages
from torchrepro_lint.knowledge.conditions import Parameter
from torchrepro_lint.knowledge.rng import RngEffect, rng_effects
from torchrepro_lint.program.worker_seeds.dependence import CONSTANT, ENTROPY, UNKNOWN_SEED, Dependence, Term, on

__all__ = ["CallInWorker", "initial_state", "outside_call"]

#: Reads the present state of one of the global generators: "python", "numpy" or "torch".
State = Callable[[str], Dependence]


class CallInWorker:
    """One outside call: its name, what is written as its arguments, and what those and its receiver depend on."""

    __slots__ = ("argument", "given", "name", "receiver", "state")

    def __init__(
        self,
        name: str,
        given: Dependence,
        receiver: Dependence,
        argument: Callable[[Parameter], Dependence | None],
        state: State,
    ) -> None:
        self.name = name
        self.given = given
        self.receiver = receiver
        self.argument = argument
        self.state = state


def outside_call(call: CallInWorker) -> Dependence:
    """What the result of the call depends on."""
    name = call.name
    if name == "torch.initial_seed":
        return call.state("torch")
    if name in known_calls("present_process"):
        return UNKNOWN_SEED
    for effect in rng_effects(name):
        found = _of_effect(effect, call)
        if found is not None:
            return found
    if name in known_calls("keeps_size"):
        return call.given
    if name.partition(".")[0] in known_packages("computes") or call.given.terms or call.receiver.terms:
        return (call.given | call.receiver).narrow
    return UNKNOWN_SEED if "seed" in name.lower() or "rand" in name.lower() else (call.given | call.receiver).narrow


def _of_effect(effect: RngEffect, call: CallInWorker) -> Dependence | None:
    given = (call.given | call.receiver).narrow
    match effect.kind, effect.rng:
        case "make", _:
            parameter = effect.seed_parameter
            if parameter is None:
                return given  # torch.Generator() has a constant seed
            seed = call.argument(parameter)
            return ENTROPY if seed is None or seed.none else given
        case "draw" | "read-state", "receiver" | "own":
            return given
        case "draw", "entropy" | "fresh":
            return ENTROPY | given
        case "draw" | "read-state", "python" | "torch" | "numpy":
            parameter = effect.generator_parameter
            generator = call.argument(parameter) if parameter is not None else None
            if generator is not None and not generator.none:
                return given
            state = call.state(effect.rng)
            return (state if effect.rng == "numpy" and effect.kind == "read-state" else _drawn(state)) | given
        case "seed", _ if effect.seed_parameter is None:
            return ENTROPY  # torch.seed() gives the seed that it took from the system
    return None


def _drawn(state: Dependence) -> Dependence:
    """A draw from a generator that was seeded so: every bit of the seed takes part in it."""
    if state.has(Term.TORCH_SEED):
        return Dependence(state.terms - {Term.TORCH_SEED} | {Term.DRAW})
    return state.narrow


def initial_state(rng: str) -> Dependence:
    """What the state of a global generator depends on before the init function has seeded anything."""
    match rng:
        case "torch":
            return on(Term.TORCH_SEED, wide=True)
        case "python":
            return on(Term.DRAW)
        case "numpy":
            return on(Term.NUMPY_STATE)
    return CONSTANT
