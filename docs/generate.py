"""The pages that are made when the site is built: nothing is written twice that the package says itself."""

from __future__ import annotations

import contextlib
import io
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
from torchrepro_lint.arguments import COMMANDS, check_parser
from torchrepro_lint.cli import main
from torchrepro_lint.commands.skill import skill_text
from torchrepro_lint.engine import check
from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.report.colours import Colours
from torchrepro_lint.report.rule_pages import fixability, rule_url, sections, title
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


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Called by mkdocs: each rule's page is in the navigation, below its family."""
    pages: list[Any] = ["rules/index.md"]
    for prefix, family in FAMILIES.items():
        own = [
            {f"{rule.code} {rule.name}": f"rules/{rule.code}.md"} for rule in every_rule() if rule.code[:4] == prefix
        ]
        pages.append({f"{prefix}: {family}": own})
    assert config.nav is not None
    config.nav = [{"Rules": pages} if entry == {"Rules": "rules/index.md"} else entry for entry in config.nav]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs: the pages are added to those on the disk."""
    pages = {
        "index.md": (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/pages/", "]("),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        "command-line.md": command_line_page(),
        "settings.md": settings_page(json.loads(SCHEMA.read_text(encoding="utf-8"))),
        "settings.schema.json": SCHEMA.read_text(encoding="utf-8"),
        "llms.txt": llms_text(config),
        "rules/index.md": rules_page(every_rule()),
        **{f"rules/{rule.code}.md": rule_page(rule) for rule in every_rule()},
    }
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def every_rule() -> tuple[RuleMetadata, ...]:
    """The rules in the order of their codes."""
    return (*all_rules(), *HOUSEKEEPING)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs: the example of a rule of another package is the one that the tests run, and the skill file is
    the one that the command writes.
    """
    code = EXAMPLE.read_text(encoding="utf-8").rstrip()
    markdown = markdown.replace("<!-- the example rule -->", f"````python\n{code}\n````")
    return lists_apart(markdown.replace("<!-- the skill file -->", f"````text\n{skill_text().rstrip()}\n````"))


_FENCED = re.compile(r"^(`{3,}.*?^`{3,}[ \t]*$)", re.MULTILINE | re.DOTALL)
# The first item of a list, right below a line of text.
_ABOVE_A_LIST = re.compile(r"^(?!- )(\S.*)\n(?=- )", re.MULTILINE)


def lists_apart(markdown: str) -> str:
    """The text with an empty line above each list: without one, Python-Markdown takes a list below a line of text to be
    part of the paragraph, where other dialects do not. Blocks of code stay as they are.
    """
    parts = _FENCED.split(markdown)
    return "".join(part if number % 2 else _ABOVE_A_LIST.sub(r"\1\n\n", part) for number, part in enumerate(parts))


def llms_text(config: MkDocsConfig) -> str:
    """The index for language models: what the tool is, and each page with its address and what it is about."""
    lines = [
        f"# {config.site_name}",
        "",
        "> A linter that finds, proves and fixes what makes PyTorch training irreproducible. It needs no torch and no "
        "GPU.",
        "",
        "Run `torchrepro-lint --output-format json .`, and do what the field `action` of each finding says. "
        "`torchrepro-lint skill` prints a skill file for coding agents.",
        "",
        "## Pages",
        "",
        *(f"- [{name}]({config.site_url}{address(page)})" for name, page in pages_of(config.nav or [])),
        "",
        "## Rules",
        "",
        *(f"- [{rule.code} {rule.name}]({rule_url(rule.code)}): {title(rule)}" for rule in every_rule()),
    ]
    return "\n".join(lines) + "\n"


def pages_of(nav: list[Any]) -> Iterator[tuple[str, str]]:
    """The names and files of the pages in the navigation, without those of single rules."""
    for entry in nav:
        for name, below in entry.items() if isinstance(entry, dict) else ():
            if isinstance(below, list):
                yield from () if name == "Rules" else pages_of(below)
            else:
                yield name, below


def address(page: str) -> str:
    """The address of a page below that of the site."""
    return "" if page == "index.md" else page.removesuffix(".md") + "/"


def rules_page(rules: tuple[RuleMetadata, ...]) -> str:
    """The list of all rules by family."""
    lines = ["# Rules", "", "Rules marked *strict* run with `--profile strict`, or when they are selected.", ""]
    for prefix, family in FAMILIES.items():
        lines += [f"## {prefix}xx: {family}", "", "| rule | finds | severity | fix | |", "|---|---|---|---|---|"]
        for rule in rules:
            if rule.code.startswith(prefix):
                strict = "*strict*" if rule.profile == "strict" else ""
                cells = [
                    f"[{rule.code}]({rule.code}.md) {rule.name}",
                    title(rule),
                    rule.severity.value,
                    fixability(rule),
                    strict,
                ]
                lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def rule_page(rule: RuleMetadata) -> str:
    """The documentation of a rule, and behind its example what the tool prints on it."""
    on = "on by default" if rule.profile == "default" else "`strict`, or selected by code"
    facts = "| profile | severity | fix |\n|---|---|---|\n" + f"| {on} | {rule.severity.value} | {fixability(rule)} |"
    parts = [f"# {rule.code} {rule.name}", f"{title(rule)}.", facts]
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
    """The help of each command, as it is printed in a terminal of 80 columns."""
    os.environ["COLUMNS"] = "80"
    parts = ["# Command line", "Each section shows what `--help` prints.", "## torchrepro-lint", fenced(help_text([]))]
    for name, (_, about) in COMMANDS.items():
        parts += [f"## {name}", f"{about[0].upper()}{about[1:]}.", fenced(help_text([name]))]
    parts += ["### verify compare", fenced(help_text(["verify", "compare"]))]
    parts += ["### verify --ops", fenced(help_text(["verify", "--ops"]))]
    return "\n\n".join(parts) + "\n"


def fenced(text: str) -> str:
    """A block of plain text."""
    return f"```text\n{text.rstrip()}\n```"


def help_text(command: list[str]) -> str:
    """What a command prints of itself."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main([*command, "--help"])
    return printed.getvalue()


def settings_page(schema: dict[str, Any]) -> str:
    """Every setting: what it is, its type, its default, an example."""
    options = check_parser()._option_string_actions
    parts = [
        "# Settings",
        "Settings stand in `[tool.torchrepro-lint]` of `pyproject.toml`. In `torchrepro-lint.toml` and "
        "`.torchrepro-lint.toml` they stand without the table's name. The nearest file at or above the top of a "
        "project counts. Options on the command line take precedence.",
        "`torchrepro-lint --show-settings` prints the settings in effect and their file. Editors can use "
        "[the JSON schema](settings.schema.json).",
        "```toml\n[tool.torchrepro-lint]\n" + "\n".join(
            f"{name} = {json.dumps(setting['examples'][0])}"
            for name, setting in schema["properties"].items()
            if name in ("target-torch", "min-severity", "extend-exclude", "baseline")
        ) + '\n\n[tool.torchrepro-lint.per-file-ignores]\n"tests/" = ["TRL5"]\n```',
        "[What findings depend on](what-findings-depend-on.md) explains `target-torch`, `intent` and where a project "
        "begins.",
    ]  # fmt: skip
    for name, setting in schema["properties"].items():
        parts += [f"## {name}", setting["description"]]
        facts = [f"Type: {kind(setting)}."]
        if "default" in setting:
            long = name == "exclude"
            facts.append("Default: see below." if long else f"Default: `{json.dumps(setting['default'])}`.")
        if f"--{name}" in options:
            facts.append(f"Option: `--{name}`.")
        parts += [" ".join(facts), as_toml(name, setting["examples"][0])]
        if name == "exclude":
            parts.append("Default: " + ", ".join(f"`{one}`" for one in setting["default"]) + ".")
    return "\n\n".join(parts) + "\n"


def as_toml(name: str, value: Any) -> str:
    """A setting with a value, as it stands in `pyproject.toml`."""
    if isinstance(value, dict):
        lines = [
            f"[tool.torchrepro-lint.{name}]",
            *(f"{json.dumps(key)} = {json.dumps(own)}" for key, own in value.items()),
        ]
    else:
        lines = ["[tool.torchrepro-lint]", f"{name} = {json.dumps(value)}"]
    return "```toml\n" + "\n".join(lines) + "\n```"


def kind(setting: dict[str, Any]) -> str:
    """The type of a setting in words."""
    if "enum" in setting:
        return " or ".join(f"`{json.dumps(value)}`" for value in setting["enum"])
    names = {"array": "a list of strings", "object": "a table of lists of strings", "integer": "an integer"}
    return names.get(setting["type"], f"a {setting['type']}")
