"""A run that finds its answer says the same as one that makes it, and every change is noticed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from torchrepro_lint import engine
from torchrepro_lint.cache import run
from torchrepro_lint.cache.store import FOLDER, Store
from torchrepro_lint.cli import main
from torchrepro_lint.engine import CacheChoice, Report, RunOptions, check
from torchrepro_lint.fix_loop import fix
from torchrepro_lint.fix_report import FixReport

EXAMPLE = Path(__file__).parents[1] / "example_rules"
TRAIN = "import torch\ng = torch.Generator()\nprint(torch.rand(2, generator=g))\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "p"\n\n[tool.torchrepro-lint]\nunsafe-fixes = true\n')
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "other.py").write_text("import torch\n")
    return tmp_path


class Counting:
    """Whether the runs found their answers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.hits: list[bool] = []
        load = run.CachedRun.load

        def counted(one: run.CachedRun) -> object:
            stored = load(one)
            self.hits.append(stored is not None)
            return stored

        monkeypatch.setattr(run.CachedRun, "load", counted)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    return Counting(monkeypatch)


def cached(*paths: Path, **override: object) -> Report:
    return check(paths, override, run=RunOptions(cache=CacheChoice()))  # type: ignore[arg-type]


def test_the_second_run_says_the_same(project: Path, counting: Counting) -> None:
    reports = [cached(project), cached(project), check([project])]
    assert reports[0] == reports[1] == reports[2]
    assert [finding.code for finding in reports[0].findings] == ["TRL203"]
    assert reports[0].findings[0].fix is not None
    assert counting.hits == [False, True]


def test_who_waits_for_another_that_makes_the_same_check_takes_its_answer(
    project: Path, counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def locked(store: Store, key: str, wait: float) -> Iterator[None]:
        others.append(cached(project))
        yield

    others: list[Report] = []
    monkeypatch.setattr(Store, "locked", locked)
    report = check([project], run=RunOptions(cache=CacheChoice(wait=300)))
    assert others == [report]
    assert counting.hits == [False, False, True], "the one that waits asks, the other asks, and it asks again"


def mended(*paths: Path, write: bool = False) -> FixReport:
    return fix(paths, write=write, run=RunOptions(cache=CacheChoice()))


def test_a_repair_finds_the_answer_of_a_check_and_the_other_way_round(project: Path, counting: Counting) -> None:
    plain = fix([project], write=False)
    assert plain.changes
    report = cached(project)
    assert mended(project) == plain
    assert cached(project) == report
    assert counting.hits == [False, True, True]


def test_where_nothing_can_be_mended_a_repair_asks_nothing_anew(
    project: Path, counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "train.py").write_text("import torch\n\nprint(torch.rand(2)\n")
    first = mended(project)
    assert not first.changes
    assert first.report.findings
    monkeypatch.setattr("torchrepro_lint.program.program.Program.__init__", None)
    assert mended(project) == first
    assert counting.hits == [False, True]


def test_what_a_repair_has_written_is_looked_at(project: Path, counting: Counting) -> None:
    assert mended(project, write=True).changes
    assert mended(project, write=True) == fix([project])
    assert mended(project).report.findings == ()
    assert counting.hits == [False, False, True]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("train.py", TRAIN + "x = 1\n"),
        ("train.py", "import torch\n"),
        ("other.py", "import torch  # the same but for a comment\n"),
        ("new.py", ""),
        ("pyproject.toml", '[project]\nname = "q"\n'),
        ("requirements.txt", "torch==1.8\n"),
        ("requirements-dev.txt", "albumentations==1.3.1\n"),  # what libraries draw differs by version
        ("environment.yml", "dependencies:\n  - albumentations=1.3\n"),
        ("torchrepro-lint.toml", "seed = 7\n"),
        (".flake8", "[flake8]\nmax-line-length = 60\n"),  # fixes are laid out by it
    ],
)
def test_a_change_is_noticed(project: Path, counting: Counting, file: str, text: str) -> None:
    cached(project)
    (project / file).write_text(text)
    assert cached(project) == check([project])
    assert counting.hits == [False, False]


def test_what_a_script_says_is_asked_again(project: Path, counting: Counting) -> None:
    (project / "train.py").write_text(
        "import torch\ntorch.manual_seed(0)\ntorch.use_deterministic_algorithms(True)\n"
        "x = torch.rand(2, 2).cuda()\nprint(x @ x)\n"
    )
    before = cached(project, target_torch="2.1")
    assert "TRL303" in {finding.code for finding in before.findings}
    (project / "run.sh").write_text("CUBLAS_WORKSPACE_CONFIG=:4096:8 python train.py\n")
    after = cached(project, target_torch="2.1")
    assert after == check([project], {"target_torch": "2.1"})
    assert counting.hits == [False, False]


@pytest.mark.parametrize("file", ["config.yaml", "conf/more.yaml"])
def test_what_a_configuration_says_is_asked_again(project: Path, counting: Counting, file: str) -> None:
    (project / "train.py").write_text("from lightning.pytorch.cli import LightningCLI\nLightningCLI()\n")
    assert cached(project).findings == ()
    (project / file).parent.mkdir(exist_ok=True)
    (project / file).write_text("seed_everything: 1\ntrainer: {deterministic: true, benchmark: true}\n")
    after = cached(project)
    assert after == check([project])
    assert [finding.code for finding in after.findings] == ["TRL301"]
    assert cached(project) == after
    assert counting.hits == [False, False, True]


@pytest.mark.parametrize(
    "other", [{"select": ("TRL1",)}, {"profile": "strict"}, {"target_torch": "1.8"}, {"unsafe_fixes": True}]
)
def test_settings_count(project: Path, counting: Counting, other: dict[str, object]) -> None:
    cached(project)
    assert cached(project, **other) == check([project], other)  # type: ignore[arg-type]
    assert counting.hits == [False, False]


def test_files_that_are_asked_about_count(project: Path, counting: Counting) -> None:
    cached(project)
    assert cached(project / "other.py").findings == ()
    assert counting.hits == [False, False]


def test_the_settings_may_say_no(project: Path, counting: Counting) -> None:
    (project / "torchrepro-lint.toml").write_text("cache = false\n")
    cached(project)
    cached(project)
    assert not (project / FOLDER).exists()
    assert counting.hits == [False, False]


def test_where_others_bring_rules_nothing_is_kept(
    project: Path, counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(EXAMPLE)
    cached(project)
    cached(project)
    assert counting.hits == [False, False]


def test_a_misspelt_rule_is_said_each_time(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main([str(project), "--select", "TRL999"]) == 2
        assert "TRL999" in capsys.readouterr().err


def test_the_command_keeps_and_cleans(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = [(main([str(project)]), capsys.readouterr().out) for _ in range(2)]
    assert said[0] == said[1]
    assert (project / FOLDER / "results").is_file()
    assert main(["clean", str(project)]) == 0
    assert FOLDER in capsys.readouterr().out
    assert not (project / FOLDER).exists()
    assert main([str(project), "--no-cache"]) == said[0][0]
    assert not (project / FOLDER).exists()
    assert main([str(project), "--cache-dir", str(project / "elsewhere")]) == said[0][0]
    assert (project / "elsewhere" / "results").is_file()


def test_a_run_that_finds_its_answer_loads_no_rules_and_no_parser(project: Path) -> None:
    command = (
        "import sys; from torchrepro_lint.cli import main; main(sys.argv[1:]);"
        "print([name for name in ('libcst', 'torchrepro_lint.rules', 'torchrepro_lint.program') if name in sys.modules])"
    )
    said = [
        subprocess.run([sys.executable, "-c", command, str(project), "-q"], capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert said[0].endswith("['libcst', 'torchrepro_lint.rules', 'torchrepro_lint.program']\n")
    assert said[1].endswith("[]\n")
    assert said[0].splitlines()[:-1] == said[1].splitlines()[:-1]


def test_a_cached_result_does_not_fix_a_text_that_was_saved_after_the_look(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = "import torch\n\n# a line more\n" + TRAIN.partition("\n")[2]
    cached(project, unsafe_fixes=True)
    load = run.CachedRun.load

    def and_saved(one: run.CachedRun) -> object:
        stored = load(one)
        (project / "train.py").write_text(saved)
        return stored

    monkeypatch.setattr(run.CachedRun, "load", and_saved)
    # The digest is known without a look at the text, as that of a file that was last changed some time ago.
    monkeypatch.setattr(engine, "is_any_wanted", lambda files, contents: True)
    monkeypatch.setattr(
        run.KnownDigests, "_look", lambda self, path, known, contents: bytes(40) + run.digest_of(path.read_bytes())
    )
    result = fix([project], {"unsafe_fixes": True}, run=RunOptions(cache=CacheChoice()))
    assert [change.source.text for change in result.changes] == [saved]
    assert (project / "train.py").read_text().startswith("import torch\n\n# a line more\ng = torch.Generator()")


def test_a_folder_behind_a_link_out_of_the_project_is_no_cache(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    victim = tmp_path_factory.mktemp("victim")
    (project / "link").symlink_to(victim)
    report = check([project], run=RunOptions(cache=CacheChoice(project / "link" / "cache")))
    assert list(victim.iterdir()) == []
    assert report.findings == check([project]).findings
    ((path, notice),) = report.notices
    assert path == project / "link" / "cache"
    assert "leads out of the project" in notice
    # What the user names elsewhere is theirs, be it a link or not.
    assert check([project], run=RunOptions(cache=CacheChoice(victim / "cache"))).notices == ()
    assert (victim / "cache" / "results").is_file()
