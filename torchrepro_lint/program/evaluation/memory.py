"""The memory of the evaluator: each question is answered once, questions that hang on each other are answered together.

Functions that call each other make questions that come back to themselves. All questions of such a cycle hang on the
one that was asked first, its root. On the inner turn an open question is answered with an assumption, at first that
there is nothing; when the root has its answer, and some assumption was too little, the cycle is gone through again with
what was found. A cycle that has not settled after some rounds is widened: it is gone through once more with each open
question taken to be anything, so that what is kept holds whatever further rounds would add. Then all answers of the
cycle are kept, not the root's alone: the cost of a program is that of its distinct questions, however many of them hang
on each other. (The components are found as in Tarjan's algorithm.)
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from torchrepro_lint.program.evaluation.values import UNKNOWN

__all__ = ["Memory"]

Answer = TypeVar("Answer")

MAX_NESTED_QUESTIONS: Final = 220
MAX_STEPS: Final = 60_000
#: How often a cycle is gone through, each time with what was found before. What has not settled by then is widened: the
#: questions of the cycle are answered once more with each of them taken to be anything.
MAX_ROUNDS: Final = 3
#: An answer that hangs on a limit is found anew by the next question, so often at most. It is kept at once where the
#: present question took more steps than this and yet not all of its budget: to find it anew would cost as much again.
#: After a question that ran out of its budget the next one goes on from all that was found whole.
MAX_STEPS_TWICE: Final = 2_000
MAX_ANEW: Final = 2

#: How often a question is begun again that ran out of its budget; see `Memory.to_the_end`.
MAX_BEGUN_AGAIN: Final = 2

#: How deep a function is followed that calls itself with ever new arguments; see `Memory.inside`.
MAX_RECURSION: Final = 8

#: How many calls up a question follows who calls the callers of a function; see `Memory.further_up`.
MAX_CALLERS: Final = 8

#: How many answers are kept from one question to the next, or twice as many as stayed the last time where that is more.
#: Beyond, those go that are about one value or frame, which are many and found again soon; those about a function, a
#: class or a file stay.
MAX_KEPT: Final = 500_000

_ABOUT_ONE_FRAME: Final = frozenset(
    {"as-dict", "attribute", "augmented", "backward", "call", "events", "handed", "returns", "tensor", "truth"}
)

_NONE_OPEN: Final = 1 << 30
_MISSING: Final = object()


def _is_about_one_frame(key: Hashable) -> bool:
    kind = key[0] if isinstance(key, tuple) else key
    return not isinstance(kind, str) or kind in _ABOUT_ONE_FRAME


class Memory:
    """The answers that are known, and the questions that are open."""

    def __init__(self) -> None:
        self.steps = 0
        #: How many questions were worked on, in all: what the work is proportional to.
        self.computed = 0
        #: Whether any question ran out of its budget.
        self.ran_out = False
        self._memo: dict[Hashable, object] = {}
        self._stayed = 0
        # Equal sets are kept once: most questions have one of a few answers.
        self._sets: dict[Any, Any] = {}
        self._active: dict[Hashable, int] = {}
        # The outermost open question on which the present answer hangs, by its place in the nesting.
        self._hangs_on = _NONE_OPEN
        # Answers of cycles that are not closed yet, in the order in which they were found; `_floors` says of those from
        # a place on what they hang on.
        self._provisional: dict[Hashable, tuple[object, int]] = {}
        self._found: list[Hashable] = []
        self._floors: list[tuple[int, int]] = []
        # What open questions are taken to be, and which were asked within themselves in the present round.
        self._assumed: dict[Hashable, object] = {}
        self._met: list[Hashable] = []
        # From which place in the nesting on an open question is taken to be anything: that of a cycle being widened.
        self._widened_from = _NONE_OPEN
        # Whether the present answer hangs on a limit, and which of those in memory do.
        self._is_cut = False
        self._cut: set[Hashable] = set()
        # Whether the present answer lacks what lies past a limit, and which of those that were found do.
        self._lacks = False
        self._lacking: set[Hashable] = set()
        self._dropped: Counter[Hashable] = Counter()
        self._entered: Counter[Hashable] = Counter()
        self._inside: Counter[Hashable] = Counter()
        self._up = 0

    def begin_question(self, most: int | None = None) -> None:
        """Starts a new question with a budget of its own, also where many are asked to answer one: of `most` steps, if
        it is to cost less than others.
        """
        self._close()
        self._lacks = False
        self.steps = 0 if most is None else max(0, MAX_STEPS - most)
        if len(self._memo) > max(MAX_KEPT, 2 * self._stayed):
            self._forget_details()
            self._stayed = len(self._memo)

    def _forget_details(self) -> None:
        """Drops what is many and found again soon."""
        self._memo = {key: answer for key, answer in self._memo.items() if not _is_about_one_frame(key)}
        self._cut &= self._memo.keys()
        self._lacking &= self._memo.keys()
        self._sets.clear()

    @property
    def exhausted(self) -> bool:
        """Whether the present question ran out of its budget, so that some answers were left unknown."""
        return self.steps > MAX_STEPS

    def to_the_end(self, ask: Callable[[], Answer]) -> Answer:
        """What a question gives that is begun again, on top of all that it found, where it runs out of its budget: so
        that its answer does not hang on what others have found before.
        """
        answer = ask()
        for _ in range(MAX_BEGUN_AGAIN):
            if not self.exhausted:
                break
            self.begin_question()
            answer = ask()
        return answer

    @property
    def lacks(self) -> bool:
        """Whether the present answer lacks what lies past a limit, in what it was found from too."""
        return self._lacks

    def leave_out(self) -> None:
        """Says of the present answer that it lacks something: who needs all of it may be anything."""
        self._lacks = True

    def may_enter(self, function: Hashable, limit: int) -> bool:
        """Whether the present question may look into one more of the calls of a function: so many at most.

        A function that calls itself twice with ever new arguments is followed twice as often with each step further in.
        """
        self._entered[function] += 1
        if self._entered[function] > limit:
            self._is_cut = True
            return False
        return True

    @contextmanager
    def inside(self, function: Hashable) -> Iterator[bool]:
        """Around the look into a call of a function: whether it is not too deep in calls of the same one."""
        is_shallow = self._inside[function] < MAX_RECURSION
        if not is_shallow:
            self._is_cut = True
        self._inside[function] += 1
        try:
            yield is_shallow
        finally:
            self._inside[function] -= 1

    @contextmanager
    def further_up(self) -> Iterator[None]:
        """Around the work on an upward question: one call further up from where the whole began."""
        self._up += 1
        try:
            yield
        finally:
            self._up -= 1

    def remembered(
        self,
        key: Hashable,
        compute: Callable[[], Answer],
        again: Answer,
        beyond: Answer | None = None,
        *,
        upward: bool = False,
    ) -> Answer:
        """The answer to the question `key`, computed once.

        `again` is what the question is taken to be inside itself at first; `beyond` says that it may be anything: the
        answer past the limits of nesting and steps, and what the question is taken to be inside a cycle that does not
        settle; `again` if there is none. An `upward` question is one about callers.
        """
        answer = self._memo.get(key, _MISSING)
        if answer is not _MISSING:
            if self._cut and key in self._cut:
                self._is_cut = True
            if self._lacking and key in self._lacking:
                self._lacks = True
            return answer  # type: ignore[return-value]
        place = self._active.get(key)
        if place is not None:
            self._hangs_on = min(self._hangs_on, place)
            if place >= self._widened_from:
                taken: Answer = self._assumed.get(key, again)  # type: ignore[assignment]
                return self._anything(taken, again, beyond, upward)
            self._met.append(key)
            return self._assumed.setdefault(key, again)  # type: ignore[return-value]
        provisional = self._provisional.get(key)
        if provisional is not None:
            self._hangs_on = min(self._hangs_on, self._floor(provisional[1]))
            self._lacks = self._lacks or key in self._lacking
            return provisional[0]  # type: ignore[return-value]
        depth = len(self._active)
        self.steps += 1
        if upward and self._up >= MAX_CALLERS:
            self._is_cut = True
            return again
        if depth >= MAX_NESTED_QUESTIONS or self.steps > MAX_STEPS:
            self._is_cut = True
            self.ran_out = self.ran_out or self.steps > MAX_STEPS
            return self._anything(again, again, beyond, upward)
        return self._answered(key, compute, depth, beyond)

    def _anything(self, found: Answer, again: Answer, beyond: Answer | None, upward: bool) -> Answer:
        """What a question that cannot be answered is taken to be. Where no answer of its kind says that it may be
        anything, as a list of calls cannot, what was `found` lacks something, and who needs it may be anything.
        """
        if beyond is not None:
            return beyond
        if again is None or upward:
            return again
        self._lacks = True
        return found

    def on_its_own(self, key: Hashable, compute: Callable[[], Answer], again: Answer) -> Answer:
        """The answer to a question that has a budget of its own, as one that is not about the place at which somebody
        happens to ask it: what was spent on that place before neither cuts this answer short nor counts it.
        """
        steps, self.steps = self.steps, 0
        try:
            return self.remembered(key, compute, again)
        finally:
            self.steps = steps

    def of_text(self, key: Hashable, compute: Callable[[], Answer]) -> Answer:
        """What the text of one file says by itself, computed once, whatever is left of the budget: an empty table in
        its place would say that the text has no calls, or no statements. `key` holds the facts, the scope or the node
        by its identity; what is computed asks no other question.
        """
        answer = self._memo.get(key, _MISSING)
        if answer is _MISSING:
            self.steps += 1
            answer = compute()
            self._keep(key, answer, is_cut=False)
        return answer  # type: ignore[return-value]

    def of_project(self, name: str, compute: Callable[[], Answer], again: Answer) -> Answer:
        """A table of the whole project, computed once, on its own: the question that first needs it may have little
        left of its budget. That an entry hangs on a limit is no reason to find all of them anew.
        """

        def whole() -> Answer:
            answer = compute()
            self._is_cut = self._lacks = False
            return answer

        return self.on_its_own((name,), whole, again)

    def once(self, answers: dict[Hashable, Any], key: Hashable, compute: Callable[[], Answer]) -> Answer:
        """The answer to the question `key` in a table of somebody else's, computed once. It may not hang on open
        questions.
        """
        if key not in answers:
            answers[key] = compute()
        return answers[key]  # type: ignore[no-any-return]

    def _answered(self, key: Hashable, compute: Callable[[], Answer], depth: int, beyond: Answer | None) -> Answer:
        outer, outer_cut, outer_lacks = self._hangs_on, self._is_cut, self._lacks
        start, met, assumed = len(self._found), len(self._met), len(self._assumed)
        self._active[key] = depth
        self.computed += 1
        self._is_cut = self._lacks = False
        hangs_on = _NONE_OPEN
        try:
            for rounds in range(1, MAX_ROUNDS + 1):
                self._hangs_on = _NONE_OPEN
                answer = compute()
                hangs_on = self._hangs_on
                if hangs_on != depth or self._is_enough(answer, start) or not self._assume_more(key, answer, met):
                    break
                self._forget(start, met)
                if rounds == MAX_ROUNDS:
                    answer, hangs_on = self._widened(compute, depth)
            if self._lacks:
                if beyond is not None:
                    answer, self._lacks = beyond, False
                else:
                    self._lacking.add(key)
        except BaseException:
            self._forget(start, met)
            self._assume_no_more(assumed)
            raise
        finally:
            del self._active[key]
            self._hangs_on = min(outer, hangs_on) if hangs_on < depth else outer
            is_cut, self._is_cut = self._is_cut, self._is_cut or outer_cut
            self._lacks = self._lacks or outer_lacks
        if isinstance(answer, frozenset):
            answer = self._sets.setdefault(answer, answer)
        if hangs_on < depth:
            self._provisional[key] = (answer, start)
            self._found.append(key)
            self._lower(start, hangs_on)
            return answer
        self._keep(key, answer, is_cut)
        if len(self._met) > met or len(self._found) > start:  # most questions are on no cycle
            for other in self._found[start:]:
                self._keep(other, self._provisional[other][0], is_cut)
            self._forget(start, met)
            self._assume_no_more(assumed)
        if not depth:
            self._close()
        return answer

    def _widened(self, compute: Callable[[], Answer], depth: int) -> tuple[Answer, int]:
        """The answer of the cycle whose root is at `depth`, with its open questions taken to be anything."""
        outer, self._widened_from = self._widened_from, min(self._widened_from, depth)
        self._hangs_on = _NONE_OPEN
        try:
            answer = compute()
        finally:
            self._widened_from = outer
        return answer, self._hangs_on

    def _is_enough(self, answer: object, start: int) -> bool:
        """Whether an answer on which no other hangs says already that it may be anything."""
        return len(self._found) == start and isinstance(answer, frozenset) and UNKNOWN in answer

    def _assume_more(self, root: Hashable, answer: object, met: int) -> bool:
        """Takes what was found for what will be found; whether that is anything new."""
        changed = False
        for key in self._met[met:]:
            found = answer if key == root else self._provisional[key][0]
            if self._assumed[key] != found:
                self._assumed[key] = found
                changed = True
        return changed

    def _assume_no_more(self, count: int) -> None:
        """Drops the assumptions but for the first ones, which are those of cycles further out."""
        while len(self._assumed) > count:
            self._assumed.popitem()

    def _keep(self, key: Hashable, answer: object, is_cut: bool) -> None:
        self._memo[key] = answer
        if is_cut:
            self._cut.add(key)

    def _forget(self, start: int, met: int) -> None:
        """Drops the provisional answers, and what was met, since these places."""
        for key in self._found[start:]:
            self._provisional.pop(key, None)
        del self._found[start:], self._met[met:]
        while self._floors and self._floors[-1][0] >= start:
            self._floors.pop()

    def _lower(self, start: int, place: int) -> None:
        """All that was found from `start` on hangs on the open question at `place`."""
        while self._floors and self._floors[-1][0] >= start:
            self._floors.pop()
        self._floors.append((start, place))

    def _floor(self, found_at: int) -> int:
        """What the provisional answer found at this place hangs on."""
        return self._floors[bisect_right(self._floors, (found_at, _NONE_OPEN)) - 1][1]

    def _close(self) -> None:
        """Ends a question of its own: what hung on a limit is dropped, where it is no great loss."""
        self._entered.clear()
        if self.steps <= MAX_STEPS_TWICE or self.exhausted:
            for key in self._cut:
                if self._dropped[key] < MAX_ANEW:
                    self._dropped[key] += 1
                    self._memo.pop(key, None)
                    self._lacking.discard(key)
        self._cut.clear()
