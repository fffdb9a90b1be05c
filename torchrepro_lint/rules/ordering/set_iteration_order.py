"""TRL208 set-iteration-order.

What it does
    Finds sets of strings (or of what may be strings) whose iteration order determines something: class numbers and
    vocabularies by `enumerate`, lists that are accessed by position, samples, splits.

Why is this bad?
    The hash of a string differs between processes unless PYTHONHASHSEED is set, and the order of a set follows the
    hashes. So class 3 is a different class in every run: a checkpoint that is loaded in a second process maps its
    outputs to the wrong labels, and no seed can prevent it.

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
    Python 3.3, since when hashes of strings differ between processes.

How it is proven
    `verify` runs each program with different values of PYTHONHASHSEED: its output differs, and no longer does so after
    sorting.

Fix safety
    Unsafe: sorts the set where it is created or, if it has a name, wherever its iteration order matters. `sorted(...)`
    fails for elements that cannot be compared, and gives other numbers than those that a saved model may have been
    trained with.

Not reported
    - Sets that are sorted, counted, or used for membership tests. Sorting by length or by a count alone
      (`sorted(words, key=counts.get)`) is not enough: words of the same count stay in the order of the set.
    - Sets of numbers, whose order is the same in every run, and sets of one element. That a number is taken out,
      `set(labels) - {0}`, says that they are numbers; and so does a tensor that is made of the same collection
      (`torch.tensor(labels)`), or an attribute of that name that is filled with `int(...)`.
    - Numbers that only distinguish elements (`chr(number[word])`, for a distance between two sentences).
    - A loop that visits the elements one after the other by position (`for i in range(len(names)): print(names[i])`).
    - The position of a file in a list of files, by its name (`image_list.index(path)`): the number of a row in a table
      that is kept with the list. It is reported in the `strict` profile only.
    - Samples and random choices in a data set for an evaluation, by the name of its class (`FacesTest`) or since only
      loaders of an evaluation get its objects: reported in the `strict` profile only.
    - Samples and splits in programs that do not show that they want to repeat, and in tests: reported in the `strict`
      profile only. Numbers by position are reported everywhere but in a function that no code of the project calls,
      beside others that are used, in code that is copied from elsewhere, and in a function that plots, by its name, and
      neither returns nor saves anything (`plot_classes`). Those of a program that only evaluates or shows something are
      of the `strict` profile. So are those of a set of which only its name says that it has strings (`labels`): the
      elements may be numbers, whose order is the same in every run.

References
    https://docs.python.org/3/reference/datamodel.html#object.__hash__
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from torchrepro_lint.diagnostics import Finding, Fix, Severity
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.sort_fix import sort_fixes
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.orders.set_order import OrderedSet, iterations_of, ordered_sets
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.programs.for_others import is_copied
from torchrepro_lint.program.repetition import is_never_run, only_evaluates
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.seeds.shown_draws import is_in_a_plot
from torchrepro_lint.program.workers.evaluation_classes import is_made_for_evaluations, is_of_an_evaluation_class
from torchrepro_lint.rules.base import Rule

_FIXES = {
    "samples": "the order of the samples differs in every run",
    "split": "a split, a shuffle or a random choice differs in every run",
    "index": "the numbers of its words or classes differ in every run",
    "position": "what is looked up by position differs in every run",
}
_KEPT = "the set stays a set here: sort it before it is passed on, or where it is iterated over"


class SetIterationOrder(Rule):
    code = "TRL208"
    name = "set-iteration-order"
    summary = "iteration order of a set, which differs between processes, determines an index, samples or a split"
    seldom = "it decides something in an evaluation alone, or nothing runs it"
    severity = Severity.WARNING
    is_strict_in_tests = True

    def check(self, program: Program) -> Iterator[Finding]:
        for one in ordered_sets(program):
            decided = _FIXES[one.sink.kind]
            strings = "a set of what may be strings, by its name," if one.by_name else "a set of strings"
            message = f"{strings} is iterated over in another order in every run, so {decided}"
            # Numbers by position are wrong for whoever saves or shares them, also in a program that seeds nothing.
            order = one.sink.kind in ("samples", "split")
            fix, declined = _fix(program, one) if self.is_told(program, one.site, about_control=order) else (None, None)
            yield self.finding(
                program, one.site, message, one.sink.chain, fix=fix, declined=declined, about_control=order,
                seldom_matters=_is_for_an_evaluation(program, one) if order else (
                    only_evaluates(program, one.site)
                    or is_never_run(program, one.site)
                    or is_copied(program, one.site.path)
                    or is_in_a_plot(program, one.site)
                    or _numbers_files(program, one)
                    or (one.by_name and _MAY_BE_NUMBERS)
                ),
            )  # fmt: skip


_MAY_BE_NUMBERS: Final = "only the name of the set says that it has strings"


def _is_for_an_evaluation(program: Program, one: OrderedSet) -> bool:
    """Whether the data set that iterates over a set is for an evaluation alone."""
    return is_of_an_evaluation_class(program, one.site) or is_made_for_evaluations(program, one.site)


def _numbers_files(program: Program, one: OrderedSet) -> bool:
    """Whether a list of files, by its name, is asked for the position of one: the number of a row in a table that is
    kept with the list, and not that of a class.
    """
    if one.sink.kind != "index":
        return False
    found = call_at(program.ev, one.sink.chain[-1].site)
    match found.call if found is not None else None:
        case tree.Call(func=tree.Attribute(value=tree.Name(id=name) | tree.Attribute(attr=name), attr="index")):
            return function_words("names_files").search(name) is not None
    return False


def _fix(program: Program, one: OrderedSet) -> tuple[Fix | None, str | None]:
    iterations = [one.site] if one.at_once else iterations_of(program, one)
    return sort_fixes(program, iterations) if iterations is not None else (None, _KEPT)
