"""An evaluator that records what each answer depends on, so that a change discards no more than necessary."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from torchrepro_lint.facts.module import ModuleFacts
from torchrepro_lint.program.evaluation.evaluator import Evaluator
from torchrepro_lint.program.evaluation.reliance import Reliances
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.kept.project import KeptProject
from torchrepro_lint.program.kept.retired import is_about

__all__ = ["TracedEvaluator"]

Answer = TypeVar("Answer")


class TracedEvaluator(Evaluator):
    """Gives the same answers as its base. While a question is worked on, `looks.present` collects what its answer
    depends on: what it looks up in the texts, and everything that the answers taken from memory depend on.

    The answers of a cycle depend on what its root depends on, so they are stored once that is known. The objects in a
    question's key need no record: they disappear together with the facts that they belong to.
    """

    def __init__(self, project: KeptProject) -> None:
        super().__init__(project)
        self._looks = project.looks
        self._rests: dict[Hashable, int] = {}
        self._rests_elsewhere: dict[tuple[int, Hashable], int] = {}
        # Equal numbers are kept once: they are long, and most answers of a question share one.
        self._numbers: dict[int, int] = {}

    def begin_analysis(self, undone: int, retired: Sequence[ModuleFacts] = ()) -> None:
        """Discards all answers that depend on one of these bits, and all that are about discarded facts."""
        self.begin_question()
        self._dropped.clear()
        self._rests_elsewhere.clear()
        self._looks.present = 0
        if undone:
            self._forget_answers([key for key, rests in self._rests.items() if rests & undone])
        if retired:
            self._let_go(retired)

    def _forget_answers(self, keys: Iterable[Hashable]) -> None:
        for key in keys:
            del self._rests[key]
            self._memo.pop(key, None)
            self._lacking.discard(key)

    def _let_go(self, retired: Sequence[ModuleFacts]) -> None:
        """Nothing stays that holds them, or knows them by their identity."""
        is_gone = is_about(retired)
        self._forget_answers([key for key in self._rests if is_gone(key)])
        self._module_frames = {key: frame for key, frame in self._module_frames.items() if not is_gone(frame)}
        self._frames = {frame: frame for frame in self._frames if not is_gone(frame)}
        # These are found again soon, and of the calls of a function none is open.
        self._reliances = Reliances()
        self._sets.clear()
        self._inside.clear()

    def begin_question(self, most: int | None = None) -> None:
        before = self._memo
        super().begin_question(most)
        if self._memo is not before:
            self._rests = {key: self._rests[key] for key in self._memo}

    def remembered(
        self,
        key: Hashable,
        compute: Callable[[], Answer],
        again: Answer,
        beyond: Answer | None = None,
        *,
        upward: bool = False,
    ) -> Answer:
        if key in self._memo:
            self._looks.present |= self._rests[key]
            return super().remembered(key, compute, again, beyond, upward=upward)
        outer, self._looks.present = self._looks.present, 0
        self._note_files(key)
        try:
            return super().remembered(key, compute, again, beyond, upward=upward)
        finally:
            self._looks.present |= outer

    def of_text(self, key: Hashable, compute: Callable[[], Answer]) -> Answer:
        """Depends on nothing but the facts that its key holds, with which it disappears."""
        outer, self._looks.present = self._looks.present, 0
        try:
            return super().of_text(key, compute)
        finally:
            self._looks.present = outer

    def once(self, answers: dict[Hashable, Any], key: Hashable, compute: Callable[[], Answer]) -> Answer:
        place = id(answers), key
        if key in answers:
            self._looks.present |= self._rests_elsewhere[place]
            return answers[key]  # type: ignore[no-any-return]
        outer, self._looks.present = self._looks.present, 0
        try:
            answers[key] = answer = compute()
            self._rests_elsewhere[place] = self._looks.present
            return answer
        finally:
            self._looks.present |= outer

    def _note_files(self, key: Hashable) -> None:
        """A question about a place is one about what the file says there: unlike an object of its facts, a place may
        be equal to one of another text.
        """
        for part in key if isinstance(key, tuple) else ():
            path = part.path if isinstance(part, Site) else part
            if isinstance(path, Path):
                self._looks.facts(path)

    def _keep(self, key: Hashable, answer: object, is_cut: bool) -> None:
        super()._keep(key, answer, is_cut)
        rests = self._looks.present
        self._rests[key] = self._numbers.setdefault(rests, rests)
