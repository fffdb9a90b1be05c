"""Puts the instruments in place, each when the program imports what it watches."""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from torchrepro_lint.verify.after_import import AfterImport
from torchrepro_lint.verify.script.entries import Header
from torchrepro_lint.verify.script.plan import Plan
from torchrepro_lint.verify.script.watch import quiet
from torchrepro_lint.verify.script.watch.arrivals import ArrivalWatch
from torchrepro_lint.verify.script.watch.collectives import CollectiveWatch
from torchrepro_lint.verify.script.watch.contention import Contention
from torchrepro_lint.verify.script.watch.draws import DrawWatch
from torchrepro_lint.verify.script.watch.evaluation import EvaluationWatch
from torchrepro_lint.verify.script.watch.limit import RunLimit
from torchrepro_lint.verify.script.watch.loaders import BatchWatch
from torchrepro_lint.verify.script.watch.operations import OperationWatch
from torchrepro_lint.verify.script.watch.parameter_names import ParameterNames
from torchrepro_lint.verify.script.watch.printed import PrintWatch
from torchrepro_lint.verify.script.watch.processes import ProcessWatch, watch_compile
from torchrepro_lint.verify.script.watch.recorder import Identity, Recorder
from torchrepro_lint.verify.script.watch.seeds import SeedWatch, watch_numpy, watch_random, watch_torch
from torchrepro_lint.verify.script.watch.settings import SettingsWatch
from torchrepro_lint.verify.script.watch.training import TrainingWatch

installed: Recorder | None = None


def install(plan: Plan, header: Header | None = None, identity: Identity | None = None) -> Recorder:
    """Watch this process from now on. What it has imported already is watched at once, the rest when it is imported."""
    global installed
    recorder = installed = Recorder(plan, header, identity)
    names = ParameterNames()
    limit = RunLimit(recorder)
    settings = SettingsWatch(recorder)
    training = TrainingWatch(recorder, names, limit, settings)
    batches = BatchWatch(recorder, limit)
    processes = ProcessWatch(recorder, batches)
    seeds = SeedWatch(recorder)
    evaluation = EvaluationWatch(recorder)

    def torch_is_there(torch: Any) -> None:
        quiet.learn(torch)
        watch_torch(seeds, torch)
        watch_compile(recorder, torch)
        training.watch_backward(torch.autograd)
        if plan.contend:
            contention = Contention(torch, functools.partial(recorder.note, "contention"))
            recorder.on_window(contention.follow)
            recorder.on_end(contention.end)

    hooks: dict[str, list[Callable[[Any], None]]] = {
        "numpy.random": [lambda module: watch_numpy(seeds, module)],
        "torch": [torch_is_there],
        "torch.nn.modules.module": [evaluation.watch_modules],
        "torch.optim.optimizer": [training.watch_optimizers],
        "torch.utils.data.dataloader": [batches.watch],
        "multiprocessing.process": [processes.watch_multiprocessing],
        "torch.distributed": [CollectiveWatch(recorder).watch],
        "torch.optim.swa_utils": [evaluation.watch_averages],
        "subprocess": [processes.watch_subprocess],
    }
    if plan.settings:
        hooks["torch.optim.lr_scheduler"] = [settings.watch_schedulers]
        hooks["torch.amp.grad_scaler"] = [settings.watch_scalers]
    PrintWatch(recorder).watch()
    watch_random(seeds, random)
    if plan.is_full:
        draws = DrawWatch(recorder)
        draws.watch_random(random)
        hooks["numpy.random"].append(draws.watch_numpy)
        arrivals = ArrivalWatch(recorder)
        arrivals.watch_hash()
        hooks["multiprocessing.pool"] = [arrivals.watch_pool]
        hooks["concurrent.futures"] = [arrivals.watch_futures]
        hooks["torch.nn.modules.module"].append(names.watch)
        hooks["torch"].append(OperationWatch(recorder, names).watch)
    _when_imported(hooks)
    processes.watch()
    return recorder


def _when_imported(hooks: dict[str, list[Callable[[Any], None]]]) -> None:
    later: dict[str, Callable[[ModuleType], None]] = {}
    for name, functions in hooks.items():

        def call(module: ModuleType, functions: list[Callable[[Any], None]] = functions) -> None:
            for function in functions:
                function(module)

        if (module := sys.modules.get(name)) is not None:
            call(module)
        else:
            later[name] = call
    sys.meta_path.insert(0, AfterImport(later))
