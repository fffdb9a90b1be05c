"""A question has a budget of its own: what is found in a file does not hang on how many others the project has."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from program.asking import program_of

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.engine import check
from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.facts.scopes import END, Scope
from torchrepro_lint.program.evaluation import handed_lists, memory
from torchrepro_lint.program.evaluation.aliases import aliases_of
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import Arguments, Constant, Site, values_of
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.intent.intent_at import is_chosen_against, ways_of
from torchrepro_lint.program.ordering.generators import seedings
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.bodies import BodyWalker
from torchrepro_lint.program.running.call_index import calls_in
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.held_names import held_names
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.seeds import seed_faults
from torchrepro_lint.program.workers.init_faults import Fault, faulty_seedings
from torchrepro_lint.rules import all_rules
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.toolkit import Toolkit

FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = 40

SEEDED = """\
import torch


def order(n, seed):
    g = torch.Generator()
    g.manual_seed(seed)
    return torch.randperm(n, generator=g)


order(8, {number})
"""
GLOBAL = """\
import torch


def order(n, rng):
    return torch.randperm(n, generator=rng)


order(8, torch.default_generator)
"""
SEEDED_ITEMS = """\
import random

from torch.utils.data import DataLoader, Dataset


class Crops{number}(Dataset):
    def __getitem__(self, index):
        random.seed(4)
        return index + random.random()


DataLoader(Crops{number}(), num_workers=2)
"""
EPOCHS = """\
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def train(data, epochs):
    sampler = DistributedSampler(data)
    loader = DataLoader(data, sampler=sampler)
    for epoch in range(epochs):
        for batch in loader:
            print(batch)


train([{number}], 8)
"""
OPERATIONS = """\
import torch

torch.backends.cudnn.deterministic = True


def spread(values, count):
    out = torch.zeros(count, device="cuda")
    places = torch.arange({number}, {number} + count, device="cuda")
    return out.index_add(0, places, values)


spread(torch.rand(8, device="cuda"), 8)
"""


@pytest.mark.parametrize(
    ("code", "text", "findings"),
    [
        ("TRL108", SEEDED_ITEMS, FILES),
        ("TRL203", SEEDED, 0),
        ("TRL204", GLOBAL, FILES),
        ("TRL206", EPOCHS, FILES),
        ("TRL402", OPERATIONS, 0),
    ],
)
def test_the_last_file_is_judged_as_the_first(
    write, monkeypatch: pytest.MonkeyPatch, code: str, text: str, findings: int
) -> None:
    monkeypatch.setattr(memory, "MAX_STEPS", 150)
    root: Path = write({"pyproject.toml": ""} | {f"m{n}.py": text.replace("{number}", str(n)) for n in range(FILES)})
    toolkit = Toolkit(rules=lambda: [rule for rule in all_rules() if rule.code == code])
    assert len(check([root], {"profile": "strict"}, toolkit=toolkit).findings) == findings


class _Spender(Rule):
    """Leaves nothing of the budget of its question, and finds nothing."""

    code, name = "TRL999", "spender"

    def check(self, program: Program) -> Iterator[Finding]:
        program.ev.steps = memory.MAX_STEPS + 1
        return iter(())


def _places(root: Path, rules: Callable[[], list[Rule]]) -> list[tuple[str, Path, int]]:
    findings = check([root], {"profile": "strict"}, toolkit=Toolkit(rules=rules)).findings
    return [(one.code, one.location.path, one.location.start.row) for one in findings]


@pytest.mark.parametrize("folder", ["TRL103_*", "TRL201_*", "TRL203_*", "TRL208_*", "TRL304_*", "TRL402_*", "TRL502_*"])
def test_what_a_rule_or_a_place_has_spent_is_not_missing_to_the_next(
    write, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    texts = [path.read_text() for path in sorted(FIXTURES.glob(f"{folder}/bad_*.py"))[:8]]
    root: Path = write({"pyproject.toml": ""} | {f"m{number}.py": text for number, text in enumerate(texts)})
    expected = _places(root, all_rules)
    finding = Rule.finding

    def and_spend(self: Rule, program: Program, *arguments: Any, **options: Any) -> Finding:
        found = finding(self, program, *arguments, **options)
        program.ev.steps = memory.MAX_STEPS + 1
        return found

    monkeypatch.setattr(Rule, "finding", and_spend)
    assert _places(root, lambda: [one for rule in all_rules() for one in (_Spender(), rule)]) == expected
    assert expected


LONG = """\
import random

from torch.utils.data import DataLoader, Dataset


class Long(Dataset):
    def __getitem__(self, index):
        return {parts}


def init(worker):
    random.seed(4)


DataLoader(Long(), num_workers=2, worker_init_fn=init)
"""


@pytest.mark.parametrize("asked_before", [False, True])
def test_a_walk_that_was_cut_is_known_to_be_whoever_asked_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked_before: bool
) -> None:
    program = program_of(tmp_path, LONG.replace("{parts}", " + ".join(["self.size"] * 400)))
    monkeypatch.setattr(memory, "MAX_STEPS", 150)
    if asked_before:
        for loader in program.loaders:
            program.worker_run(loader)
    assert len(faulty_seedings(program, Fault.SAME)) == 1


def test_a_table_of_the_project_is_whole_whoever_needs_it_first(tmp_path: Path) -> None:
    program = program_of(tmp_path, SEEDED.replace("{number}", "0"))
    program.ev.begin_question()
    program.ev.steps = memory.MAX_STEPS + 1
    assert len(seedings(program)) == 1
    assert len(entry_points(program)) == 1
    assert program.ev.exhausted  # the question that needed them has no more than it had


SWITCHED = """\
import time

import torch


def start(seed):
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(int(time.time()))


start(0)
"""


def test_a_place_is_known_though_nobody_can_say_any_more_who_calls_it(tmp_path: Path) -> None:
    program = program_of(tmp_path, SWITCHED)
    (switch,) = (one for one in program.evidence if one.effect == "benchmark")
    program.ev.begin_question()
    program.ev.steps = memory.MAX_STEPS + 1
    (way,) = ways_of(program, switch)
    assert [waypoint.scope.name for waypoint in way] == ["start"]
    assert not is_chosen_against(program, switch, re.compile("benchmark"))


@pytest.mark.parametrize(("is_left", "count"), [(True, 1), (False, 0)])
def test_a_seed_is_no_fault_if_the_ways_to_it_are_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_left: bool, count: int
) -> None:
    program = program_of(tmp_path, SWITCHED)

    def innocent(program: Program, one: Evidence) -> bool:
        if not is_left:
            program.ev.steps = memory.MAX_STEPS + 1
        return False

    monkeypatch.setattr(seed_faults, "is_innocent", innocent)
    assert len(list(seed_faults.changing_seeds(program))) == count


DEEPER = """\
import random


def run(level):
    random.random()
    return run(level + 1) + run([level])


class Tree:
    def __init__(self, draw): self.draw = draw
    def run(self, level):
        self.draw()
        return self.run(level + 1)


def trees(): return Tree(random.random).run(0)
"""


@pytest.mark.parametrize("function", ["run", "trees"])
def test_a_function_in_itself_is_followed_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    walked: list[Frame] = []
    events_of = BodyWalker._events_of
    monkeypatch.setattr(BodyWalker, "_events_of", lambda self, frame: walked.append(frame) or events_of(self, frame))
    program = program_of(tmp_path, DEEPER)
    facts = program.facts(tmp_path / "main.py")
    assert facts is not None
    given = Arguments((values_of(Constant(0)),)) if function == "run" else None
    found = program.walker.calling(program.ev.name(function, END, program.ev.module_frame(facts)), given)
    assert [event.name for event in found if event.name] == ["random.random"]
    assert len(walked) < 100


def test_what_a_function_passes_on_in_each_of_its_branches_is_followed_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = "".join(
        f"def copy_{n}(x, memo):\n    memo[id(x)] = copy(x[0], memo), copy(x[{n}], memo)\n    return x\n\n\n"
        for n in range(4)
    )
    branches = "".join(f"    if kind(x) == {n}:\n        y = copy_{n}(x, memo)\n" for n in range(4))
    text = (
        f"{kinds}def copy(x, memo):\n{branches}    memo[id(x)] = x\n\n\nmemo = {{}}\ncopy([[1], 2], memo)\ny = memo\n"
    )
    program = program_of(tmp_path, text)
    followed: list[object] = []
    frame_of = handed_lists._frame

    def and_count(*given: Any) -> Frame | None:
        followed.append(given)
        assert len(followed) < 500
        return frame_of(*given)

    monkeypatch.setattr(handed_lists, "_frame", and_count)
    facts = program.facts(tmp_path / "main.py")
    assert facts is not None
    assert program.ev.name("y", END, program.ev.module_frame(facts))


def test_what_is_found_does_not_hang_on_how_many_answers_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in sorted(FIXTURES.glob("TRL107_*/bad_*.py"))[:8]:
        shutil.copy(path, tmp_path)  # a project of their own, and not part of that of all fixtures
    kept = check([tmp_path]).findings
    monkeypatch.setattr(memory, "MAX_KEPT", 50)
    assert check([tmp_path]).findings == kept
    assert len(kept) >= 8


def test_a_long_run_lets_go_of_the_frames_and_sets_of_answers_that_it_drops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "MAX_KEPT", 50)
    calls = "".join(f"x{number} = order(8, {number})\n" for number in range(400))
    program = program_of(tmp_path, SEEDED.format(number=0) + calls)
    facts = program.facts(tmp_path / "main.py")
    assert facts is not None
    for number in range(400):
        program.ev.begin_question()
        program.ev.name(f"x{number}", END, program.ev.module_frame(facts))
    assert len(program.ev._frames) < 100
    assert len(program.ev._sets) < 100


TEXT = """\
import argparse
import os

def f(scale=2):
    rows = []
    other = rows
    if scale:
        return 1
    os.makedirs("made")
    f(3)
    return 2

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
f()
"""


@pytest.mark.parametrize(
    "told",
    [
        lambda program, facts: type(parents_of(program.ev, facts).statement(facts.scope.calls[-1][0])).__name__,
        lambda program, facts: [one.call.site for one in calls_in(program.ev, facts, "f")],
        lambda program, facts: held_names(program.ev, facts),
        lambda program, facts: aliases_of(program.ev, _function(facts), "rows"),
        lambda program, facts: place_of(program.ev, Site(facts.path, _function(facts).calls[-1][0].site)).scope.name,
    ],
    ids=["parents", "calls by name", "names that hold values", "aliases", "statements"],
)
def test_what_a_text_says_is_known_past_the_budget(
    told: Callable[[Program, ModuleFacts], object], tmp_path: Path
) -> None:
    answers = []
    for steps in (0, memory.MAX_STEPS + 1):
        program = program_of(tmp_path, TEXT)
        facts = program.facts(tmp_path / "main.py")
        assert facts is not None
        program.ev.steps = steps
        answers.append(repr(told(program, facts)))
    assert answers[0] == answers[1]


def _function(facts: ModuleFacts) -> Scope:
    return next(scope for scope in facts.walk_scopes() if scope.name == "f")
