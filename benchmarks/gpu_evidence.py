"""Everything that needs a GPU, in one command that takes less than eight minutes on one GPU:

    python benchmarks/gpu_evidence.py [--out FOLDER] [--minutes 8]

1. the calls of the table of operations, many times (`torchrepro-lint verify --ops`), into `op_measurements.tsv`
2. the claims about CUDA of all fixtures (`torchrepro-lint verify --device cuda`), into `gpu_claims.tsv`
3. the small trainings of gpu_networks.py, each in several fresh processes, into `gpu_networks.tsv`
4. `torchrepro-lint verify --device cuda SCRIPT` on some of them, into `verify.txt`

They run beside each other: what depends on timing shows then. Rows name the device, torch, CUDA and the date. They are
data for `torchrepro_lint/knowledge/`, where the pages of the rules read them. `--device cpu` tries the command itself
where there is no GPU; nothing that it writes then says anything about CUDA.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from gpu_networks import NETWORKS, VARIANTS  # noqa: E402

from torchrepro_lint.knowledge.op_measurements import OpMeasurement  # noqa: E402

#: Variants whose compiled code each process is to make itself.
_COMPILED = ("compiled", "autotuned")

_VERIFIED = (("messages", "plain"), ("messages", "strict"), ("residual", "cudnn"), ("efficient", "plain"))
_ABOUT = """
import torch
name = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
print(name, torch.__version__.partition("+")[0], torch.version.cuda or "", sep="\t")
"""


class Evidence:
    """The command's options, and how much time is left."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.device, self.out, self.runs = options.device, options.out.resolve(), options.runs
        self.words, self.networks = options.ops, options.networks or list(NETWORKS)
        self.programs: Sequence[str] = options.programs
        self.ends = time.monotonic() + 60 * options.minutes
        self.about = self.run(["-c", _ABOUT]).stdout.strip().split("\t")

    def run(self, arguments: Sequence[str], **variables: str) -> subprocess.CompletedProcess[str]:
        """Python with these arguments; its output as far as it came where the time was over."""
        left = max(1.0, self.ends - time.monotonic())
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        if self.device == "cpu":
            environment["CUDA_VISIBLE_DEVICES"] = "-1"
        command = [sys.executable, *arguments]
        try:
            return subprocess.run(
                command,
                cwd=ROOT,
                env=environment | variables,
                capture_output=True,
                text=True,
                timeout=left,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            seen = late.stdout if isinstance(late.stdout, str) else (late.stdout or b"").decode()
            return subprocess.CompletedProcess(command, 124, seen, f"not ended {left:.0f} s before the end")

    def write(self, name: str, lines: Sequence[str]) -> None:
        """A file of the result."""
        self.out.joinpath(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def row(self, *cells: str) -> str:
        """A row of a result, with where and when it was measured."""
        return "\t".join([*cells, *self.about, date.today().isoformat()]).replace("\n", " ")


def operations(evidence: Evidence) -> str:
    """The table of operations."""
    arguments = ["-m", "torchrepro_lint", "verify", "--ops", "--device", evidence.device, "--timeout", "200"]
    done = evidence.run([*arguments, "--runs", str(evidence.runs), "--output-format", "json", *evidence.words])
    evidence.write("ops.json", [done.stdout])
    evidence.write("ops_errors.txt", [done.stderr])
    if not done.stdout:
        return f"exit status {done.returncode}: {done.stderr[-500:]}"
    seen = json.loads(done.stdout)
    columns = ("op", "when", "kind", "device", "torch", "cuda", "runs")
    today = date.today().isoformat()
    rows = [
        OpMeasurement(*(str(one[column]) for column in columns), today, one["result"], one["detail"])
        for one in seen
        if one["result"]
    ]
    evidence.write("op_measurements.tsv", [str(row) for row in rows])
    against = [f"  {one['op']} ({one['when']}): {one['detail']}: {one['against']}" for one in seen if one["against"]]
    return "\n".join([f"{sum(bool(one['result']) for one in seen)} of {len(seen)} measured", *against])


def claims(evidence: Evidence) -> str:
    """The claims of the fixtures: those about CUDA, and of the rules about CUDA those about any device."""
    paths = []
    for path in sorted(ROOT.glob("fixtures/TRL*/**/*.py")):
        text = path.read_text(encoding="utf-8")
        if "# claim: [cuda]" in text or ("cuda" in text and path.relative_to(ROOT).parts[1][3] in "34"):
            folder = path.parents[len(path.relative_to(ROOT / "fixtures").parts) - 3]
            paths.append(path if path.parent.parent.name == "fixtures" else folder)
    chosen = sorted({str(path.relative_to(ROOT)) for path in paths})
    chosen = [name for name in chosen if not evidence.programs or any(word in name for word in evidence.programs)]
    arguments = ["-m", "torchrepro_lint", "verify", "--device", evidence.device, "--runs", "3", "--timeout", "120"]
    arguments += ["--jobs", "3", "--output-format", "json"]
    with ThreadPoolExecutor(5) as pool:
        parts = [chosen[start : start + 10] for start in range(0, len(chosen), 10)]
        ended = list(pool.map(lambda part: evidence.run([*arguments, *part]), parts))
    trouble = [f"exit status {done.returncode}: {done.stderr[-500:]}" for done in ended if not done.stdout]
    rows = [row for done in ended if done.stdout for row in json.loads(done.stdout)]
    held = [(one["fixture"], one["claim"], one["observed"]) for one in rows if one["verdict"] == "passed"]
    evidence.write("gpu_claims.tsv", [evidence.row(*one) for one in held])
    wrong = [
        f"  {one['fixture']}: {one['claim']}: {one['verdict']}: {one['observed'][:200]}"
        for one in rows
        if one["verdict"] not in ("passed", "not shown")
    ]
    return "\n".join(
        [f"{len(rows) - len(wrong)} of {len(rows)} claims of {len(chosen)} programs hold", *trouble, *wrong]
    )


def networks(evidence: Evidence) -> str:
    """The small trainings."""
    wanted = [(name, variant) for name in evidence.networks for variant in NETWORKS[name][1]]
    cache = Path(tempfile.gettempdir(), "inductor")

    def once(place: tuple[str, str, int]) -> tuple[str, str]:
        name, variant, number = place
        own = {"TORCHINDUCTOR_CACHE_DIR": f"{cache}-{name}-{variant}-{number}"} if variant in _COMPILED else {}
        done = evidence.run(["benchmarks/gpu_networks.py", name, variant], **own)
        last = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        name_of_alert = last[0].removeprefix("RuntimeError: ").partition(" does not have a deterministic")[0]
        return (done.stdout.strip(), "") if not done.returncode else ("", name_of_alert)

    times = {place: 3 if place[1] in _COMPILED else 5 for place in wanted}
    order = sorted(wanted, key=lambda place: place[1] not in _COMPILED)  # what takes longest begins first
    places = [(*place, number) for number in range(5) for place in order if number < times[place]]
    with ThreadPoolExecutor(8) as pool:
        seen = dict(zip(places, pool.map(once, places), strict=True))
    rows, plain = [], {}
    for name, variant in wanted:
        here = [seen[name, variant, number] for number in range(times[name, variant])]
        digests = [digest for digest, _ in here if digest]
        errors = sorted({error for _, error in here if error})
        if variant == "plain":
            plain[name] = set(digests)
        words = f"{len(set(digests))} different results in {len(digests)} runs" if len(set(digests)) > 1 else ""
        words = words or (f"one result in {len(digests)} runs" if digests else "no result")
        other = (
            "" if variant == "plain" or not digests else ("the same as" if plain[name] & set(digests) else "other than")
        )
        cells = (" ".join(NETWORKS[name][0]), name, VARIANTS[variant], words, other, "; ".join(errors))
        rows.append(evidence.row(*cells))
    evidence.write("gpu_networks.tsv", rows)
    return "\n".join(["\t".join(row.split("\t")[:6]) for row in rows])


def verified(evidence: Evidence) -> str:
    """`verify` on whole scripts."""
    texts = []
    for name, variant in _VERIFIED:
        arguments = ["-m", "torchrepro_lint", "verify", "--device", evidence.device, "--runs", "3", "--timeout", "120"]
        begun = time.monotonic()
        done = evidence.run([*arguments, "benchmarks/gpu_networks.py", "--", name, variant])
        texts.append(f"$ verify {name} {variant}: {done.returncode}, {time.monotonic() - begun:.0f} s")
        texts.append(done.stdout + done.stderr[-3000:])
    evidence.write("verify.txt", texts)
    return "\n".join(texts)


PARTS: tuple[Callable[[Evidence], str], ...] = (operations, claims, networks, verified)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("gpu_evidence"), help="where the results go")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda", help="cpu only tries the command")
    parser.add_argument("--minutes", type=float, default=8, help="the time for all of it (default: 8)")
    parser.add_argument("--runs", type=int, default=20, help="runs of each operation (default: 20)")
    parser.add_argument("--ops", nargs="*", default=[], metavar="WORD", help="only operations with one of these words")
    parser.add_argument(
        "--programs", nargs="*", default=[], metavar="WORD", help="only fixtures with one of these words"
    )
    parser.add_argument("--networks", nargs="*", choices=NETWORKS, metavar="NAME", help="only these trainings")
    parser.add_argument("--only", choices=[part.__name__ for part in PARTS], nargs="*", help="these parts alone")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    evidence = Evidence(options)
    print(*evidence.about, flush=True)
    begun = time.monotonic()

    def part(run: Callable[[Evidence], str]) -> None:
        words = run(evidence)
        print(f"\n== {run.__name__} ({time.monotonic() - begun:.0f} s)\n{words}", flush=True)

    with ThreadPoolExecutor(len(PARTS)) as pool:
        list(pool.map(part, [one for one in PARTS if not options.only or one.__name__ in options.only]))


if __name__ == "__main__":
    main()
