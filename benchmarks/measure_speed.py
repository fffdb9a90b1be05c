"""How fast the tool is, beside ruff and TorchFix, on trees of Python files.

    python benchmarks/measure_speed.py --ruff ruff --torchfix /path/to/torchfix transformers/ monai/ timm/

Each tool runs in its own environment (give the paths of their commands). What is compared runs in turns, so that a load
on the machine falls on all of them, and the median of the ratios of each round is printed beside the median times. The
floor is what the parsing of the files that were parsed takes in one process, and the start of Python with all imports.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

TOOL = [sys.executable, "-m", "torchrepro_lint"]


def seconds(command: Sequence[str]) -> float:
    """The wall time of a command, whatever its exit status; its output is thrown away."""
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}")
    return time.perf_counter() - started


def in_turns(first: Sequence[str], second: Sequence[str], rounds: int) -> tuple[float, float, float]:
    """The median times of two commands that run in turns, and the median of the ratios of the first to the second."""
    pairs = [(seconds(first), seconds(second)) for _ in range(rounds)]
    ratio = statistics.median(one / other for one, other in pairs)
    return statistics.median(one for one, _ in pairs), statistics.median(other for _, other in pairs), ratio


def row(what: str, ours: float, other: str, theirs: float, ratio: float) -> None:
    print(f"| {what} | {ours:.2f} s | {other} {theirs:.2f} s | {ratio:.2f} |", flush=True)


def peak_memory(tree: Path) -> float:
    """The most memory, in MB, that a run or one of its helpers has used."""
    code = (
        "import resource, runpy, sys\n"
        "sys.argv = ['torchrepro-lint', '--no-cache', '-q', sys.argv[1]]\n"
        "try:\n    runpy.run_module('torchrepro_lint', run_name='__main__')\n"
        "except SystemExit:\n    pass\n"
        "print(max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)),"
        " file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tree)], capture_output=True, text=True, check=False)
    unit = 1 if sys.platform == "darwin" else 1024
    return int(done.stderr.split()[-1]) * unit / 1e6


def parsed(tree: Path) -> tuple[int, int, float]:
    """How many files a run makes facts of, how many bytes they are, and the processor time that this takes alone."""
    code = (
        "import json, sys, time\n"
        "from torchrepro_lint.program import program\n"
        "from torchrepro_lint.facts.module import facts_of_text\n"
        "made, seen, spent = program.Program, [], 0.0\n"
        "def noted(path, text):\n"
        "    global spent\n"
        "    started = time.process_time()\n"
        "    try:\n        return facts_of_text(path, text)\n"
        "    finally:\n"
        "        spent += time.process_time() - started\n"
        "        seen.append(len(text))\n"
        "def make(*given, **named):\n"
        "    return made(*given, **named) if len(given) > 6 else made(*given, **{'facts_of': noted, **named})\n"
        "program.Program = make\n"
        "from torchrepro_lint.cli import main\n"
        "main(['--no-cache', '-q', sys.argv[1]])\n"
        "print(json.dumps([len(seen), sum(seen), spent]), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tree)], capture_output=True, text=True, check=False)
    files, size, spent = json.loads(done.stderr.splitlines()[-1])
    return files, size, spent


def size_of(tree: Path) -> float:
    return sum(path.stat().st_size for path in tree.rglob("*.py")) / 1e6


def against_ruff(tree: Path, ruff: str, rounds: int) -> None:
    cold = [*TOOL, "--no-cache", "-q", str(tree)]
    row("cold", *_beside(cold, "ruff --no-cache", [ruff, "check", "--no-cache", "--select", "NPY", str(tree)], rounds))
    with tempfile.TemporaryDirectory() as folder:
        warm = [*TOOL, "-q", "--cache-dir", folder, str(tree)]
        seconds(warm)
        uncached = [ruff, "check", "--no-cache", "--select", "NPY", str(tree)]
        row("warm", *_beside(warm, "ruff --no-cache", uncached, rounds))
        cached = [ruff, "check", "--cache-dir", f"{folder}/ruff", "--select", "NPY", str(tree)]
        seconds(cached)
        row("warm", *_beside(warm, "ruff, cached", cached, rounds))


def _beside(ours: list[str], name: str, theirs: list[str], rounds: int) -> tuple[float, str, float, float]:
    one, other, ratio = in_turns(ours, theirs, rounds)
    return one, name, other, ratio


def one_changed(tree: Path, rounds: int) -> None:
    """The time of a run after one file in the middle of the tree has got a comment more."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / tree.name
        shutil.copytree(tree, copy)
        command = [*TOOL, "-q", "--cache-dir", f"{folder}/cache", str(copy)]
        seconds(command)
        files = sorted(copy.rglob("*.py"))
        times = []
        for number in range(rounds):
            with files[len(files) // 2].open("a") as stream:
                stream.write(f"# {number}\n")
            times.append(seconds(command))
        print(f"| one changed file of {len(files)} | {statistics.median(times):.2f} s | | |", flush=True)


def one_of_many(tree: Path, count: int = 5) -> None:
    """The median and the longest time, without a cache, for single files of the tree, of some that speak of torch."""
    files = [path for path in sorted(tree.rglob("*.py")) if b"torch" in path.read_bytes()]
    some = files[len(files) // (2 * count) :: max(len(files) // count, 1)][:count]
    times = [seconds([*TOOL, "--no-cache", "-q", str(path)]) for path in some]
    most = f"{max(times):.2f} s at most"
    print(f"| one file by itself, cold, of {len(some)} | {statistics.median(times):.2f} s, {most} | | |", flush=True)


def linearity(tree: Path) -> None:
    """The processor time for the tree once, twice and four times, as packages beside each other."""
    with tempfile.TemporaryDirectory() as folder:
        for copies in (1, 2, 4):
            whole = Path(folder) / f"x{copies}"
            for number in range(copies):
                shutil.copytree(tree, whole / f"{tree.name}{number}")
            before = os.times()
            seconds([*TOOL, "--no-cache", "-q", "-j1", str(whole)])
            after = os.times()
            spent = after.children_user - before.children_user
            print(f"| {copies}x, processor time | {spent:.2f} s | | |", flush=True)


def start_up(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plain.py").write_text("x = 1\n")
        plain = [*TOOL, "--no-cache", "-q", f"{folder}/plain.py"]
        ours, version, ratio = in_turns(plain, [*TOOL, "--version"], max(rounds, 9))
    row("one small file without interest", ours, "--version", version, ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--ruff", default="ruff")
    parser.add_argument("--torchfix", help="the command of TorchFix; without it, it is left out")
    parser.add_argument("--torchfix-on", help="the name of the one tree to run TorchFix on: it takes long")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| what | torchrepro-lint | beside | ratio |\n|---|---|---|---|", flush=True)
    start_up(options.rounds)
    for tree in options.trees:
        print(f"| **{tree.name}**, {size_of(tree):.1f} MB | | | |")
        against_ruff(tree, options.ruff, options.rounds)
        one_changed(tree, options.rounds)
        one_of_many(tree)
        if options.torchfix and (options.torchfix_on or tree.name) == tree.name:
            ours, theirs, ratio = in_turns(
                [*TOOL, "--no-cache", "-q", str(tree)], [options.torchfix, "--select", "ALL", str(tree)], 1
            )
            row("cold", ours, "TorchFix", theirs, ratio)
        files, size, spent = parsed(tree)
        print(f"| parsed: {files} files, {size / 1e6:.1f} MB | {spent:.2f} s | | |")
        print(f"| peak memory | {peak_memory(tree):.0f} MB | | |", flush=True)
    linearity(options.trees[-1])


if __name__ == "__main__":
    main()
