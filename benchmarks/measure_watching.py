#!/usr/bin/env python3
"""What watching a training costs: the ratio to the bare run, for each stage, on a small CNN and a small transformer.

    python benchmarks/measure_watching.py [--device cuda] [--rounds 5] [--steps 60]

Bare and watched runs are processes of the same shape, made in turns, so that a machine that is busy now and then is
busy for all alike. Each tells the time of its steps after a few to warm up: of the processor on a CPU, of the clock
with CUDA. The smallest of the rounds counts.
Stage 1 watches every step, as `verify` does at first. Stage 2 records every operation of the steps in its window, which
here are all of them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import torchrepro_lint
from torchrepro_lint.verify.script.entries import Header
from torchrepro_lint.verify.script.plan import Plan

PROGRAMS = ("cnn", "transformer")
BAR = 1.3  # times the bare run: what the first stage must stay below
CHILD = Path(torchrepro_lint.__file__).parent / "verify" / "script" / "child.py"
PROGRAM = """
import sys, time
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

kind, device, steps, warm = sys.argv[1], sys.argv[2], int(sys.argv[3]), 5
torch.manual_seed(0)
torch.set_num_threads(1)
# With one thread, on a CPU, the processor's own time: what else the machine does is not in it.
clock = time.perf_counter if device == "cuda" else time.process_time


class Transformer(nn.Module):
    def __init__(self, words=1000, width=128):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        return self.head(self.layers(self.embed(tokens))).flatten(0, 1)


if kind == "cnn":
    net = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 64, 128), nn.ReLU(), nn.Dropout(), nn.Linear(128, 10),
    )
    data = TensorDataset(torch.rand(512, 3, 32, 32), torch.randint(0, 10, (512,)))
else:
    net = Transformer()
    tokens = torch.randint(0, 1000, (512, 64))
    data = TensorDataset(tokens, tokens.roll(1, 1))
net.to(device)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
done, times = 0, []
while done < steps + warm:
    for inputs, targets in DataLoader(data, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(inputs.to(device)), targets.to(device).flatten())
        loss.backward()
        optimizer.step()
        done += 1
        if done == warm:
            if device == "cuda":
                torch.cuda.synchronize()
            start = clock()
        if done == steps + warm:
            break
if device == "cuda":
    torch.cuda.synchronize()
print((clock() - start) / steps)
"""


def seconds(script: Path, words: list[str], stage: int) -> float:
    """The seconds of one step in a fresh process; stage 0 is the bare program."""
    if stage == 0:
        command = [sys.executable, str(script), *words]
    else:
        record = script.with_name(f"stage-{stage}.jsonl")
        record.unlink(missing_ok=True)
        header = Header((str(script), *words), str(script.parent), stage)
        job = {"plan": asdict(Plan(str(record), stage)), "header": asdict(header), "trace": str(script) + ".trace"}
        command = [sys.executable, str(CHILD), json.dumps(job)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(ran.stdout.split()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what watching a training costs.")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--program", choices=PROGRAMS, help="one of them only")
    parser.add_argument("--stages", type=int, default=2, choices=[1, 2], help="1: the first only")
    options = parser.parse_args()
    stages = range(options.stages + 1)
    print("program      bare step" + "".join(f"  stage {stage}" for stage in stages[1:]))
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "program.py")
        script.write_text(PROGRAM, encoding="utf-8")
        for kind in PROGRAMS if options.program is None else (options.program,):
            words = [kind, options.device, str(options.steps)]
            best = [float("inf")] * len(stages)
            for _ in range(options.rounds):
                best = [min(best[stage], seconds(script, words, stage)) for stage in stages]
            ratios = [watched / best[0] for watched in best[1:]]
            told = "".join(f"  {ratio:5.2f}x" for ratio in ratios)
            print(f"{kind:12} {best[0] * 1000:6.2f} ms{told}", flush=True)
            missed |= ratios[0] >= BAR
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
