"""All claims of many fixtures: which runs they need, the runs themselves, one row for each claim."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from torchrepro_lint.verify.claims import Claim, Device, NotShown, StartMethod
from torchrepro_lint.verify.fixtures import Fixture
from torchrepro_lint.verify.judge import Outcome, Verdict, compares_runs, judge, perturbation
from torchrepro_lint.verify.runner import Condition, Run, run_program

# A program has a main process and a few workers that wait for each other: as many programs as processors fill them.
JOBS = max(2, os.cpu_count() or 2)
# For what hangs, and nothing else: how long a program takes says how busy the machine is, and some import torch anew in
# each of their workers.
TIMEOUT = 600.0  # seconds
NO_CUDA = Verdict(Outcome.SKIPPED, "no CUDA device")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run: on which devices, which of them are there, how often, for how many seconds, how many at a time.

    `runs` are made of a program that claims something about several runs; one of any other.
    """

    devices: tuple[Device, ...]
    available: tuple[Device, ...]
    runs: int = 2
    timeout: float = TIMEOUT
    jobs: int = JOBS


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the result. `device` is None for a claim that nothing is run for.

    `start_methods` are those by which the loaders were seen to start their workers; empty where none did.
    """

    fixture: Fixture
    claim: Claim
    device: Device | None
    verdict: Verdict
    start_methods: tuple[str, ...] = ()


def verify(
    fixtures: Sequence[Fixture], plan: Plan, progress: Callable[[int, int], None] = lambda done, total: None
) -> list[Row]:
    """Run what the claims of the fixtures need and judge them, in the order of the fixtures and their claims."""
    places = [(fixture, claim, device) for fixture in fixtures for claim, device in _places(fixture, plan)]
    needed: dict[tuple[Fixture, Condition], None] = {}
    for fixture, claim, device in places:
        if device in plan.available:
            for condition in _conditions(claim, device, plan.runs):
                needed.setdefault((fixture, condition))
    runs = _run_all(list(needed), plan, progress)
    return [_row(fixture, claim, device, plan, runs) for fixture, claim, device in places]


def _places(fixture: Fixture, plan: Plan) -> Iterable[tuple[Claim, Device | None]]:
    """Each claim with each device that it is to be shown on.

    A claim without a device is also shown on CUDA where there is one; where there is none, and the CPU was asked for
    too, that is not worth a row.
    """
    for claim in fixture.claims:
        if isinstance(claim.observation, NotShown):
            yield claim, None
        elif claim.device is not None:
            if claim.device in plan.devices:
                yield claim, claim.device
        else:
            for device in plan.devices:
                if device in plan.available or len(plan.devices) == 1:
                    yield claim, device


def _plain(device: Device, start_method: StartMethod | None, runs: int) -> list[Condition]:
    # Where a start method is the platform's own, asking for it changes nothing: such a run is the plain one.
    method = None if start_method == multiprocessing.get_all_start_methods()[0] else start_method
    # Each run has a hash seed of its own: what depends on the order of a set of strings then shows.
    return [Condition(device, method, hash_seed=number) for number in range(1, runs + 1)]


def _perturbed(claim: Claim, device: Device) -> Condition | None:
    what = perturbation(claim.observation)
    return None if what is None else Condition(device, claim.start_method, perturb=what)


def _conditions(claim: Claim, device: Device, runs: int) -> list[Condition]:
    perturbed = _perturbed(claim, device)
    runs = runs if compares_runs(claim.observation) else 1
    return [*_plain(device, claim.start_method, runs), *([perturbed] if perturbed is not None else [])]


def _run_all(
    needed: list[tuple[Fixture, Condition]], plan: Plan, progress: Callable[[int, int], None]
) -> dict[tuple[Fixture, Condition], Run]:
    def run(item: tuple[Fixture, Condition]) -> Run:
        fixture, condition = item
        entry = fixture.entry
        return run_program(entry.parent, entry.name, condition, timeout=plan.timeout, alone=fixture.alone)

    results: dict[tuple[Fixture, Condition], Run] = {}
    with ThreadPoolExecutor(max_workers=plan.jobs) as pool:
        for done, (item, result) in enumerate(zip(needed, pool.map(run, needed), strict=True), start=1):
            results[item] = result
            progress(done, len(needed))
    return results


def _row(
    fixture: Fixture,
    claim: Claim,
    device: Device | None,
    plan: Plan,
    runs: dict[tuple[Fixture, Condition], Run],
) -> Row:
    if device is None:
        return Row(fixture, claim, device, judge(claim, ()))
    if device not in plan.available:
        return Row(fixture, claim, device, NO_CUDA)
    # All that were made for any claim of the program.
    conditions = _plain(device, claim.start_method, plan.runs)
    plain = [runs[fixture, condition] for condition in conditions if (fixture, condition) in runs]
    condition = _perturbed(claim, device)
    verdict = judge(claim, plain, None if condition is None else runs[fixture, condition])
    seen = dict.fromkeys(method for run in plain for method in run.record.start_methods)
    return Row(fixture, claim, device, verdict, tuple(seen))
