"""TRL901 unused-suppression.

What it does
    Finds `# noqa: TRL...` comments that suppress nothing: the rule finds nothing on the lines of the statement (or in
    the file), or there is no such rule.

Why is this bad?
    The comment tells readers of a problem that does not exist, and will hide a real one if it appears on that line
    later.

Example
    ```python
    import torch

    print(torch.rand(2))  # noqa: TRL101
    ```

Use instead
    ```python
    import torch

    print(torch.rand(2))
    ```

Fix safety
    Safe: removes the code from the comment, and the comment if nothing is left of it. Text before the directive, and
    other comments after it, stay.

Not reported
    - A bare `# noqa` and the codes of other tools, which may suppress findings of another tool.
    - Codes of rules that do not run because of the profile, the selection or `per-file-ignores`: it is not known
      whether they would find something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from torchrepro_lint.diagnostics import Applicability, Finding, Fix, Location, Severity
from torchrepro_lint.rule_metadata import Named
from torchrepro_lint.source.lines import line_table
from torchrepro_lint.source.noqa import Directive, Directives, Word

__all__ = ["Silenced", "UnusedSuppression"]

#: A finding, and the directives of one file that silence it.
Silenced: TypeAlias = tuple[Finding, Sequence[Directive]]
_PREFIX = "TRL"


class UnusedSuppression:
    """The rule."""

    code: ClassVar[str] = "TRL901"
    name: ClassVar[str] = "unused-suppression"
    summary: ClassVar[str] = "a `# noqa` comment names a rule that finds nothing there"
    severity: ClassVar[Severity] = Severity.WARNING
    profile: ClassVar[Literal["default", "strict"]] = "default"

    def findings(
        self,
        path: Path,
        text: str,
        directives: Directives,
        silenced: Sequence[Silenced],
        known: Sequence[Named],
        was_run: Callable[[Named], bool],
    ) -> Iterator[Finding]:
        """A finding for each directive in the text of a file with words that silence none of `silenced`, the findings
        that comments of the file silenced, each with these. `known` are all rules there are; `was_run` says which were
        asked.
        """
        used = {
            (directive.start, word.text)
            for finding, its in silenced
            for directive in its
            for word in directive.words
            if word.covers(finding.code, finding.name)
        }
        for directive in directives:
            idle = [word for word in directive.words if (directive.start, word.text) not in used]
            fits = {word: [one for one in known if word.covers(one.code, one.name)] for word in idle}
            unknown = [word for word in idle if not fits[word] and word.text.upper().startswith(_PREFIX)]
            unused = [
                word
                for word in idle
                if fits[word] and all(one.code != self.code and was_run(one) for one in fits[word])
            ]
            if unknown or unused:
                yield self._finding(path, text, directive, unused, unknown)

    def _finding(
        self, path: Path, text: str, directive: Directive, unused: Sequence[Word], unknown: Sequence[Word]
    ) -> Finding:
        notes = []
        if unused:
            where = "in this file" if directive.file else "here"
            notes.append(f"{_listed(unused)} {'finds' if len(unused) == 1 else 'find'} nothing {where}")
        if unknown:
            notes.append(f"{_listed(unknown)} {'is no rule' if len(unknown) == 1 else 'are no rules'}")
        table = line_table(text)
        location = Location(path, table.position(directive.start), table.position(directive.end))
        from torchrepro_lint.fixes.noqa_fix import without_words

        edit = without_words(path, text, directive, [*unused, *unknown])
        fix = Fix(Applicability.SAFE, "Remove what silences nothing", (edit,))
        return Finding(
            self.code, self.name, f"unused suppression: {'; '.join(notes)}", self.severity, location, fix=fix
        )


def _listed(words: Sequence[Word]) -> str:
    return ", ".join(word.text for word in words)
