"""Scripts that fail, hang, leave, or do nothing that could be compared: each gets a clear answer, and is never equal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from verify_runs import answer, command, ends, script

pytestmark = pytest.mark.verify

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nothing = 'nothing'", "nothing was recorded"),
        ("raise ValueError('no data')", "each run failed: ValueError: no data at "),
        ("import sys\nsys.exit(3)", "each run ended with exit status 3"),
        ("import sys\nsys.exit('no data')", "each run ended with exit status 1"),
        ("import os\nos._exit(0)", "nothing was recorded"),
        ("import os\nos._exit(4)", "each run ended with exit status 4"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "run 1 was ended by SIGKILL"),
        (
            "import os, signal, torch\nos.kill(os.getpid(), signal.SIGABRT)",
            "run 1 was ended by SIGABRT; it was at train.py:2",
        ),
        ("import os\nos.execv('/bin/true', ['true'])", "before Python came to its end"),
        ("input('epochs? ')", "each run failed: EOFError: EOF when reading a line at "),
        ("from .model import Net", "each run failed: ImportError: attempted relative import"),
        ("raise KeyboardInterrupt", "each run failed: KeyboardInterrupt"),
        ("def f(:", "each run failed: SyntaxError"),
        ("import sys\nsys.stdout.buffer.write(bytes(range(256)))\nraise RuntimeError('x')", "RuntimeError: x"),
    ],
    ids=[
        "nothing",
        "exception",
        "status",
        "message",
        "os._exit",
        "os._exit 4",
        "signal",
        "signal after torch is imported",
        "exec",
        "stdin",
        "relative import",
        "interrupt",
        "syntax",
        "binary",
    ],
)
def test_what_could_not_be_run(tmp_path: Path, text: str, words: str) -> None:
    script(tmp_path, text)
    status, found = answer("train.py", folder=tmp_path)
    assert (status, found["outcome"]) == (2, "could not run")
    assert words in found["verdict"]


def test_a_syntax_error_is_shown_as_python_shows_it(tmp_path: Path) -> None:
    script(tmp_path, "def f(:")
    shown = command("train.py", folder=tmp_path).stdout
    assert "SyntaxError: invalid syntax" in shown
    assert "Traceback" not in shown and "child.py" not in shown


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("import torch\nprint(torch.rand(2))", 1, "they first differ in step 0, at aten.rand"),
        ("import random\nprint(random.random())", 1, "they first differ in step 0, at random.random"),
        ("import torch\ntorch.manual_seed(0)\ntorch.rand(2)", 0, "'a b': 1 random number drawn agreed"),
    ],
    ids=["torch", "random", "seeded"],
)
def test_a_script_that_only_draws_is_compared_by_its_draws(tmp_path: Path, text: str, status: int, words: str) -> None:
    script(tmp_path, text)
    got, found = answer("train.py", "--", "a b", folder=tmp_path)
    assert (got, found["runs"][0]["record"]) == (status, None)
    assert words in found["verdict"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--report", "gone/out.html", "train.py"), "gone/out.html: the folder gone does not exist"),
        ((), "name a script or fixtures to run"),
        (("--timeout", "soon", "train.py"), '--timeout: "soon" is not a number of seconds greater than 0'),
        (("--runs", "many", "train.py"), '--runs: "many" is not a whole number of 2 or more'),
    ],
    ids=["report", "nothing", "timeout", "runs"],
)
def test_wrong_usage_is_said_before_anything_runs(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    script(tmp_path, "open('ran', 'w')")
    done = command(*words, folder=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_script_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    text = """
        import subprocess, sys, time

        def wait():
            time.sleep(600)

        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open("pid", "w").write(str(child.pid))
        wait()
        """
    path = script(tmp_path, text)
    # As much time as it takes here to start the child.
    for limit in (20, 80, 320):
        status, found = answer("--timeout", str(limit), "train.py", folder=tmp_path)
        if (tmp_path / "pid").exists():
            break
    assert status == 2
    assert f"run 1 did not end within {limit} s; it was at train.py:4" in found["verdict"]
    assert path.read_text().splitlines()[3] == "    time.sleep(600)"
    assert ends(int((tmp_path / "pid").read_text()))


def test_a_script_that_fails_once_parts(tmp_path: Path) -> None:
    script(tmp_path, "import os\nif os.path.exists('flag'): raise OSError('there already')\nopen('flag', 'w')")
    status, found = answer("train.py", folder=tmp_path)
    assert (status, found["outcome"]) == (1, "differed")
    assert "did not end in the same way: run 2 failed: OSError: there already at train.py:2" in found["verdict"]


def test_a_script_that_does_what_it_likes_with_its_process(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = """
        import os
        import threading
        import time
        import torch
        from torch.utils.data import DataLoader, IterableDataset

        os.closerange(3, 256)
        os.makedirs("elsewhere", exist_ok=True)
        os.chdir("elsewhere")
        assert os.path.samefile(__file__, "../train.py")
        torch.no_grad = None

        class Samples(IterableDataset):
            def __iter__(self):
                yield torch.ones(2, dtype=torch.complex64).conj()
                yield torch.ones(2).to(torch.float8_e4m3fn)
                yield torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
                yield torch.eye(2).to_sparse()
                yield torch.tensor(float("nan"))
                yield torch.ones(1).expand(10**6, 10**6)
                yield torch.ones(2, device="meta")

        def evaluate():
            for number in DataLoader(range(20)):
                time.sleep(os.urandom(1)[0] / 10000)

        threading.Thread(target=evaluate).start()
        weight = torch.ones(1, requires_grad=True)
        for sample in DataLoader(Samples(), batch_size=None):
            time.sleep(os.urandom(1)[0] / 10000)
            weight.sum().backward()
        """
    script(tmp_path, text)
    status, found = answer("train.py", folder=tmp_path)
    assert (status, found["outcome"]) == (0, "agreed"), found
    assert found["compared"] == {"batch": 27, "loss": 7}
    assert found["unread"] == 1  # what is on no device
    assert found["overhead"]["memory"]["cpu"] > 0


def test_what_was_printed_is_shown_without_our_own_frames(tmp_path: Path) -> None:
    script(tmp_path, "def load():\n    raise ValueError('no data')\nload()")
    ran = command("train.py", folder=tmp_path)
    assert ran.returncode == 2
    assert ran.stdout.startswith("could not run: train.py: each run failed: ValueError: no data")
    assert f'File "{tmp_path / "train.py"}", line 2, in load' in ran.stdout
    assert "child.py" not in ran.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.py"], "none.py: no such file"),
        (["train.py", "--epochs", "1"], "unrecognized arguments: --epochs 1; arguments for the script follow --"),
        (["train.py", "other.py"], "only one script can be run"),
        (["train.ipynb"], "train.ipynb: a notebook; convert it first"),
        (["train.py", "--device", "all"], "--device all is for fixtures"),
        (["train.py", "--perturb", "weather"], '"weather" is not a perturbation'),
        (["--perturb", "all", "."], "--perturb is for a script of your own"),
        (["train.py", "--save", "train.py"], "train.py: "),
        (["compare", "train.py", "train.py"], "train.py: not a recording"),
        (["compare", "records", "records"], "records: Is a directory; a recording in it is records/run-1.jsonl"),
    ],
)
def test_wrong_use(tmp_path: Path, words: list[str], message: str) -> None:
    script(tmp_path, "print(1)")
    script(tmp_path, "print(1)", "other.py")
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "run-1.jsonl").touch()
    ran = command(*words, folder=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in ran.stderr.splitlines()[-1]


def test_cuda_without_a_device(tmp_path: Path) -> None:
    script(tmp_path, "print(1)")
    ran = command("--device", "cuda", "train.py", folder=tmp_path, CUDA_VISIBLE_DEVICES="-1")
    assert ran.returncode == 2
    assert ran.stderr == "torchrepro-lint verify: error: --device cuda: there is no CUDA device here\n"


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGKILL"])
def test_one_that_is_told_to_end_takes_the_script_along(tmp_path: Path, name: str) -> None:
    number = getattr(signal, name)
    text = """
        import os, pathlib, subprocess, time
        helper = subprocess.Popen(["sleep", "100"])
        pathlib.Path("pids").write_text(f"{os.getpid()} {helper.pid}\\n")
        time.sleep(100)
    """
    script(tmp_path, text)
    (tmp_path / "scratch").mkdir()

    def before() -> None:
        # pytest may have been started with some of them ignored, as in the background of a shell.
        if name != "SIGKILL":
            signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)

    verify = subprocess.Popen(
        [sys.executable, "-m", "torchrepro_lint", "verify", "train.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "scratch")},
        stderr=subprocess.PIPE,
        preexec_fn=before,
    )
    try:
        started = tmp_path / "pids"
        wait_for(lambda: started.exists() and started.read_text().endswith("\n"))
        verify.send_signal(number)
        verify.communicate(timeout=60)
    finally:
        verify.kill()
    assert verify.returncode == (-number if name == "SIGKILL" else 128 + number)
    for pid in map(int, started.read_text().split()):
        assert ends(pid)
    wait_for(lambda: not any((tmp_path / "scratch").iterdir()))


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)
