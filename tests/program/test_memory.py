"""The evaluator's memory: questions that hang on each other are settled together, and each once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from program.asking import named, program_of, shown

from torchrepro_lint.program.evaluation.memory import (
    MAX_ANEW,
    MAX_BEGUN_AGAIN,
    MAX_CALLERS,
    MAX_NESTED_QUESTIONS,
    MAX_STEPS,
    MAX_STEPS_TWICE,
    Memory,
)
from torchrepro_lint.program.evaluation.values import MAX_MEMBERS


def _of_graph(edges: dict[str, str]) -> tuple[Memory, dict[str, frozenset[str]], list[str]]:
    """Asks in turn what each node of a graph reaches; gives the answers, and the nodes in the order of the work."""
    memory, worked_on = Memory(), list[str]()

    def reached(node: str) -> frozenset[str]:
        def compute() -> frozenset[str]:
            worked_on.append(node)
            return frozenset(node).union(*(reached(other) for other in edges[node]))

        return memory.remembered(node, compute, frozenset())

    return memory, {node: reached(node) for node in edges}, worked_on


@pytest.mark.parametrize(
    ("edges", "reached"),
    [
        ({"a": "b", "b": ""}, {"a": "ab", "b": "b"}),
        ({"a": "a"}, {"a": "a"}),
        ({"a": "b", "b": "a"}, {"a": "ab", "b": "ab"}),
        ({"a": "b", "b": "ac", "c": "b"}, {"a": "abc", "b": "abc", "c": "abc"}),
        ({"a": "bc", "b": "a", "c": "b"}, {"a": "abc", "b": "abc", "c": "abc"}),
        ({"a": "b", "b": "c", "c": "bd", "d": "c"}, {"a": "abcd", "b": "bcd", "c": "bcd", "d": "bcd"}),
        # The inner cycle of c and d is gone through within that of a and b, and hangs on it.
        ({"a": "bd", "b": "c", "c": "da", "d": "c"}, {"a": "abcd", "b": "abcd", "c": "abcd", "d": "abcd"}),
        # An answer that another one met on the way hangs on what that one does.
        ({"a": "b", "b": "cd", "c": "ba", "d": "c"}, {"a": "abcd", "b": "abcd", "c": "abcd", "d": "abcd"}),
    ],
)  # fmt: skip
def test_all_of_a_cycle_know_what_its_root_knows(edges: dict[str, str], reached: dict[str, str]) -> None:
    assert _of_graph(edges)[1] == {node: frozenset(others) for node, others in reached.items()}


def test_the_answers_do_not_depend_on_which_is_asked_first() -> None:
    edges = {"a": "bd", "b": "ce", "c": "da", "d": "c", "e": "f", "f": "e"}
    backwards = {node: edges[node] for node in reversed(edges)}
    assert _of_graph(edges)[1] == _of_graph(backwards)[1]


def test_a_cycle_is_not_gone_through_for_each_of_its_questions() -> None:
    ring = "abcdefghijklmnopqrstuvwxyz"
    _, _, worked_on = _of_graph(dict.fromkeys(ring, ring))
    assert len(worked_on) <= 3 * len(ring)


def test_an_answer_that_fails_leaves_no_trace() -> None:
    memory = Memory()

    def fail() -> int:
        memory.remembered("key", lambda: 1, 2)
        raise ValueError

    with pytest.raises(ValueError):
        memory.remembered("key", fail, 0)
    assert memory.remembered("key", lambda: 3, 0) == 3


def test_an_answer_that_hangs_on_a_limit_is_found_again_when_it_is_asked_for_itself() -> None:
    memory = Memory()

    def down(depth: int) -> str:
        return memory.remembered(depth, lambda: down(depth - 1) if depth else "the ground", "again", "too deep")

    assert down(MAX_NESTED_QUESTIONS) == "too deep"
    assert down(MAX_NESTED_QUESTIONS - 1) == "the ground"


def test_a_function_that_calls_itself_with_ever_new_arguments_is_followed_so_far(tmp_path: Path) -> None:
    program = program_of(tmp_path, "def grow(x):\n    return grow([x, 1]) if x else 'end'\ny = grow(flag)\n")
    assert named(program, "y") == "'end'"


def test_of_many_calls_of_a_function_the_last_ones_have_their_constants_still(tmp_path: Path) -> None:
    calls = ", ".join(f"pick(data[{number}], 'test')" for number in range(100))
    pick = "def pick(x, mode):\n    if mode == 'train':\n        return 'flipped'\n    return 'plain'\n"
    program = program_of(tmp_path, f"{pick}asked = ({calls})\ny = asked[99]\n")
    assert named(program, "y") == "'plain'"


def test_a_function_that_calls_itself_twice_with_ever_new_arguments_is_followed_so_far(tmp_path: Path) -> None:
    program = program_of(
        tmp_path, "def grow(x):\n    return grow([x, 1]) or grow([x, 2]) if x else 'end'\ny = grow(flag)\n"
    )
    assert named(program, "y") == "'end'"
    assert program.ev.computed < 20_000


def _steps(tmp_path: Path, calls: int) -> Callable[[int], str]:
    """A program in which `step0` is given something that goes through so many functions; what the x of a step is."""
    chain = [f"def step{number}(x):\n    return step{number + 1}(x)" for number in range(calls - 1)]
    text = "\n".join([*chain, f"def step{calls - 1}(x):\n    return x", "step0('given')", ""])
    program = program_of(tmp_path, text)
    facts = program.facts(tmp_path / "main.py")
    assert facts is not None

    def given(step: int) -> str:
        program.ev.begin_question()
        scope = next(scope for scope in facts.walk_scopes() if scope.name == f"step{step}")
        (frame,) = program.ev.contexts(facts, scope)
        return shown(frame.param("x") or frozenset())

    return given


@pytest.mark.parametrize(("calls", "given"), [(MAX_CALLERS, "'given'"), (MAX_CALLERS + 1, "?")])
def test_callers_are_followed_so_far_up(tmp_path: Path, calls: int, given: str) -> None:
    assert _steps(tmp_path, calls)(calls - 1) == given


def test_how_far_up_callers_were_followed_for_a_function_further_down_does_not_matter(tmp_path: Path) -> None:
    given = _steps(tmp_path, MAX_CALLERS + 1)
    assert given(MAX_CALLERS) == "?"
    assert given(MAX_CALLERS - 1) == "'given'"


def _calling_each_other(count: int) -> str:
    """A program of functions each of which gives what three others give, or itself."""
    lines = []
    for number in range(count):
        others = sorted({(number + 1) % count, (2 * number) % count, (number + count // 2) % count})
        lines += [
            f"def ask{number}(node):",
            *(f"    if node.kind == {other}:\n        return ask{other}(node.left)" for other in others),
            f"    return ask{number}",
        ]
    return "\n".join([*lines, f"asked = [{', '.join(f'ask{number}(tree)' for number in range(count))}]", ""])


def _work(tmp_path: Path, count: int) -> int:
    program = program_of(tmp_path, _calling_each_other(count))
    assert named(program, "asked").count("def ask") == min(count, MAX_MEMBERS) * count
    facts = program.facts(tmp_path / "main.py")
    assert facts is not None
    for scope in facts.walk_scopes():
        if scope.name.startswith("ask"):
            program.ev.begin_question()
            program.ev.contexts(facts, scope)
    return program.ev.computed


def test_the_work_on_functions_that_call_each_other_is_in_proportion_to_their_number(tmp_path: Path) -> None:
    small, middle, large = (_work(tmp_path, count) for count in (6, 12, 24))
    assert middle <= 2.5 * small
    assert large <= 2.5 * middle


def _nested() -> tuple[Memory, list[int], Callable[[], int]]:
    """A memory, a question that nests past the limit, and, before it, how deep each work on it was."""
    memory, found = Memory(), list[int]()

    def answer(depth: int = 0) -> int:
        def compute() -> int:
            found.append(depth)
            return answer(depth + 1)

        return memory.remembered(("nested", depth), compute, 0)

    return memory, found, answer


def test_an_answer_at_a_limit_is_found_anew_a_few_times_and_then_kept() -> None:
    memory, found, answer = _nested()
    counts = []
    for _ in range(MAX_ANEW + 3):
        memory.begin_question()
        before = len(found)
        answer()
        counts.append(len(found) - before)
    assert all(counts[: MAX_ANEW + 1])
    assert counts[MAX_ANEW + 1 :] == [0, 0]


def test_what_a_long_question_found_at_a_limit_is_not_lost_with_the_next_short_one() -> None:
    memory, found, answer = _nested()
    memory.begin_question()
    for number in range(MAX_STEPS_TWICE + 1):
        memory.remembered(("short", number), lambda: 0, 0)
    answer()
    asked = len(found)
    for _ in range(3):
        memory.begin_question()
        answer()
    assert len(found) == asked


def test_what_a_question_left_unknown_when_it_ran_out_of_its_budget_the_next_one_finds() -> None:
    memory = Memory()

    def crowd() -> str:
        for number in range(MAX_STEPS + 1):
            memory.remembered(("one of many", number), lambda: 0, 0)
        return memory.remembered("last", lambda: "found", "again", "unknown")

    memory.begin_question()
    assert memory.remembered("crowd", crowd, "again") == "unknown"
    memory.begin_question()
    assert memory.remembered("last", lambda: "found", "again", "unknown") == "found"
    assert memory.remembered("crowd", crowd, "again") == "found"


def test_a_question_that_ran_out_of_its_budget_is_begun_again() -> None:
    memory = Memory()

    def crowd() -> str:
        for number in range(MAX_STEPS + 1):
            memory.remembered(("one of many", number), lambda: 0, 0)
        return memory.remembered("last", lambda: "found", "again", "unknown")

    memory.begin_question()
    assert memory.to_the_end(lambda: memory.remembered("crowd", crowd, "again")) == "found"


def test_a_question_that_runs_out_of_every_budget_is_begun_again_a_few_times() -> None:
    memory, begun = Memory(), list[None]()

    def endless() -> str:
        begun.append(None)
        memory.steps = MAX_STEPS + 1
        return "unknown"

    assert memory.to_the_end(endless) == "unknown"
    assert len(begun) == 1 + MAX_BEGUN_AGAIN


def test_a_table_of_the_project_is_made_once_though_an_entry_hangs_on_a_limit() -> None:
    memory, _, answer = _nested()
    made: list[None] = []

    def table() -> str:
        made.append(None)
        answer()
        return "table"

    for _ in range(3):
        memory.begin_question()
        assert memory.of_project("table", table, "again") == "table"
    assert len(made) == 1


def test_the_work_of_dropping_answers_grows_with_the_answers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchrepro_lint.program.evaluation.memory.MAX_KEPT", 10)
    dropped: list[int] = []

    class Counting(Memory):
        def _forget_details(self) -> None:
            dropped.append(len(self._memo))
            super()._forget_details()

    memory = Counting()
    for number in range(1_000):
        memory.begin_question()
        memory.remembered(("mro", number), lambda: "stays", "again")
        memory.remembered(("call", number), lambda: "goes", "again")
    assert sum(dropped) < 8_000
    assert len(memory._memo) < 2_000


def test_equal_sets_that_answer_different_questions_are_one() -> None:
    memory = Memory()
    first, second = (memory.remembered(name, lambda: frozenset(["b", "a"]), frozenset()) for name in ("one", "two"))
    assert first == {"a", "b"}
    assert first is second
