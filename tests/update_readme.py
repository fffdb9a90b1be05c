"""Writes what the commands of the README and the pages print into them: `python tests/update_readme.py`. Look at the diff
afterwards.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXAMPLE = re.compile(r"(```console\n\$ (torchrepro-lint [^\n|]*)\n)(.+?)```", re.DOTALL)


def printed(command: str) -> str:
    """The standard output of a command."""
    arguments = [sys.executable, "-m", "torchrepro_lint", *shlex.split(command)[1:]]
    return subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    for page in (ROOT / "README.md", *sorted((ROOT / "docs" / "pages").glob("*.md"))):
        text = page.read_text(encoding="utf-8")
        page.write_text(EXAMPLE.sub(lambda one: f"{one[1]}{printed(one[2])}```", text), encoding="utf-8")
