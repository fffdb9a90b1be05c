"""What is varied, and what is left alone. Each program runs in a process of its own, since the variations patch it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.rules import all_rules
from torchrepro_lint.verify.script.perturb.apply import PATCHES
from torchrepro_lint.verify.script.perturbations import PERTURBATIONS, RESUME, environment, named

pytestmark = pytest.mark.verify

ROOT = Path(__file__).resolve().parents[3]
BEFORE = """
import json, sys
from torchrepro_lint.verify.script.perturb import apply
effects = []
if {name!r} != "none":
    apply.apply({name!r}, {seed}, lambda: effects.append(1))
def told(*values):
    print(json.dumps([*values, len(effects)], default=str))
"""


def run(program: str, name: str = "none", seed: int = 1, folder: Path | None = None) -> list[list[object]]:
    """What the program tells: the values of each call of `told`, and how often an effect was reported by then."""
    source = BEFORE.format(name=name, seed=seed) + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-c", source],
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment(name, seed) if name != "none" else {})},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


LISTINGS = """
import glob, os, pathlib
told(os.listdir("."))
told([entry.name for entry in os.scandir(".")])
with os.scandir(os.fsencode(os.getcwd())) as entries:
    told([os.fsdecode(entry.name) for entry in entries])
told(glob.glob("*.txt"))
told(list(glob.iglob("*.txt")))
told([path.name for path in pathlib.Path(".").iterdir()])
told([path.name for path in pathlib.Path(".").glob("*.txt")])
told([path.name for path in pathlib.Path(".").rglob("*.txt")])
told(next(os.walk("."))[2])
"""


def test_every_way_of_listing_has_another_order(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").touch()
    plain = run(LISTINGS, folder=tmp_path)
    permuted = run(LISTINGS, "listing", folder=tmp_path)
    assert permuted == run(LISTINGS, "listing", folder=tmp_path)
    for (before, _), (after, effects) in zip(plain, permuted, strict=True):
        assert sorted(before) == sorted(after) and before != after
        assert effects
    assert len({tuple(names) for names, _ in permuted}) == 1
    assert permuted != run(LISTINGS, "listing", seed=2, folder=tmp_path)


def test_two_entries_are_always_exchanged(tmp_path: Path) -> None:
    (tmp_path / "a").touch(), (tmp_path / "b").touch()
    ((plain, _),) = run("import os; told(os.listdir())", folder=tmp_path)
    for seed in range(1, 4):
        assert run("import os; told(os.listdir())", "listing", seed, tmp_path) == [[plain[::-1], 1]]


def test_neither_the_first_nor_the_last_entry_stays(tmp_path: Path) -> None:
    """A program may take one of them alone."""
    for number in range(3):
        (tmp_path / str(number)).touch()
    ((plain, _),) = run("import os; told(os.listdir())", folder=tmp_path)
    for seed in range(1, 7):
        (((first, *_, last), _),) = run("import os; told(os.listdir())", "listing", seed, tmp_path)
        assert first != plain[0] and last != plain[-1]


def test_listings_that_are_no_data_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "alone").touch()
    program = """
        import os, sys
        told(os.listdir("."), os.listdir(os.path.dirname(os.__file__)), os.listdir("/proc/self"))
    """
    assert run(program, "listing", folder=tmp_path)[0][1:2] == run(program, folder=tmp_path)[0][1:2]
    assert run(program, "listing", folder=tmp_path)[0][-1] == 0


def test_an_error_of_a_listing_is_its_own(tmp_path: Path) -> None:
    program = """
        import os
        for function in (os.listdir, os.scandir):
            try:
                function("absent")
            except FileNotFoundError as error:
                told(error.filename)
    """
    assert run(program, "listing", folder=tmp_path) == [["absent", 0], ["absent", 0]]


def test_the_clock() -> None:
    program = """
        import time
        from datetime import date, datetime, timezone
        told(0)
        told(
            time.time(), time.time_ns() / 1e9, time.mktime(time.localtime()), time.mktime(time.strptime(time.ctime())),
            float(time.strftime("%s")), datetime.now().timestamp(), datetime.now(timezone.utc).timestamp(),
            datetime.utcnow().replace(tzinfo=timezone.utc).timestamp(), datetime.today().timestamp(),
            time.mktime(time.strptime(time.asctime())), time.mktime(date.today().timetuple()),
            time.monotonic(), time.localtime(0).tm_year, time.strftime("%Y", time.gmtime(0)), time.ctime(86400),
        )
    """
    plain, shifted = run(program), run(program, "clock")
    assert shifted[0][-1] == 0 < shifted[1][-1]
    ahead = [after - before for before, after in zip(plain[1][:11], shifted[1][:11], strict=True)]
    assert all(400 * 86_400 - 3_600 <= seconds < 402 * 86_400 for seconds in ahead), ahead
    assert shifted[1][11] - plain[1][11] < 86_400
    assert shifted[1][12:15] == plain[1][12:15]


def test_dates_are_the_dates_they_were() -> None:
    program = """
        import copy, datetime, pickle
        from datetime import date, datetime as moment, timedelta
        class Own(date): pass
        now = moment.now()
        told(
            isinstance(now, date), isinstance(now, moment), isinstance(now, Own), isinstance(date.today(), Own),
            isinstance(Own(2020, 1, 1), date), issubclass(moment, date), issubclass(Own, moment),
            pickle.loads(pickle.dumps(now)) == now == copy.deepcopy(now), now - timedelta(days=1) < now,
            moment(2020, 1, 2, 3) - moment.min > timedelta(0), moment.fromisoformat("2020-01-02").isoformat(),
            moment.strptime("2020", "%Y").year, repr(moment(2020, 1, 2)),
        )
    """
    assert run(program, "clock")[0][:-1] == run(program)[0][:-1]


LOADERS = """
    import torch
    from torch.utils.data import DataLoader

    torch.manual_seed(0)
    data = torch.arange(4)
    torch.manual_seed(0)
"""


def test_loaders_with_workers_get_one_more() -> None:
    program = (
        LOADERS
        + """
    told(DataLoader(data).num_workers)
    told(DataLoader(data, 2, False, None, None, 2).num_workers, DataLoader(data, num_workers=1).num_workers)
    class Own(DataLoader):
        def __init__(self):
            super().__init__(data, num_workers=3)
    told(Own().num_workers)
    told(len([batch for batch in DataLoader(data, num_workers=1)]))
    """
    )
    assert run(program, "workers") == [[0, 0], [3, 2, 2], [4, 3], [4, 4]]


def test_a_draw_before_each_pass_but_the_first() -> None:
    program = (
        LOADERS
        + """
    def order(**options):
        return [int(item) for batch in DataLoader(data, batch_size=4, shuffle=True, **options) for item in batch]
    told(order())
    told(order())
    told(order(generator=torch.Generator().manual_seed(1)))
    """
    )
    plain, varied = run(program), run(program, "eval")
    assert varied[0] == [*plain[0][:-1], 0]
    assert varied[1][0] != plain[1][0] and varied[1][-1] == 1
    assert varied[2][0] == plain[2][0]


def test_the_extra_draw_is_that_of_a_pass() -> None:
    program = (
        LOADERS
        + """
    list(DataLoader(data))
    {pass_}
    list(DataLoader(data))
    told(torch.get_rng_state().tolist())
    """
    )
    one_more = run(program.format(pass_="list(DataLoader(data))"))
    assert run(program.format(pass_=""), "eval")[0][0] == one_more[0][0]
    assert run(program.format(pass_=""))[0][0] != one_more[0][0]


def test_persistent_workers_have_passes_too() -> None:
    program = (
        LOADERS
        + """
    loader = DataLoader(data, batch_size=4, shuffle=True, num_workers=1, persistent_workers=True)
    told([batch.tolist() for _ in range(3) for batch in loader])
    """
    )
    plain, varied = run(program)[0][0], run(program, "eval")[0][0]
    assert varied[0] == plain[0] and varied[1:] != plain[1:]


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    assert environment(None, 0) == environment("clock", 3) == {"PYTHONHASHSEED": "0"}
    assert environment("hashseed", 1) == {"PYTHONHASHSEED": "1"}
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    assert environment(None, 0) == {"PYTHONHASHSEED": "7"} != environment("hashseed", 1)
    assert environment("memory", 1)["MALLOC_PERTURB_"] == "42"
    monkeypatch.setenv("MALLOC_PERTURB_", "42")
    assert environment("memory", 1)["MALLOC_PERTURB_"] == "43"
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert environment("threads", 1)["OMP_NUM_THREADS"] == "1"
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert environment("threads", 1)["OMP_NUM_THREADS"] == "2"


def test_each_perturbation_varies_something() -> None:
    for name in PERTURBATIONS:
        in_environment = environment(name, 1) != environment(None, 0)
        assert (name in PATCHES) + in_environment + (name == RESUME) == 1, name


def test_names() -> None:
    assert named("all") == named("clock,all") == tuple(name for name in PERTURBATIONS if name != RESUME)
    assert named(" clock , hashseed,clock") == ("clock", "hashseed")
    with pytest.raises(TorchReproLintError, match='"hashsed" is not a perturbation; did you mean "hashseed"'):
        named("clock,hashsed")
    for nothing in ("", "clock,"):
        with pytest.raises(TorchReproLintError, match="there are: all, hashseed, listing"):
            named(nothing)


def test_the_rules_are_those_of_the_catalogue() -> None:
    assert {code for perturbation in PERTURBATIONS.values() for code in perturbation.rules} <= {
        rule.code for rule in all_rules()
    }
