from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from torchrepro_lint.arguments import COMMANDS, check_parser
from torchrepro_lint.cli import main
from torchrepro_lint.commands.skill import skill, skill_text
from torchrepro_lint.rules import all_rules
from torchrepro_lint.verify.cli import _parser as verify_parser
from torchrepro_lint.verify.repair.cli import parser_of_repair


def test_it_is_printed_or_written_with_its_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["skill"]) == 0
    assert capsys.readouterr().out == skill_text()
    target = tmp_path / ".agent" / "skills" / "SKILL.md"
    assert skill(["-o", str(target)]) == 0
    assert target.read_text(encoding="utf-8") == skill_text()
    assert main(["skill", "-o", str(target / "below" / "x.md")]) == 2


def test_its_header_says_when_to_use_it() -> None:
    _, header, body = skill_text().split("---\n", 2)
    fields = yaml.safe_load(header)
    assert fields["name"] == "torchrepro-lint"
    assert "Use it" in fields["description"]
    assert body.count("\n") < 80


def test_it_names_only_what_is_there() -> None:
    text = skill_text()
    parsers = (check_parser(), verify_parser(), parser_of_repair())
    known = {option for parser in parsers for option in parser._option_string_actions}
    assert set(re.findall(r"(?<![\w-])--[a-z][\w-]+", text)) <= known
    assert set(re.findall(r"`torchrepro-lint ([a-z]+)", text)) <= COMMANDS.keys()
    assert set(re.findall(r"TRL\d{3}", text)) <= {rule.code for rule in all_rules()}
