"""TRL208 set-iteration-order.

What it does
    Finds sets of texts (or of what may be texts) whose order of iteration fixes something: class numbers and
    vocabularies by `enumerate`, lists that are looked up by position, samples, splits.

Why is this bad?
    The hash of a text differs in every process unless PYTHONHASHSEED is set, and the order of a set follows the hashes.
    So class 3 is another class in every run: a checkpoint that is loaded in a second process maps its outputs to the
    wrong labels, and no seed repairs it.

Example
    ```python
    labels = ["cat", "dog", "bird", "dog"]
    class_to_index = {name: index for index, name in enumerate(set(labels))}
    ```

Use instead
    ```python
    labels = ["cat", "dog", "bird", "dog"]
    class_to_index = {name: index for index, name in enumerate(sorted(set(labels)))}
    ```

Since
    Python 3.3, which made hashes of texts differ between processes.

How it is proven
    `verify` runs each program with another PYTHONHASHSEED: what it prints differs, and does not once it is sorted.

Fix safety
    The set is sorted where it is made, or, of one that has a name, wherever it is iterated so that it matters.
    Unsafe: `sorted(...)` fails for elements that cannot be compared, and gives other numbers than those that a saved
    model may have been trained with.

Do not flag
    Sets that are sorted, counted, or asked for membership; sets of numbers, whose order is the same in every run; a set
    of one element; numbers that only tell elements apart (`chr(number[word])`, for a distance between two sentences); a
    loop that takes one element after the other by its position (`for i in range(len(names)): print(names[i])`).

References
    https://docs.python.org/3/reference/datamodel.html#object.__hash__
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.sort_fix import sort_fixes
from torchrepro_lint.program.ordering.set_order import ordered_sets, turns_of
from torchrepro_lint.program.program import Program
from torchrepro_lint.rules.base import Rule

_FIXES = {
    "samples": "the order of the samples",
    "split": "a shuffle, a random choice or a split",
    "index": "numbers given by position",
}
_KEPT = "the set is kept as a set: it is to be sorted before it is handed on, or in the function that iterates it"


class SetIterationOrder(Rule):
    code = "TRL208"
    name = "set-iteration-order"
    summary = "iteration order of a set, which differs between processes, fixes an index, samples or a split"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        for one in ordered_sets(program):
            message = f"a set of texts has another order in every process, and here it fixes {_FIXES[one.sink.kind]}"
            turns = [one.site] if one.at_once else turns_of(program, one)
            fix, declined = sort_fixes(program, turns) if turns is not None else (None, _KEPT)
            yield self.finding(program, one.site, message, one.sink.chain, fix=fix, declined=declined)
