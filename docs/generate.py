"""The pages that are made when the site is built: nothing is written twice that the package says itself."""

from __future__ import annotations

import functools
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import torchrepro_lint
from torchrepro_lint.arguments import check_parser
from torchrepro_lint.arguments.parser import HelpFormatter
from torchrepro_lint.engine import check
from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.report.colours import Colours
from torchrepro_lint.report.rule_pages import sections, title
from torchrepro_lint.report.text import full
from torchrepro_lint.report.texts import Texts
from torchrepro_lint.rule_metadata import RuleMetadata
from torchrepro_lint.rules import all_rules

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = Path(torchrepro_lint.__file__).parent / "settings.schema.json"
EXAMPLE = ROOT / "tests" / "example_rules" / "torchrepro_lint_example" / "dropout.py"

FAMILIES = {
    "TRL1": "What DataLoader workers draw",
    "TRL2": "Order, splits, generators",
    "TRL3": "Backends and switches",
    "TRL4": "Operations",
    "TRL5": "Seeds",
    "TRL9": "Files and comments",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs: the pages are added to those on the disk."""
    rules = (*all_rules(), *HOUSEKEEPING)
    pages = {
        "index.md": (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/pages/", "]("),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        "command-line.md": command_line_page(),
        "settings.md": settings_page(json.loads(SCHEMA.read_text(encoding="utf-8"))),
        "settings.schema.json": SCHEMA.read_text(encoding="utf-8"),
        "rules/index.md": rules_page(rules),
        **{f"rules/{rule.code}.md": rule_page(rule) for rule in rules},
    }
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs: the example of a rule of another package is the one that the tests run."""
    code = EXAMPLE.read_text(encoding="utf-8").rstrip()
    return markdown.replace("<!-- the example rule -->", f"````python\n{code}\n````")


def rules_page(rules: tuple[RuleMetadata, ...]) -> str:
    """The list of all rules by family."""
    lines = ["# Rules", "", "Rules marked *strict* run with `--profile strict`, or when they are selected.", ""]
    for prefix, family in FAMILIES.items():
        lines += [f"## {prefix}xx: {family}", "", "| code | name | finds | severity | |", "|---|---|---|---|---|"]
        for rule in rules:
            if rule.code.startswith(prefix):
                strict = "*strict*" if rule.profile == "strict" else ""
                cells = [f"[{rule.code}]({rule.code}.md)", f"`{rule.name}`", title(rule), rule.severity.value, strict]
                lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def rule_page(rule: RuleMetadata) -> str:
    """The documentation of a rule, and behind its example what the tool prints on it."""
    on = "on by default" if rule.profile == "default" else "in the strict profile, or when it is selected"
    parts = [f"# {rule.code} {rule.name}", f"{title(rule)}. Severity: {rule.severity.value}; {on}."]
    for heading, body in sections(rule).items():
        parts += [f"## {heading}", linked(body)]
        if heading == "Example":
            printed = [text for code in re.findall(r"```python\n(.*?)```", body, re.DOTALL) for text in run(rule, code)]
            parts += ["It prints:", "```text\n" + "\n".join(printed).rstrip() + "\n```"] if printed else []
    return "\n\n".join(parts) + "\n"


def linked(body: str) -> str:
    """Bare addresses become links."""
    return re.sub(r"(?<![<(\w])(https?://[^\s)>]+)", r"<\1>", body)


def run(rule: RuleMetadata, code: str) -> Iterator[str]:
    """What is printed of a rule's findings in a program."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(os.path.realpath(folder)) / "example.py"
        path.write_text(code, encoding="utf-8")
        (path.parent / "pyproject.toml").touch()
        report = check([path], {"profile": "strict"})
        texts = Texts(folder=path.parent)
        for finding in report.findings:
            if finding.code == rule.code:
                yield full(finding, texts, Colours(False), report.may_fix(finding))


def command_line_page() -> str:
    """The options, as `--help` prints them."""
    parser = check_parser()
    parser.formatter_class = functools.partial(HelpFormatter, width=100)
    about = "This is what `torchrepro-lint --help` prints. The other commands have a `--help` of their own."
    return f"# Command line\n\n{about}\n\n```text\n{parser.format_help().rstrip()}\n```\n"


def settings_page(schema: dict[str, Any]) -> str:
    """Every setting: what it is, its type, its default."""
    parts = [
        "# Settings",
        "They stand in `[tool.torchrepro-lint]` of `pyproject.toml`, or in `torchrepro-lint.toml` or "
        "`.torchrepro-lint.toml` without the table's name. The nearest file at or above the top of a project counts. "
        "Editors can take them from [a JSON schema](settings.schema.json).",
    ]
    for name, setting in schema["properties"].items():
        parts += [f"## {name}", setting["description"], f"Type: {kind(setting)}."]
        if "default" in setting:
            parts.append(f"Default: `{json.dumps(setting['default'])}`")
    return "\n\n".join(parts) + "\n"


def kind(setting: dict[str, Any]) -> str:
    """The type of a setting in words."""
    if "enum" in setting:
        return " or ".join(f"`{json.dumps(value)}`" for value in setting["enum"])
    names = {"array": "a list of strings", "object": "a table of lists of strings", "integer": "an integer"}
    return names.get(setting["type"], f"a {setting['type']}")
