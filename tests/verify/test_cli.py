"""`torchrepro-lint verify` as a command: its table, its JSON, its exit status, and what it says without torch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from torchrepro_lint.verify import cli
from torchrepro_lint.verify.fixtures.cli import AS_CLAIMED, COULD_NOT_RUN, NOT_AS_CLAIMED

ROOT = Path(__file__).resolve().parents[2]


def case(folder: Path, claims: str, program: str, name: str = "bad_case.py") -> Path:
    path = folder / "TRL101_numpy_rng_in_workers" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    header = "".join(f"# claim: {claim}\n" for claim in claims.splitlines())
    path.write_text(f"# about: A case.\n{header}{program}")
    return path


@pytest.fixture
def no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchrepro_lint.verify.cli.has_cuda", lambda: False)
    monkeypatch.setattr("torchrepro_lint.verify.fixtures.cli.has_cuda", lambda: False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())


pytestmark = pytest.mark.usefixtures("no_cuda")


def test_all_as_claimed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case(tmp_path, "output agrees between runs\n[cuda] output differs between runs\nnot shown: needs time", "print(1)")
    assert cli.main([str(tmp_path)]) == AS_CLAIMED
    lines = capsys.readouterr().out.splitlines()
    assert [cell.strip() for cell in lines[0].split("  ") if cell.strip()] == [
        *("fixture", "device", "workers", "claimed", "observed", "verdict"),
    ]
    assert lines[1].endswith("passed") and " cpu " in lines[1]
    assert lines[2].endswith("skipped: no CUDA device") and " cuda " in lines[2]
    assert lines[3].endswith("not shown")
    assert lines[-1] == "1 program, 3 claims: 1 passed, 1 skipped, 1 not shown"


def test_not_as_claimed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case(tmp_path, "output differs between runs\noutput agrees between runs", "print(1)")
    assert cli.main([str(tmp_path)]) == NOT_AS_CLAIMED
    assert "output agreed in 16 runs" in capsys.readouterr().out


def test_the_hash_seed_is_another_one_in_each_run(tmp_path: Path) -> None:
    case(tmp_path, "output differs between runs", "print(hash('text'))")
    assert cli.main([str(tmp_path)]) == AS_CLAIMED


def test_a_program_that_cannot_be_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case(tmp_path, "output agrees between runs", "import os; print(1, flush=True); os._exit(0)")
    assert cli.main([str(tmp_path)]) == COULD_NOT_RUN
    assert "could not run" in capsys.readouterr().out


def test_a_time_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case(tmp_path, "output agrees between runs", "import time; time.sleep(60)")
    assert cli.main([str(tmp_path), "--timeout", "0.7"]) == COULD_NOT_RUN
    assert "did not end within 0.7 s" in capsys.readouterr().out


def test_only_cuda_where_there_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case(tmp_path, "output agrees between runs", "print(1)")
    assert cli.main([str(tmp_path), "--device", "cuda"]) == COULD_NOT_RUN
    out = capsys.readouterr().out
    assert "skipped: no CUDA device" in out and "passed" not in out


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = case(tmp_path, "output agrees between runs\n[cuda] [spawn] epochs repeat", "print(1)")
    assert cli.main([str(path), "--output-format", "json", "--runs", "3"]) == AS_CLAIMED
    first, second = json.loads(capsys.readouterr().out)
    assert first == {
        "fixture": "TRL101_numpy_rng_in_workers/bad_case",
        "path": str(path),
        "device": "cpu",
        "start_method": None,
        "claim": "output agrees between runs",
        "observed": "output agreed in 3 runs",
        "verdict": "passed",
    }
    assert (second["device"], second["verdict"], second["observed"]) == ("cuda", "skipped", "no CUDA device")
    assert second["start_method"] == "spawn"


@pytest.mark.verify
def test_each_start_method_has_its_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = """\
import torch
from torch.utils.data import DataLoader

if __name__ == "__main__":
    for batch in DataLoader(torch.arange(4), batch_size=2, num_workers=1):
        print(batch)
"""
    path = case(tmp_path, "[fork] [spawn] [forkserver] batches agree between runs", program)
    assert cli.main([str(path), "--output-format", "json"]) == AS_CLAIMED
    rows = json.loads(capsys.readouterr().out)
    assert [row["start_method"] for row in rows] == ["fork", "spawn", "forkserver"]


@pytest.mark.parametrize("paths", [[], ["absent"]])
def test_nothing_to_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, paths: list[str]
) -> None:
    (tmp_path / "fixtures").mkdir()
    monkeypatch.chdir(tmp_path)
    assert cli.main(paths) == COULD_NOT_RUN
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--runs", "1"], ["--runs", "x"], ["--timeout", "0"], ["--device", "tpu"]])
def test_usage_errors(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == COULD_NOT_RUN


def test_without_torch_one_line_and_no_traceback(tmp_path: Path) -> None:
    """`-S` leaves the site packages out, so that neither torch nor anything else that is installed can be found."""
    case(tmp_path, "output agrees between runs", "print(1)")
    done = subprocess.run(
        [sys.executable, "-S", "-m", "torchrepro_lint.verify.cli", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == COULD_NOT_RUN
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        'torchrepro-lint verify: error: verify needs PyTorch to run programs: pip install "torchrepro-lint[verify]"'
    ]


def test_the_parent_imports_neither_torch_nor_numpy(tmp_path: Path) -> None:
    case(tmp_path, "output agrees between runs", "print(1)")
    program = (
        "import sys; from torchrepro_lint.verify import cli; "
        f"status = cli.main([{str(tmp_path)!r}, '--device', 'cpu']); "
        "sys.exit(status or bool({'torch', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
