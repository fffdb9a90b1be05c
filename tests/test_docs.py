"""The site is built from what the package says of itself; the snippets for CI hold against the schemas of their hosts."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.report.rule_pages import DOCUMENTATION, rule_url
from torchrepro_lint.rules import all_rules

ROOT = Path(__file__).resolve().parents[1]
CI_PAGE = (ROOT / "docs" / "pages" / "ci.md").read_text(encoding="utf-8")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. Warnings, such as links that lead nowhere, are errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", "docs/mkdocs.yml", "-d", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return folder


def test_every_finding_links_to_a_page(site: Path) -> None:
    for rule in (*all_rules(), *HOUSEKEEPING):
        address = rule_url(rule.code)
        assert address is not None
        assert address.startswith(DOCUMENTATION + "/")
        page = site / address[len(DOCUMENTATION) + 1 :] / "index.html"
        assert f"{rule.code} {rule.name}" in page.read_text(encoding="utf-8")


def test_a_rule_shows_what_is_printed_on_its_example(site: Path) -> None:
    text = re.sub(r"<[^>]+>", "", (site / "rules" / "TRL104" / "index.html").read_text(encoding="utf-8"))
    assert "It prints:" in text
    assert re.search(r"example\.py:\d+:\d+: TRL104", text)


def test_no_list_is_part_of_a_paragraph(site: Path) -> None:
    for page in site.rglob("index.html"):
        paragraphs = re.findall(r"<p>(.*?)</p>", page.read_text(encoding="utf-8"), re.DOTALL)
        assert [text for text in paragraphs if re.search(r"^[-*] ", text, re.MULTILINE)] == [], page


def test_a_rule_page_says_its_profile_severity_and_fix_and_leads_to_its_neighbours(site: Path) -> None:
    page = (site / "rules" / "TRL208" / "index.html").read_text(encoding="utf-8")
    cells = re.findall(r"<td>(.*?)</td>", page)[:3]
    assert cells == ["on by default", "warning", "unsafe"]
    footer = page[page.index("md-footer") :]
    assert "TRL207 unsorted-directory-listing" in footer
    assert "TRL209 split-without-random-state" in footer
    for rule in (*all_rules(), *HOUSEKEEPING):
        assert f'href="../{rule.code}/"' in page or rule.code == "TRL208", rule.code


def test_each_command_shows_its_help(site: Path) -> None:
    page = html.unescape((site / "command-line" / "index.html").read_text(encoding="utf-8"))
    for command in (
        *("rule", "explain", "verify", "verify compare", "repair"),
        *("report", "skill", "server", "clean", "completion"),
    ):
        assert f"usage: torchrepro-lint {command}" in page, command
    shown = re.findall(r"<code>(usage: .*?)</code>", page, re.DOTALL)
    assert [line for text in shown for line in re.sub(r"<[^>]+>", "", text).splitlines() if len(line) > 80] == []


def test_each_setting_has_an_example(site: Path) -> None:
    page = (site / "settings" / "index.html").read_text(encoding="utf-8")
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    assert 'cache-dir = ".cache/torchrepro-lint"' in text
    assert "Option: --min-severity." in text


def test_the_index_for_language_models_names_pages_that_are_there(site: Path) -> None:
    text = (site / "llms.txt").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([^)]+)\)", text)
    assert len(linked) > 50
    for address in linked:
        assert address.startswith(DOCUMENTATION), address
        assert (site / address[len(DOCUMENTATION) + 1 :] / "index.html").is_file(), address


def test_the_pages_on_limits_and_speed_name_the_same_times() -> None:
    """A time of a large project stands on one page."""
    limits = (ROOT / "docs" / "pages" / "limits.md").read_text(encoding="utf-8")
    assert not re.findall(r"(?:transformers|MONAI|timm|torch 2\.13).{0,60}seconds", limits)


def test_the_settings_and_their_schema_are_there(site: Path) -> None:
    assert "per-file-ignores" in (site / "settings" / "index.html").read_text(encoding="utf-8")
    assert json.loads((site / "settings.schema.json").read_text(encoding="utf-8"))["$id"].startswith(DOCUMENTATION)


def test_the_options_are_there(site: Path) -> None:
    text = (site / "command-line" / "index.html").read_text(encoding="utf-8")
    for option in ("--extend-select", "--add-noqa[=REASON]", "torchrepro-lint report [PATH]", "--resume-first"):
        assert option in text
    assert "generate.py" not in text  # the program is called by its name, whoever asks


def test_the_example_of_an_own_rule_is_the_one_that_is_tested(site: Path) -> None:
    text = (site / "own-rules" / "index.html").read_text(encoding="utf-8")
    assert "DropoutAlwaysOn" in text
    assert "the example rule -->" not in text


def test_the_site_asks_nobody_else(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    loaded = re.findall(r'<(?:script|img|link)[^>]+(?:src|href)="(https?://[^"]+)"', page)
    assert [one for one in loaded if not one.startswith(DOCUMENTATION)] == []


# CI


def snippets(heading: str) -> list[Any]:
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", CI_PAGE, re.DOTALL | re.MULTILINE)
    assert section is not None
    return [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", section[1], re.DOTALL)]


def valid(schema: str, document: Any, folder: Path) -> None:
    path = folder / "document.yml"
    # PyYAML reads the key `on` as true.
    path.write_text(json.dumps({"on" if key is True else key: value for key, value in document.items()}))
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_snippets_hold_against_the_schemas_of_their_hosts(tmp_path: Path) -> None:
    workflows = snippets("GitHub Actions")
    assert len(workflows) == 2
    for workflow in workflows:
        valid("vendor.github-workflows", workflow, tmp_path)
        (used,) = [step for step in workflow["jobs"]["lint"]["steps"] if "torchrepro-lint@" in step.get("uses", "")]
        assert used["with"].keys() <= ACTION["inputs"].keys()
    for job in snippets("GitLab"):
        valid("vendor.gitlab-ci", job, tmp_path)
    valid("vendor.github-actions", ACTION, tmp_path)


@pytest.mark.parametrize(
    ("args", "output", "status", "printed"),
    [
        ("a.py", "", 1, "::error title=torchrepro-lint (TRL305),file=a.py,line=2"),
        (". --ignore TRL3", "", 0, ""),
        ("--exit-zero --output-format sarif a.py", "out.sarif", 0, ""),
        ("$(touch gone) *.py", "", 2, ""),
    ],
)
def test_the_steps_of_the_action_run(write, args: str, output: str, status: int, printed: str) -> None:
    root = write({"pyproject.toml": "", "a.py": "import torch\ntorch.manual_seed\n"})
    command = root / "temp" / "torchrepro-lint" / "bin" / "torchrepro-lint"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m torchrepro_lint "$@"\n')
    command.chmod(0o755)
    check = ACTION["runs"]["steps"][-1]
    assert check["env"] == {"ARGS": "${{ inputs.args }}", "OUTPUT": "${{ inputs.output-file }}"}
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "RUNNER_TEMP": str(root / "temp"),
        "ARGS": args,
        "OUTPUT": output,
    }
    # As the runner starts a step whose shell is bash.
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", check["run"]]
    ran = subprocess.run(shell, cwd=root, env=environment, capture_output=True, text=True)
    assert ran.returncode == status, ran.stderr
    assert printed in ran.stdout
    assert not (root / "gone").exists()
    if output:
        assert json.loads((root / output).read_text())["version"] == "2.1.0"
