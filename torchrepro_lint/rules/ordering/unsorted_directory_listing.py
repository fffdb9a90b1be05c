"""TRL207 unsorted-directory-listing.

What it does
    Finds `os.listdir`, `os.scandir`, `os.walk`, `glob.glob`, `glob.iglob`, and `iterdir`, `glob` and `rglob` of paths
    whose unsorted order determines the samples of a dataset, a split, or class numbers. The order may also get there by
    way of a table whose rows are built from the names or read from the files, of a dict whose keys are filled in a
    loop, or of texts of files that are put together. Or a loop shuffles in each turn what it made of the name: the
    turns take their random numbers from one stream, in the order of the names.

Why is this bad?
    These functions return names in the order of the file system, which differs between machines, between file systems,
    and after copying. The same seed then shuffles a different list: another split, other batches, other class numbers,
    in a run that is seeded throughout. What is validation data on one machine is training data on the next.

Example
    ```python
    import os
    import random

    random.seed(0)
    files = os.listdir(".")
    random.shuffle(files)
    train, val = files[:8], files[8:]
    ```

Use instead
    ```python
    import os
    import random

    random.seed(0)
    files = sorted(os.listdir("."))
    random.shuffle(files)
    train, val = files[:8], files[8:]
    ```

Since
    All versions.

How it is proven
    `verify` shows how a split changes if the same files were written in a different order.

Fix safety
    Safe if a list is created: wraps it in `sorted(...)`, and a sum of three listings or more that differ in the suffix
    of the files alone as a whole. Unsafe if the names are consumed one by one, since sorting has to read all of them
    first; if the function lists the same folder again for another list that stays unsorted, since their items may
    belong together; if an `if` below does nothing but sort what has its name; if the repository has another listing
    that no safe fix sorts and whose order something keeps, also where nothing is reported of it: a helper fills a list
    from `os.walk`, fastai's `path.ls()`; and if `random` or NumPy draws from it, and nothing around it seeds that. The
    order changes once, when the fix is applied. There is no fix for walks, where both the folders and the files of each
    folder have to be sorted.

Not reported
    - Listings that are sorted, also later and under another name or by a function that they are passed to, or whose
      table is sorted; and under a test which all callers pass who do not give the names themselves (`if is_sort:`).
    - Walks with anything sorted in their loop.
    - Listings that are only counted, searched, reduced, or iterated over for a side effect such as copying.
    - Positions that only look up what the same loop has added to another list, or what is in the list from which this
      one was created: `paths[names.index(name)]`.
    - A slice that is called after the part from which it is cut, `val_images = val_images[:4]`, or has one item.
    - A draw or a loop in an arm that no caller in sight comes to: the `else` of `if self.ordered`, where all set it.
    - A shuffle or a choice by a generator that nothing seeds, but in a data set, or one that comes before the seed, of
      which TRL504 speaks: reported in the `strict` profile only.
    - A shuffle after which the list only starts jobs of a pool, whose results are dropped.
    - Positions that are only written beside the names, as a menu does: `{f"{i}: {name}": name ...}`.
    - Listings that are made or used only where an option of the command line is on which is off by default, and which
      no command in scripts or READMEs of the project, which give some of the program, and no configuration turns on:
      reported in the `strict` profile only.
    - Samples of a data set for an evaluation, by the name of its class (`FacesTest`), of what they are kept in
      (`val_data`), of the folder that is listed (`os.path.join(root, "test")`), or of the files of all programs that
      make it (`eval.py`). So are those of a data set whose loader only measures something in the function that makes
      both, or whose class is only used for loaders of an evaluation, and the numbers of what a function extracts
      features from (`extract_features`), which keeps them with the features. All of these are reported in the `strict`
      profile only.
    - Further listings of a function that decide the same: the trace of the first names them, its fix sorts all, and
      the `strict` profile reports each.
    - Listings whose order is not seen to reach any of the uses above, or whose block raises an exception below.
    - Samples and splits in programs that do not show that they want to repeat, and in tests: reported in the `strict`
      profile only, unless the draw that splits them has a seed of its own (`RandomState(4).shuffle(files)`). Numbers by
      position are reported everywhere but in code that is copied from elsewhere.

References
    https://docs.python.org/3/library/os.html#os.listdir
    https://docs.python.org/3/library/glob.html
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Final

from torchrepro_lint.diagnostics import Finding, Fix, Severity
from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import strings_in
from torchrepro_lint.fixes.sort_fix import sort_fix
from torchrepro_lint.fixes.unsafe_reasons import DRAWN_SPLIT
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.program.evaluation.values import External, Site
from torchrepro_lint.program.intent.options_left_off import runs_where_an_option_is_off
from torchrepro_lint.program.orders.listings import Listing, unsorted_listings
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.programs.for_others import is_copied
from torchrepro_lint.program.repetition import left_to_strict, only_evaluates
from torchrepro_lint.program.running.callers import frame_without_callers
from torchrepro_lint.program.running.calls_at import called_at
from torchrepro_lint.program.running.guards import place_of
from torchrepro_lint.program.running.parents import parents_of
from torchrepro_lint.program.seeds.fixed_draws import is_to_be_fixed
from torchrepro_lint.program.seeds.late_seeds import late_seeds
from torchrepro_lint.program.workers.evaluation_classes import (
    is_made_for_evaluations,
    is_of_an_evaluation_class,
    sites_of,
)
from torchrepro_lint.program.workers.global_draws import is_of_an_evaluation
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.one_cause import first_for_all

#: Classes of data sets for an evaluation, by a word of their names.
_DECIDES = {
    "samples": "the order of the samples",
    "split": "a split, a shuffle or a random choice",
    "index": "the numbers of the classes or items",
    "position": "what is looked up by position",
}
#: The modules whose functions draw from a global generator, by the generator.
_GLOBAL: Final = {"python": "random", "numpy": "numpy.random"}
_WALKED = "sort the folders and the files of each folder: `folders.sort()`, `sorted(files)`"


class UnsortedDirectoryListing(Rule):
    code = "TRL207"
    name = "unsorted-directory-listing"
    summary = "an unsorted directory listing decides the order of samples, a split or the numbers of classes"
    seldom = "only an evaluation has this order, or no seed decides what is drawn from it"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        yield from first_for_all(self._each(program))

    def _each(self, program: Program) -> Iterator[tuple[Hashable, Finding]]:
        """The findings, each with its cause: what a function lists for one use."""
        listings = list(unsorted_listings(program))
        all_are_told = program.strict or program.is_chosen(self.code, self.name)
        early = _drawn_before_the_seed(program) if any(one.sink.kind == "split" for one in listings) else frozenset()
        seldom = {id(one): one.sink.chain[-1].site in early or _seldom_matters(program, one) for one in listings}
        sites = frozenset(one.site for one in listings if not one.walks and (all_are_told or not seldom[id(one)]))
        for one in listings:
            # Numbers by position are wrong for whoever saves or shares them, also in a program that seeds nothing; and
            # a draw with a seed of its own was meant to give the same everywhere.
            order = one.sink.kind in ("samples", "split") and not _is_to_be_fixed(program, one)
            fix, declined = None, None
            if self.is_told(program, one.site, about_control=order):
                fix, declined = _fix(program, one, sites)
            found = self.finding(
                program,
                one.site,
                _message(one),
                one.sink.chain,
                fix=fix,
                declined=declined,
                about_control=order,
                seldom_matters=seldom[id(one)],
            )
            place = place_of(program.ev, one.site)
            scope = place.scope if place is not None and place.scope.parent is not None else None
            yield (
                (one.site.path, id(scope), one.sink.kind, one.sink.chain[-1].site) if scope is not None else None,
                found,
            )


def _fix(program: Program, one: Listing, sites: frozenset[Site]) -> tuple[Fix | None, str | None]:
    if one.walks:
        return None, _WALKED
    fix, declined = sort_fix(program, one.site, lazy=one.lazy, comparable=True, by_name=one.entries, sorted_too=sites)
    if fix is not None and one.sink.kind == "split" and _is_drawn_without_seed(program, one):
        fix = fix.made_unsafe(DRAWN_SPLIT)
    return fix, declined


def _drawn_before_the_seed(program: Program) -> frozenset[Site]:
    """The draws that come before the seed of their program, which TRL504 reports: sorted, they differ in every run."""
    return frozenset(late.early.site for late in late_seeds(program) if late.is_possible)


def _is_drawn_without_seed(program: Program, one: Listing) -> bool:
    """Whether the draw that takes the order is from Python's or NumPy's generator, and nothing in its file, in what
    that imports or in what imports it seeds that: the order alone decides nothing then.
    """
    site = one.sink.chain[-1].site
    place = place_of(program.ev, site)
    call = called_at(place) if place is not None else None
    if place is None or call is None:
        return False
    frame = frame_without_callers(program.ev, place.facts, place.scope)
    names = [value.name for value in program.ev.values(call.func, frame) if isinstance(value, External)]
    drawn = {rng for name in names for rng, module in _GLOBAL.items() if name.rpartition(".")[0] == module}
    if not drawn:
        return False
    around = program.imports.above(site.path) | program.imports.below(site.path) | {site.path}
    return not any(not drawn.isdisjoint(seed.seeds) for seed in program.evidence_of("seed") if seed.site.path in around)


def _seldom_matters(program: Program, one: Listing) -> bool:
    """Whether only the samples of an evaluation have the order, or the rows of features, whose names are kept beside
    them by who extracts them; or a draw does that no seed decides, of which TRL502 speaks in a program that seeds; or
    it is taken only with an option that no command of the project turns on.
    """
    if one.sink.kind == "split" and _is_drawn_without_seed(program, one) and not _is_drawn_for_an_item(program, one):
        return True
    if runs_where_an_option_is_off(program, (one.site, *(link.site for link in one.sink.chain))):
        return True
    if one.sink.kind == "index":
        place = place_of(program.ev, one.site)
        return is_copied(program, one.site.path) or (
            place is not None and function_words("only_looks").search(place.scope.name) is not None
        )
    return one.sink.kind == "samples" and (
        is_of_an_evaluation_class(program, one.sink.chain[-1].site)
        or only_evaluates(program, one.site)
        or _is_called_an_evaluation(program, one)
        or _is_of_their_folder(program, one)
        or _is_only_measured_with(program, one)
        or is_made_for_evaluations(program, one.sink.chain[-1].site)
    )


def _is_drawn_for_an_item(program: Program, one: Listing) -> bool:
    """Whether a method of a data set draws, which torch seeds in the workers of a loader."""
    place = place_of(program.ev, one.sink.chain[-1].site)
    scope = place.scope if place is not None else None
    while scope is not None and not isinstance(scope.node, tree.ClassDef):
        scope = scope.parent
    return scope is not None and any(child.name in ("__getitem__", "__iter__") for child in scope.children)


def _is_called_an_evaluation(program: Program, one: Listing) -> bool:
    """Whether what a listing or its samples are kept in is, by its name, for an evaluation: `eval_files`."""
    names = (parents_of(program.ev, one.facts).target_name(one.call), one.sink.kept_in)
    return any(
        function_words("says_evaluation").search(name) and not function_words("means_training").search(name)
        for name in names
        if name is not None
    )


def _is_of_their_folder(program: Program, one: Listing) -> bool:
    """Whether the folder that is listed is, as it is written, one for an evaluation: `os.path.join(root, "test")`."""
    place = place_of(program.ev, one.site)
    given = [one.call, *(arg.value for arg in one.call.args)]
    behind = [place.scope.behind(node) for node in given if isinstance(node, tree.Name)] if place is not None else []
    folders = [part for node in (*given, *behind) for text in strings_in(node) for part in text.split("/")]
    return any(map(function_words("says_evaluation").search, folders)) and not any(
        map(function_words("means_training").search, folders)
    )


def _is_only_measured_with(program: Program, one: Listing) -> bool:
    """Whether the data set of the samples is made in a function for its own loaders, one at least, and these are of an
    evaluation: they give the mean and the covariance of activations, which are the same in any order.
    """
    made = {link.site for link in one.sink.chain}
    places = [place for link in one.sink.chain if (place := place_of(program.ev, link.site)) is not None]
    inside = [one for one in program.loaders if any(one.scope is place.scope for place in places)]
    own = [loader for loader in inside if sites_of(loader.value("dataset")) & made]
    return bool(own) and all(is_of_an_evaluation(program, loader) for loader in own)


def _is_to_be_fixed(program: Program, one: Listing) -> bool:
    drawn_at = one.sink.chain[-1].site
    left = left_to_strict(program, one.site)
    is_run = left is None or bool(left.programs)
    return one.sink.kind == "split" and is_run and is_to_be_fixed(program, drawn_at)


def _message(one: Listing) -> str:
    name = one.name.removeprefix("pathlib.")
    decided = _DECIDES[one.sink.kind]
    return f"`{name}` lists files in an order that differs between machines, and unsorted it decides {decided}"
