"""One program in one fresh process: however it ends, the run says how."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from verify_runs import ends

from torchrepro_lint.verify.runner import Condition, Run, run_program


def run(tmp_path: Path, program: str, *, timeout: float = 300.0, **condition: object) -> Run:
    (tmp_path / "main.py").write_text(textwrap.dedent(program))
    return run_program(tmp_path, "main.py", Condition("cpu", **condition), timeout=timeout, alone=False)  # type: ignore[arg-type]


def test_a_program_that_ends(tmp_path: Path) -> None:
    seen = run(tmp_path, "print('hello')")
    assert (seen.trouble, seen.output, seen.record.ended, seen.record.failure) == (None, b"hello\n", True, None)
    assert seen.record.environment["python"]


def test_an_exception_is_no_trouble(tmp_path: Path) -> None:
    seen = run(tmp_path, "class Odd(ValueError): pass\nraise Odd('no')")
    assert seen.trouble is None and seen.record.ended
    assert seen.record.failure is not None
    assert seen.record.failure.types[:2] == ("Odd", "ValueError")
    assert seen.record.failure.summary == "Odd: no"
    assert "Traceback" in seen.errors


def test_a_program_that_does_not_compile(tmp_path: Path) -> None:
    failure = run(tmp_path, "f(a b)").record.failure
    assert failure is not None and failure.compiling and failure.types[0] == "SyntaxError"


def test_an_imported_module_that_does_not_compile_is_not_the_program(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("f(a b)")
    failure = run(tmp_path, "import other").record.failure
    assert failure is not None and not failure.compiling


@pytest.mark.parametrize(("argument", "status"), [("", 0), ("0", 0), ("3", 3), ("'no'", 1)])
def test_sys_exit(tmp_path: Path, argument: str, status: int) -> None:
    seen = run(tmp_path, f"import sys; sys.exit({argument})")
    assert (seen.trouble, seen.record.exit_status) == (None, status)


def test_os_exit_is_trouble(tmp_path: Path) -> None:
    seen = run(tmp_path, "import os; print('x', flush=True); os._exit(0)")
    assert seen.trouble == "stopped with exit status 0 before it came to its end"
    assert seen.output == b"x\n"


def test_a_signal_is_trouble(tmp_path: Path) -> None:
    assert run(tmp_path, "import os; os.kill(os.getpid(), 9)").trouble == "ended by signal 9"


def test_a_time_limit_ends_the_whole_group(tmp_path: Path) -> None:
    program = """
        import subprocess, time
        print(subprocess.Popen(["sleep", "600"]).pid, flush=True)
        time.sleep(600)
    """
    # As much time as it takes here to start the child.
    for limit in (1, 5, 25, 125):
        seen = run(tmp_path, program, timeout=limit)
        assert seen.trouble == f"did not end within {limit} s"
        if seen.output:
            break
    assert ends(int(seen.output))


def test_a_process_left_behind_does_not_hold_the_run_up(tmp_path: Path) -> None:
    seen = run(tmp_path, "import subprocess; subprocess.Popen(['sleep', '600']); print('done')")
    assert (seen.trouble, seen.output) == (None, b"done\n")


def test_output_that_is_no_text(tmp_path: Path) -> None:
    assert run(tmp_path, r"import sys; sys.stdout.buffer.write(b'\xff\x00')").output == b"\xff\x00"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_every_start_method_finds_the_program(tmp_path: Path, method: str) -> None:
    program = """
        import multiprocessing as mp

        def work(number, queue):
            queue.put((number, mp.get_start_method()))

        if __name__ == "__main__":
            queue = mp.Queue()
            process = mp.Process(target=work, args=(7, queue))
            process.start()
            print(*queue.get())
            process.join()
    """
    seen = run(tmp_path, program, start_method=method)
    assert seen.output.decode() == f"7 {method}\n", seen.errors


def test_the_program_is_main_in_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("value = 5")
    program = """
        import sys, os, beside
        assert sys.modules["__main__"].__dict__ is globals()
        print(__name__, os.path.basename(__file__), beside.value, sys.argv, sys.path[0] == os.path.dirname(__file__))
    """
    assert run(tmp_path, program).output.decode() == "__main__ main.py 5 ['main.py'] True\n"


def test_nothing_is_written_beside_the_program(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("")
    run(tmp_path, "import beside; open('result.txt', 'w').close()")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.py", "main.py"]


def test_a_program_alone_does_not_see_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "main.py").write_text("import beside")
    seen = run_program(tmp_path, "main.py", Condition("cpu"), timeout=300, alone=True)
    assert seen.record.failure is not None and seen.record.failure.types[0] == "ModuleNotFoundError"


def test_the_environment_is_the_runs_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    program = """
        import os
        for name in ("PYTHONHASHSEED", "OMP_NUM_THREADS", "CUBLAS_WORKSPACE_CONFIG"):
            print(os.environ.get(name))
    """
    assert run(tmp_path, program, hash_seed=5).output == b"5\n1\nNone\n"


def test_seeds_are_shifted_in_the_main_process(tmp_path: Path) -> None:
    program = """
        import random
        random.seed(1); print(random.random())
        random.seed(a=1); print(random.random())
        random.seed("text"); print(random.random())
    """
    plain, shifted = run(tmp_path, program), run(tmp_path, program, perturb="random.seed")
    assert shifted.record.shifted_seeds == 2
    assert [a == b for a, b in zip(plain.output.split(), shifted.output.split(), strict=True)] == [False, False, True]


def test_warnings_are_recorded_and_still_shown(tmp_path: Path) -> None:
    seen = run(tmp_path, "import warnings; warnings.warn('take care')")
    assert seen.record.warnings == ["take care"]
    assert "take care" in seen.errors
