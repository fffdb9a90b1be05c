"""Programs that are kept: after each change the findings are those of a program that is made anew, for less work."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import AUGMENT, DATASET, LOADER, PACKAGE

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.engine import check
from torchrepro_lint.facts.module import ModuleFacts, facts_of_text
from torchrepro_lint.facts.scopes import Binding, Scope
from torchrepro_lint.program.evaluation import memory
from torchrepro_lint.program.evaluation.evaluator import Evaluator
from torchrepro_lint.program.evaluation.frames import Frame
from torchrepro_lint.program.evaluation.values import FunctionValue
from torchrepro_lint.program.imports import ImportGraph
from torchrepro_lint.program.kept.evaluator import TracedEvaluator
from torchrepro_lint.program.kept.programs import KeptPrograms
from torchrepro_lint.program.kept.project import KeptProject
from torchrepro_lint.program.modules import Project
from torchrepro_lint.program.program import Program
from torchrepro_lint.settings import Settings
from torchrepro_lint.source.target import TargetTorch
from torchrepro_lint.source.text import read_bytes
from torchrepro_lint.toolkit import Toolkit


class Kept:
    """A project in a folder, with the program that is kept of it."""

    def __init__(self, root: Path, *, exact: bool = False) -> None:
        self.root = root
        self.programs = KeptPrograms(exact=exact)
        self.made: list[Program] = []
        self._toolkit = Toolkit(make_program=self._make)

    def _make(self, *args: object, **options: object) -> Program:
        self.made.append(self.programs(*args, **options))  # type: ignore[arg-type]
        return self.made[-1]

    def codes(self, **texts: str) -> list[str]:
        """The codes of the findings in the project with these texts, by module."""
        return [one.code for one in self.findings(texts)]

    def findings(self, texts: Mapping[str, str], asked: Sequence[str] = (".",)) -> tuple[Finding, ...]:
        overlay = {self.root / "pkg" / f"{name}.py": text for name, text in texts.items()}
        paths = [self.root / name for name in asked]
        report = check(paths, overlay=overlay, toolkit=self._toolkit)
        anew = check(paths, overlay=overlay)
        assert not report.errors
        assert report.findings == anew.findings
        return report.findings

    @property
    def work(self) -> int:
        """How many questions were worked on, in all."""
        return self.made[-1].ev.computed

    def is_made_anew(self) -> bool:
        """Whether the last analysis took nothing from the one before."""
        return self.made[-1].ev is not self.made[-2].ev


@pytest.fixture
def kept(write) -> Kept:
    return Kept(write(PACKAGE))


def test_what_nothing_rests_on_costs_nothing(kept: Kept) -> None:
    assert kept.codes() == ["TRL101"]
    work = kept.work
    assert kept.codes(plain="def add(a, b):\n    return b + a\n") == ["TRL101"]
    assert not kept.is_made_anew()
    assert kept.work == work


def test_what_rests_on_a_change_is_found_out_again(kept: Kept) -> None:
    assert kept.codes() == ["TRL101"]
    assert kept.codes(augment="import numpy as np\n\n\ndef jitter(image):\n    return image + np.ones(1)\n") == []
    assert not kept.is_made_anew()
    assert kept.codes() == ["TRL101"]
    assert not kept.is_made_anew()


def test_a_comment_moves_findings_and_undoes_nothing(kept: Kept) -> None:
    (first,) = kept.findings({})
    work = kept.work
    kept.findings({"dataset": "# why\n" + DATASET})
    assert kept.work == work
    (moved,) = kept.findings({"loader": "# why\n" + LOADER})
    assert moved.location.start.row == first.location.start.row + 1
    assert not kept.is_made_anew()


def test_a_file_that_does_not_parse_for_a_while(kept: Kept) -> None:
    assert kept.codes() == ["TRL101"]
    assert kept.codes(dataset=DATASET + "def f(\n") == ["TRL900"]
    assert kept.codes(dataset=DATASET + "def f():\n    pass\n") == ["TRL101"]
    assert not kept.is_made_anew()


def test_a_word_that_was_looked_for_comes_and_goes(kept: Kept) -> None:
    seeds = "import numpy as np\n\n\ndef seed_worker(worker_id):\n    np.random.seed(worker_id)\n"
    assert kept.codes() == ["TRL101"]
    with_loader = LOADER.replace("build_loader", "other_loader").replace("shuffle=False", "shuffle=True")
    assert kept.codes(plain=with_loader).count("TRL101") == 2
    assert not kept.is_made_anew()
    assert "TRL101" in kept.codes(plain=seeds)
    assert kept.codes() == ["TRL101"]


def test_who_imports_whom_may_change(kept: Kept) -> None:
    assert kept.codes() == ["TRL101"]
    seeded = LOADER.replace("import DataLoader\n", "import DataLoader\nimport pkg.plain\n")
    kept.codes(loader=seeded)
    assert not kept.is_made_anew()
    kept.codes(loader=seeded, plain="import torch\n\ntorch.manual_seed(0)\n")
    assert not kept.is_made_anew()
    kept.codes(plain="import torch\n\ntorch.manual_seed(0)\n")


def test_an_import_alone_may_change_what_a_program_is(write) -> None:
    """A framework that may seed is in the program of the loader once its file imports that."""
    framework = "import mmengine\n"
    settings = 'target-torch = "2.1"\nintent = "deterministic"\nselect = ["TRL101"]\n'
    kept = Kept(write({**PACKAGE, "torchrepro-lint.toml": settings, "pkg/plain.py": framework}))
    assert kept.codes() == ["TRL101"]
    assert kept.codes(plain=f"{framework}import pkg.loader\n") == []
    assert kept.codes() == ["TRL101"]
    assert not kept.is_made_anew()


def test_files_on_the_disk_change(kept: Kept) -> None:
    assert kept.codes() == ["TRL101"]
    (kept.root / "pkg/augment.py").write_text(AUGMENT.replace("np.random.rand()", "1"))
    assert kept.codes() == []
    assert not kept.is_made_anew()
    (kept.root / "pkg/new.py").write_text(LOADER.replace("shuffle=False", "shuffle=True"))
    assert kept.codes() == []
    assert kept.is_made_anew()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("torchrepro-lint.toml", 'intent = "deterministic"\n'),
        ("torchrepro-lint.toml", 'src = ["pkg"]\n'),
        ("requirements.txt", "torch==1.8.0\n"),
        ("pkg/dataset.py", "import sys\n\nsys.path.append('pkg')\n" + DATASET),
        ("pkg/augment.py", b"# \xff\n"),
    ],
)
def test_other_circumstances_are_another_program(kept: Kept, name: str, text: str | bytes) -> None:
    kept.codes()
    (kept.root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    kept.codes()
    assert kept.is_made_anew()
    kept.codes()
    assert not kept.is_made_anew()


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        ('ignore = ["TRL101"]\n', []),
        ('profile = "strict"\nselect = ["ALL"]\nignore = ["TRL101"]\n', ["TRL201"]),
    ],
)
def test_which_rules_run_and_how_strictly_changes_no_answer(kept: Kept, settings: str, codes: list[str]) -> None:
    assert kept.codes() == ["TRL101"]
    (kept.root / "torchrepro-lint.toml").write_text(settings)
    assert kept.codes() == codes
    assert not kept.is_made_anew()


def test_configurations_are_asked_again(write) -> None:
    code = "from pytorch_lightning.cli import LightningCLI\n\nLightningCLI()\n"
    kept = Kept(write({**PACKAGE, "pkg/main.py": code, "config.yaml": "a: 1\n"}))
    kept.codes()
    kept.codes()
    was_kept = not kept.is_made_anew()
    (kept.root / "config.yaml").write_text("seed_everything: true\n")
    kept.codes()
    assert was_kept
    assert kept.is_made_anew() == bool(kept.made[-1].outside)


def test_other_files_are_asked_about(kept: Kept) -> None:
    assert kept.findings({}, ["pkg/augment.py"]) == ()
    assert len(kept.findings({}, ["pkg/loader.py"])) == 1
    assert not kept.is_made_anew()
    assert kept.findings({}, ["pkg/augment.py"]) == ()
    assert len(kept.findings({})) == 1


def test_no_answer_rests_on_which_files_were_asked_about_before(write) -> None:
    """Which splits there are, TRL502 asks: those of the files that were not open then are splits, too."""
    split = "from torch.utils.data import random_split\n\n\ndef parts(items):\n    return random_split(items, [1, 1])\n"
    main = "import random\n\nimport numpy as np\n\nfrom pkg.{} import parts\n\nrandom.seed(0)\nnp.random.seed(0)\nparts([1, 2])\n"
    kept = Kept(
        write({**PACKAGE, "pkg/a.py": split, "pkg/b.py": split, **{f"pkg/{n}_main.py": main.format(n) for n in "ab"}})
    )
    assert kept.findings({}, ["pkg/a_main.py"]) == ()
    assert [one.code for one in kept.findings({}, ["pkg/b.py", "pkg/b_main.py"])] == ["TRL202"]
    assert not kept.is_made_anew()


@pytest.mark.exhaustive
def test_what_is_about_facts_of_old_texts_is_let_go_now_and_then(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a file is edited, no more is held than after the first few times."""
    monkeypatch.setattr("torchrepro_lint.program.kept.project._MAX_RETIRED", 3 * len(AUGMENT))

    def held() -> list[int]:
        gc.collect()
        kinds = Counter(type(one) for one in gc.get_objects())
        return [kinds[kind] for kind in (ModuleFacts, Scope, Frame, Binding, FunctionValue)]

    seen = []
    for number in range(16):
        kept.codes(augment=f"{AUGMENT}\n\ndef other(x={number}):\n    return jitter(x)\n")
        assert number == 0 or not kept.is_made_anew()
        del kept.made[:-1]
        seen.append(held())
    assert max(seen[8:]) == max(seen[:8])
    assert min(seen[8:]) < max(seen)


@pytest.mark.parametrize("exact", [False, True])
def test_a_program_in_which_a_question_ran_out_of_its_budget(
    write, monkeypatch: pytest.MonkeyPatch, exact: bool
) -> None:
    kept = Kept(write(PACKAGE), exact=exact)
    with monkeypatch.context() as patch:
        patch.setattr(memory, "MAX_STEPS", 5)
        kept.codes()
    kept.codes()
    assert kept.is_made_anew() == exact


def test_the_answers_of_a_cycle_rest_on_all_of_it(write) -> None:
    root = write(
        {
            "main.py": "from a import f\n\nx = f(1)\n",
            "a.py": "from b import g\n\n\ndef f(n):\n    return g(n) if n > 1 else 1\n",
            "b.py": "from a import f\nfrom c import v\n\n\ndef g(n):\n    return f(n - 1) if n else v\n",
            "c.py": "v = 2\n",
        }
    )
    files = sorted(root.glob("*.py"))
    project = KeptProject(root, files, {}, (), facts_of_text, read_bytes)
    ev = TracedEvaluator(project)
    for value in "234":
        facts = project.facts(root / "main.py")
        assert facts is not None
        shown = {str(one) for one in ev.name("x", 1 << 30, ev.module_frame(facts))}
        fresh = Program(root, files, Settings(), TargetTorch(), dict(project.overlay))
        own = fresh.facts(root / "main.py")
        assert own is not None
        assert shown == {str(one) for one in fresh.ev.name("x", 1 << 30, fresh.ev.module_frame(own))}
        changes = project.follow({root / "c.py": f"v = {int(value) + 1}\n"}, read_bytes)
        assert changes is not None
        ev.begin_analysis(project.looks.mask(changes.questions))


def test_what_hangs_on_a_limit_is_found_anew_as_often_as_in_a_new_program(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    project = KeptProject(tmp_path, [path], {path: "x = 1\n"}, (), facts_of_text, read_bytes)
    ev, worked_on = TracedEvaluator(project), []

    def compute() -> int:
        worked_on.append(project.facts(path))
        return sum(ev.may_enter("f", 1) for _ in range(2))

    for text in ("x = 2\n", "x = 3\n"):
        worked_on.clear()
        for _ in range(2 * memory.MAX_ANEW):
            ev.remembered(("x",), compute, 0)
        assert len(worked_on) == 1 + memory.MAX_ANEW
        changes = project.follow({path: text}, read_bytes)
        assert changes is not None
        ev.begin_analysis(project.looks.mask(changes.questions))


@pytest.mark.parametrize("make", [Evaluator, TracedEvaluator])
def test_an_answer_that_is_known_lacks_what_it_lacked(tmp_path: Path, make: type[Evaluator]) -> None:
    path = tmp_path / "a.py"
    project = KeptProject(tmp_path, [path], {path: "x = 1\n"}, (), facts_of_text, read_bytes)
    ev = make(project)
    for _ in range(3):
        ev.begin_question()
        ev.remembered(("all",), lambda: ev.leave_out() or (), ())
        assert ev.lacks
        ev.begin_question()
        assert not ev.lacks


def test_an_answer_that_is_found_anew_lacks_nothing_if_it_does_not(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    project = KeptProject(tmp_path, [path], {path: "x = 1\n"}, (), facts_of_text, read_bytes)
    ev = TracedEvaluator(project)
    for text in ("x = 2\n", "x = 3\n"):
        is_short = project.facts(path) is not None and text == "x = 2\n"
        ev.begin_question()
        ev.remembered((path,), lambda is_short=is_short: ev.leave_out() if is_short else None, None)
        assert ev.lacks == is_short
        changes = project.follow({path: text}, read_bytes)
        assert changes is not None
        ev.begin_analysis(project.looks.mask(changes.questions))


TEXTS = {
    "augment": [
        AUGMENT,
        AUGMENT.replace("np.random.rand()", "1"),
        AUGMENT.replace("import numpy as np", "import random as np").replace("np.random.rand", "np.random"),
        AUGMENT.replace("jitter", "shake"),
        "from pkg.plain import add as jitter\n",
        "def jitter(",
    ],
    "dataset": [
        DATASET,
        DATASET.replace("jitter(self.images[index])", "self.images[index]"),
        DATASET.replace("import jitter", "import shake as jitter"),
        DATASET.replace("from pkg.augment", "from pkg.plain"),
        DATASET.replace("class Images", "class Pictures") + "\n\nclass Images(Pictures):\n    pass\n",
    ],
    "loader": [
        LOADER,
        LOADER.replace("num_workers=4", "num_workers=0"),
        LOADER.replace("shuffle=False", "shuffle=True"),
        LOADER.replace("num_workers=4", "num_workers=4, worker_init_fn=seed_worker").replace(
            "import Images\n", "import Images\nfrom pkg.plain import seed_worker\n"
        ),
        "# -*- coding: utf-8 -*-\n" + LOADER + "\n\nloader = build_loader([])\n",
    ],
    "plain": [
        "def add(a, b):\n    return a + b\n",
        "import numpy as np\n\n\ndef jitter(image):\n    return image * np.random.rand()\n\n\nadd = jitter\n",
        "import numpy as np\n\n\ndef seed_worker(worker_id):\n    np.random.seed(worker_id)\n",
        "import torch\n\ntorch.manual_seed(0)\ntorch.use_deterministic_algorithms(True)\n",
        "import torch\n\n\ndef add(a, b):\n    return a.scatter_add(0, b, a)\n",
        "from pkg.loader import build_loader\n\nfor batch in build_loader([]):\n    print(batch)\n",
        "import sys\n\nsys.path.insert(0, 'pkg')\nfrom augment import jitter as add\n",
    ],
}
EDITS = st.sampled_from(sorted(TEXTS)).flatmap(lambda name: st.tuples(st.just(name), st.sampled_from(TEXTS[name])))


@pytest.mark.exhaustive
@given(st.lists(EDITS, min_size=1, max_size=8))
def test_findings_are_those_of_a_program_made_anew(edits: list[tuple[str, str]]) -> None:
    root = Path("/of-nobody")
    texts = {
        root / "pkg" / f"{name}.py": text
        for name, text in {"__init__": "", **{n: t[0] for n, t in TEXTS.items()}}.items()
    }
    programs = KeptPrograms()

    def codes(program: Program) -> list[object]:
        from torchrepro_lint.rules import all_rules

        return [finding for rule in all_rules() for finding in rule.check(program)]

    for name, text in edits:
        texts[root / "pkg" / f"{name}.py"] = text
        settings, target, files = Settings(), TargetTorch(), sorted(texts)
        anew = Program(root, files, settings, target, texts)
        assert codes(programs(root, files, settings, target, texts)) == codes(anew)


WORDS = st.sampled_from(["seed", "rand", "jitter", "shuffle", "f", "DataLoader", "x_y", "é"])
CODE = st.lists(
    st.one_of(
        WORDS.map(lambda word: f"{word} = 1"),
        WORDS.map(lambda word: f"{word}()"),
        WORDS.map(lambda word: f"import {word}"),
        WORDS.map(lambda word: f"from b import {word}"),
        WORDS.map(lambda word: f"@{word}\ndef f(): pass"),
        WORDS.map(lambda word: f"# {word}"),
    ),
    max_size=4,
).map("\n".join)


@given(CODE, st.lists(st.tuples(st.sampled_from("ab"), CODE), max_size=4), st.lists(WORDS, max_size=3))
def test_a_project_that_follows_answers_as_a_new_one(
    first: str, edits: list[tuple[str, str]], asked: list[str]
) -> None:
    root = Path("/of-nobody")
    texts = {root / "a.py": first, root / "b.py": "seed = 1\n"}
    project = KeptProject(root, texts, texts, (), facts_of_text, read_bytes)
    imports = ImportGraph(project)

    def answers(project: Project, imports: ImportGraph) -> list[object]:
        return [
            [(project.containing(word), project.mentioning(word), project.decorating(word)) for word in asked],
            [[project.may_call(path, word) for word in asked] for path in project.files],
            [(imports.above(path), imports.below(path), imports.is_imported(path)) for path in project.files],
            [project.facts(path) is not None for path in project.files],
            sorted(project.unreadable),
        ]

    answers(project, imports)
    for name, text in edits:
        texts[root / f"{name}.py"] = text
        changes = project.follow(texts, read_bytes)
        if changes is None:
            return
        imports.follow(changes.imports)
        other = Project(root, texts, texts)
        assert answers(project, imports) == answers(other, ImportGraph(other))
