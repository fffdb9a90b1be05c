"""Where an operation runs: on which device, with or without gradients, with torch's determinism flag on or off."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.names import canonical
from torchrepro_lint.knowledge.ops import OpRow
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.evaluation.classes import takes_context
from torchrepro_lint.program.evaluation.values import ClassValue
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import programs_of_ways, ways_of
from torchrepro_lint.program.intent.trainers import is_of_an_evaluation
from torchrepro_lint.program.ops.cpu_devices import names_the_cpu_alone
from torchrepro_lint.program.ops.data_inputs import works_on_data
from torchrepro_lint.program.ops.module_runs import is_called_only_where, is_never_called, module_runs
from torchrepro_lint.program.ops.no_gradient import is_cut_off, is_part_of_its_counts, is_put_into_data
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.ops.regions import is_without_grad, stands_in
from torchrepro_lint.program.ops.tensor_values import is_network_class
from torchrepro_lint.program.running.callers import contexts, frame_without_callers
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.named_uses import is_named_by
from torchrepro_lint.program.running.way_frames import may_come_through, may_have_further_calls
from torchrepro_lint.program.running.ways import (
    Way,
    Waypoint,
    chosen_by,
    is_followed_by,
    own_way,
    runs_as_script,
    surely_before,
    ways,
)

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = [
    "flag_is_off",
    "is_about_cuda",
    "is_inside",
    "may_run_backward",
    "may_run_on_cuda",
    "may_use_cuda",
    "of_its_users",
    "of_reaching_programs",
    "of_trainings",
    "speaks_of_a_device",
    "trains",
    "ways_to",
]

# What a program says that may use a GPU: its own words for one, or a device that comes from outside. To seed CUDA, also
# where that is there, uses none: `if torch.cuda.is_available(): torch.cuda.manual_seed_all(seed)`.
_SEEDS_CUDA: Final = rb"cuda\s*\.\s*(?:manual_seed|seed(?:_all)?\b|[gs]et_rng_state)"
_GPU = re.compile(
    rb"(?!" + _SEEDS_CUDA + rb"|cuda\.is_available\(\)\s*:\s*(?:#.*\s+)?torch\." + _SEEDS_CUDA + rb")cuda"
    rb"|gpu|nccl|rocm|accelerat|\bTrainer\b|--device\b|\b(?:args?|opts?|options|cfg|conf|config|hparams|hps|params"
    rb"|flags|FLAGS|settings)(?:\.\w+)*(?:\.device\b|\[[\"']device[\"']\])",
    re.IGNORECASE,
)
_TRAINS: Final = program_words("trains")
#: A class of that name that the project defines by itself, and what trains but for a library's.
_OWN_TRAINER: Final = re.compile(rb"\bclass\s+Trainer\s*(?:\(\s*(?:object)?\s*\))?\s*:")
_TRAINS_ITSELF: Final = re.compile(_TRAINS.pattern.replace(rb"\bTrainer\b", rb"(?!)"), _TRAINS.flags)
_MAY_TRAIN: Final = program_words("trains", "may_train")
_TRAINING: Final = function_words("chooses_training")


def ways_to(program: Program, operation: Operation) -> tuple[Way, ...]:
    """The ways that lead to an operation, or to the construction of the module that contains it, wherever that is."""
    frame = operation.frame
    if operation.is_module:
        return (own_way(frame.facts, frame.scope, operation.call.site),)
    return program.ev.remembered(
        ("ways", operation.site), lambda: ways(program.ev, frame.facts, frame.scope, operation.call.site), ()
    )


# --- device -------------------------------------------------------------------------------------------------------


def may_use_cuda(program: Program, path: Path) -> bool:
    """Whether a program that runs the file mentions a GPU and does not hide the GPUs."""
    return not program.project.holds(path, _HIDDEN) and program.imports.any_together(path, _GPU)


def may_run_on_cuda(program: Program, operation: Operation) -> bool:
    """Whether the operation may run on a GPU: the program mentions one, and no proof puts its inputs on the CPU."""
    if not may_use_cuda(program, operation.site.path):
        return False
    if _is_on_cpu(operation) or _is_on_cpu_for_all_callers(program, operation):
        return program.imports.any_together(operation.site.path, _DEFAULT_DEVICE)
    return True


def prepares_data(program: Program, operation: Operation) -> bool:
    """Whether an operation prepares data, by the name of its file, which mentions no device: it runs on the CPU."""
    path = operation.site.path
    return (
        _is_about_data(program, path)
        and not _needs_grad(operation)
        and not program.project.holds(path, _NAMES_A_DEVICE)
    )


def _is_on_cpu(operation: Operation) -> bool:
    return operation.all_inputs(lambda one: one.on_cpu)


def _is_on_cpu_for_all_callers(program: Program, operation: Operation) -> bool:
    """Whether whoever runs the function around an operation has its inputs on the CPU."""
    frames = contexts(program.ev, operation.frame.facts, operation.frame.scope)
    return all(_is_on_cpu(operation.at(frame)) for frame in frames)


_HIDDEN = re.compile(rb"""CUDA_VISIBLE_DEVICES["']\]?\s*[,=]\s*["'](?:-1)?["']""")
_DEFAULT_DEVICE = re.compile(rb"set_default_device|set_default_tensor_type|with torch\.device\(")
_DEVICE = re.compile(rb"cuda|gpu|device", re.IGNORECASE)
_NAMES_A_DEVICE = re.compile(_DEVICE.pattern + rb"|nn\.Module", re.IGNORECASE)
_NAMED_GPU = re.compile(_GPU.pattern + rb"|[\"']device[\"']|_device\(", re.IGNORECASE)


def speaks_of_a_device(program: Program, path: Path) -> bool:
    """Whether a program that runs the file mentions CUDA or a device that may be a GPU, and does not hide the GPUs."""
    if program.project.holds(path, _HIDDEN) or not program.imports.any_together(path, _DEVICE):
        return False
    return program.imports.any_together(path, _NAMED_GPU) or not all(
        (facts := program.facts(one)) is not None and names_the_cpu_alone(program.ev, facts)
        for one in program.imports.together(path)
        if program.project.holds(one, _DEVICE)
    )


# --- gradients ----------------------------------------------------------------------------------------------------


def may_run_backward(program: Program, operation: Operation, row: OpRow) -> bool:
    """Whether a backward pass goes through the operation: the program trains, and the operation lies on a path to a
    loss.
    """
    if not _is_trained(program, operation.site.path):
        return False
    if operation.is_module and is_never_called(program, operation.frame.facts, operation.call):
        return False
    if is_cut_off(program.ev, operation) or is_part_of_its_counts(operation) or works_on_data(program.ev, operation):
        return False
    if is_put_into_data(program.ev, operation):
        return False
    # What is read by an index may as well be positions or labels: then the function itself must be one of training.
    own = "indices" in row.flags
    places = ways_to(program, operation)
    if "spectrum" in row.flags:
        places = tuple(way for way in places if not _stands_before_a_network(program, operation, way))
    return any(_is_differentiated(program, operation, way, own=own) for way in places)


def of_its_users(program: Program, operation: Operation, intent: list[Evidence]) -> list[Evidence]:
    """The intent of the programs that mention the function or class around the operation: of a file with many networks,
    a program may use only one.
    """
    place = operation.frame.facts, operation.frame.scope
    return [one for one in intent if is_named_by(program, *place, one.roots, (one.frame.facts.path, one.frame.scope))]


def of_reaching_programs(program: Program, operation: Operation, intent: list[Evidence]) -> list[Evidence]:
    """The intent of the programs that may come to the operation with the arguments that they give: one that builds the
    network "plain" makes none of those that another name stands for.
    """
    frame = operation.frame
    places = ways(program.ev, frame.facts, frame.scope, operation.call.site)
    reaching = [way for way in places if may_come_through(program.ev, way)]
    if len(reaching) == len(places) or any(may_have_further_calls(program.ev, way) for way in places):
        return intent
    programs = programs_of_ways(program, tuple(reaching))
    return [one for one in intent if not programs.isdisjoint(one.roots)]


def of_trainings(program: Program, path: Path, intent: list[Evidence]) -> list[Evidence]:
    """The intent of the programs that load the file and may train. What a demo switches on does not apply to training,
    nor does what a function without gradients switches on, or a Trainer that only tests.
    """
    above = program.imports.above(path)
    return [
        one
        for one in intent
        if any(_may_train(program, one, root) for root in one.roots & above)
        and not is_without_grad(program.ev, one.frame.facts, one.frame.scope, one.site.number)
        and not is_of_an_evaluation(program.ev, one)
    ]


def _may_train(program: Program, one: Evidence, root: Path) -> bool:
    """Whether a program in which code that `root` runs sets a switch may train. What `root` does as a script belongs to
    that program alone, whatever else imports it.
    """
    own = [way for way in ways_of(program, one) if way[-1].facts.path == root]
    if own and all(map(runs_as_script, own)):
        return program.imports.any_below(root, _MAY_TRAIN)
    return program.imports.any_together(root, _MAY_TRAIN)


def _is_trained(program: Program, path: Path) -> bool:
    """Whether a program that loads the file trains. If no program of the project loads it, one outside is assumed to
    train it, provided that the settings ask for determinism.
    """
    trains_itself = program.imports.any_together(path, _OWN_TRAINER)
    if program.imports.any_together(path, _TRAINS_ITSELF if trains_itself else _TRAINS):
        return True
    if program.settings.intent != "deterministic":
        return False
    packages = {file.parent for file in program.project.files if file.name == "__init__.py"}
    programs = {entry.path for entry in entry_points(program) if entry.path.parent not in packages}
    return programs.isdisjoint(program.imports.above(path))


def trains(program: Program, scripts: Iterable[Path]) -> bool:
    """Whether one of the modules trains, judging by the text of it and of all that it imports."""
    return any(program.imports.any_below(script, _TRAINS) for script in scripts)


def _is_differentiated(program: Program, operation: Operation, way: Way, *, own: bool) -> bool:
    def is_off(waypoint: Waypoint) -> bool:
        return _is_without_grad(program, waypoint)

    if any(map(is_off, way)) or chosen_by((way,), _TRAINING, wanted=False):
        return False
    if not operation.is_module and is_called_only_where(program.ev, way, is_off):
        return False
    if _is_about_data(program, operation.site.path) and not _needs_grad(operation):
        return False
    if any(_is_of_inference(program, waypoint.facts.path) for waypoint in way):
        return False
    if operation.is_module or _needs_grad(operation):
        return not _is_not_of_training(way[0])
    if operation.subject is None and not _is_in_a_network(program, way[0]):
        return False  # it may be data as well as what a network gave
    for waypoint in way[:1] if own else way:
        if _is_not_of_training(waypoint):
            return False
        if function_words("training").search(waypoint.scope.name):
            return True
        if any(
            isinstance(call.func, tree.Attribute) and call.func.attr == "backward" for call, _ in waypoint.scope.calls
        ):
            return True
    return False


def _stands_before_a_network(program: Program, operation: Operation, way: Way) -> bool:
    """Whether what makes a spectrum makes it of the recording: a module does, and so does what runs as part of a
    network, unless a name says that it is of a loss.
    """
    if operation.is_module:
        return not _is_in_a_loss(way[0])
    if _needs_grad(operation) or any(map(_is_in_a_loss, way)):
        return False
    return any(_is_in_a_network(program, waypoint) for waypoint in way)


def _needs_grad(operation: Operation) -> bool:
    return operation.any_input(lambda one: bool(one.grad))


def _is_about_data(program: Program, path: Path) -> bool:
    parts = path.relative_to(program.root).with_suffix("").parts if path.is_relative_to(program.root) else (path.stem,)
    return any(function_words("about_data").fullmatch(part) for part in parts)


def _is_of_inference(program: Program, path: Path) -> bool:
    """Whether a file is about using a trained network, by its name, and trains none."""
    return bool(function_words("about_inference").search(path.stem)) and not program.project.holds(path, _TRAINS)


def _names_around(waypoint: Waypoint) -> list[str]:
    """The names of the function in which the place is and of its class."""
    scope = waypoint.scope
    around = scope.parent
    return [scope.name, around.name] if around is not None and isinstance(around.node, tree.ClassDef) else [scope.name]


def _is_not_of_training(waypoint: Waypoint) -> bool:
    """Whether the place is in a function or class for evaluation or data preparation, judging by its name."""
    return any(function_words("not_training").search(name) for name in _names_around(waypoint))


def _is_in_a_loss(waypoint: Waypoint) -> bool:
    return any(function_words("losses").search(name) for name in (*_names_around(waypoint), waypoint.facts.path.stem))


def _is_in_a_network(program: Program, waypoint: Waypoint) -> bool:
    scope = waypoint.scope
    while scope.parent is not None and not isinstance(scope.node, tree.ClassDef):
        scope = scope.parent
    if not isinstance(scope.node, tree.ClassDef) or scope.parent is None:
        return False
    around = frame_without_callers(program.ev, waypoint.facts, scope.parent)
    return is_network_class(program.ev, ClassValue(scope.node, around))


def _is_without_grad(program: Program, waypoint: Waypoint) -> bool:
    if takes_context(waypoint.scope):  # its `backward` is written by hand
        return True
    return is_without_grad(program.ev, waypoint.facts, waypoint.scope, waypoint.site)


def is_inside(program: Program, operation: Operation, contexts: frozenset[str]) -> bool:
    """Whether the operation is in a `with` block of one of these context managers, or is called from one."""
    return any(
        stands_in(program.ev, waypoint.facts, waypoint.scope, waypoint.site, contexts)
        for way in ways_to(program, operation)
        for waypoint in way
    )


# --- the flag -----------------------------------------------------------------------------------------------------


def flag_is_off(program: Program, operation: Operation) -> bool:
    """Whether the last switch before the operation is `use_deterministic_algorithms(False)`, on every way to it; for a
    module, before its calls, wherever it was built.
    """
    switches = [one for one in program.evidence if one.effect in ("algorithms", "algorithms-off", "algorithms-warn")]
    if not any(one.effect == "algorithms-off" for one in switches):
        return False
    places: tuple[Way, ...] = ()
    if operation.is_module:
        places = module_runs(program.ev, operation.frame.facts, operation.frame.scope, operation.call)
    above = program.imports.above(operation.site.path)
    undone = _all_undone_by_trainers(program, [one for one in switches if not one.roots.isdisjoint(above)])
    return all(
        word == "algorithms-off" or (not word and undone)
        for way in places or ways_to(program, operation)
        for word in (_last_word(program, switches, way),)
    )


def _all_undone_by_trainers(program: Program, switches: Sequence[Evidence]) -> bool:
    """Whether a framework's trainer that switches the flag off, `Trainer(deterministic=False)`, certainly follows on
    each statement that switches it on: what the trainer runs, on ways that the project does not show, runs without it.
    """
    trainers = [
        one
        for one in switches
        if one.effect == "algorithms-off" and canonical(one.name) in known_calls("makes_a_trainer")
    ]
    return bool(trainers) and all(
        any(is_followed_by(ways_of(program, one), ways_of(program, trainer)) for trainer in trainers)
        for one in switches
        if one.effect != "algorithms-off"
    )


def _last_word(program: Program, switches: Sequence[Evidence], way: Way) -> str:
    """The effect of the last switch before the place on this way, as far as it certainly runs."""
    before = [
        (moment, one.effect)
        for one in switches
        for other in ways_of(program, one)
        if (moment := surely_before(other, way)) is not None
    ]
    return max(before)[1] if before else ""


def is_about_cuda(row: OpRow) -> bool:
    """Whether a row is about CUDA, and holds for the newest release of the package that it is about."""
    return row.device in ("cuda", "any") and _library_admits(row)


def _library_admits(row: OpRow) -> bool:
    """Whether the newest release of the other package that a row requires satisfies it, that is, whether the row sets
    no upper bound.
    """
    return row.requires is None or "<" not in row.requires
