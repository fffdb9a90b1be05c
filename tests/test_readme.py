"""The README and the pages show what is printed: their examples are run, and the table is that of the rules."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.rules import all_rules

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "pages").glob("*.md"))}
# A block with output is one that has more than its command.
EXAMPLES = [
    example
    for text in (README, *PAGES.values())
    for example in re.findall(r"```console\n\$ (torchrepro-lint [^\n|]*)\n(.+?)```", text, re.DOTALL)
]


@pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_an_example_prints_what_the_readme_shows(command: str, output: str) -> None:
    arguments = shlex.split(command)[1:]
    ran = subprocess.run(
        [sys.executable, "-m", "torchrepro_lint", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode in (0, 1), ran.stderr
    assert ran.stdout == output


def test_there_are_examples_with_their_output() -> None:
    assert len(EXAMPLES) >= 3


def test_links_lead_to_pages_and_headings() -> None:
    headings = {re.sub(r"[^\w -]", "", one).lower().replace(" ", "-") for one in re.findall(r"^#+ (.+)$", README, re.M)}
    for page, anchor in re.findall(r"\]\((?:(docs/[\w./-]+)|#([\w-]+))\)", README):
        assert ROOT / page in PAGES if page else anchor in headings, page or anchor


def test_the_problem_matcher_reads_what_is_printed(tmp_path: Path) -> None:
    page = PAGES[ROOT / "docs" / "pages" / "editors.md"]
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.+?)```", page, re.DOTALL)]
    (task,) = next(block["tasks"] for block in blocks if "tasks" in block)
    command = [sys.executable, "-m", "torchrepro_lint", *shlex.split(task["command"])[1:]]
    folder = tmp_path / "bad_package"  # a project of its own, and not part of that of all fixtures
    shutil.copytree(ROOT / "fixtures" / "TRL101_numpy_rng_in_workers" / "bad_package", folder)
    (folder / "requirements.txt").write_text("torch>=1.7,<2\n", encoding="utf-8")
    ran = subprocess.run([*command, "."], cwd=folder, capture_output=True, text=True, check=False)
    pattern = task["problemMatcher"]["pattern"]
    lines = [re.match(pattern["regexp"], line) for line in ran.stdout.splitlines() if "TRL" in line]
    found = [[line[pattern[key]] for key in ("file", "line", "column", "code")] for line in lines if line]
    assert found == [["data/loaders.py", "9", "12", "TRL101"]]
    assert all(line and line[pattern["message"]][0].isalpha() for line in lines)
    cell = re.match(pattern["regexp"], "a b.ipynb:cell 3:2:5: TRL202 no generator")
    assert cell is not None and cell[pattern["file"]] == "a b.ipynb"


def test_the_table_names_every_rule() -> None:
    rows = re.findall(r"^\| (TRL\d+) \| `([\w-]+)` \|", README, re.MULTILINE)
    assert rows == [(rule.code, rule.name) for rule in (*all_rules(), *HOUSEKEEPING)]
