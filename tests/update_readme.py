"""Writes what the commands of the README print into it: `python tests/update_readme.py`. Look at the diff afterwards."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
EXAMPLE = re.compile(r"(```console\n\$ (torchrepro-lint [^\n]*)\n)(.+?)```", re.DOTALL)


def printed(command: str) -> str:
    """The standard output of a command of the README."""
    arguments = [sys.executable, "-m", "torchrepro_lint", *shlex.split(command)[1:]]
    return subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    README.write_text(EXAMPLE.sub(lambda one: f"{one[1]}{printed(one[2])}```", text), encoding="utf-8")
