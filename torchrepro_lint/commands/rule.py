"""`torchrepro-lint rule [CODE]`: the documentation of a rule, which stands at the head of its module."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.engine import Toolkit
from torchrepro_lint.report.rule_pages import documentation
from torchrepro_lint.selection import UNREADABLE_CODE, UNREADABLE_NAME, RuleLike
from torchrepro_lint.settings import did_you_mean

__all__ = ["find_rule", "rule"]

_UNREADABLE = """\
A file that should be checked cannot be read as Python: it has a syntax error, its bytes are not in its encoding, it
is nested too deeply, or the system refuses to open it. It is left alone, and the other files are checked.
Only files that could hold a finding are read so far."""


def rule(arguments: Sequence[str], toolkit: Toolkit | None = None) -> int:
    """Print what the rule is about that `arguments` name, or one line for each rule. Exit status 0.

    TorchReproLintError where there is no such rule.
    """
    parser = argparse.ArgumentParser(prog="torchrepro-lint rule", description="Say what a rule is about.")
    parser.add_argument("code", nargs="?", metavar="CODE", help="a code or a name; all rules are listed without it")
    code: str | None = parser.parse_args(arguments).code
    rules = (toolkit or Toolkit()).sorted_rules()
    if code is None:
        width = max((len(one.name) for one in rules), default=0)
        for one in rules:
            strict = " (strict)" if one.profile == "strict" else ""
            print(f"{one.code} {one.name:{width}} {one.summary}{strict}")
        return 0
    found = find_rule(code, rules)
    if found is None:
        print(f"{UNREADABLE_CODE} {UNREADABLE_NAME}: error\n\n{_UNREADABLE}")
        return 0
    print(f"{found.code} {found.name}: {found.severity.value}, {found.profile} profile\n\n{documentation(found)}")
    return 0


def find_rule(code: str, rules: Sequence[RuleLike]) -> RuleLike | None:
    """The rule with this code or name; None for that of unreadable files, where no rule speaks of them.

    TorchReproLintError where there is none.
    """
    for one in rules:
        if code.upper() == one.code or code.lower() == one.name:
            return one
    if code.upper() == UNREADABLE_CODE or code.lower() == UNREADABLE_NAME:
        return None
    known = [one.name for one in rules] if "-" in code else [one.code for one in rules]
    near = did_you_mean(code.lower() if "-" in code else code.upper(), known)
    raise TorchReproLintError(f'unknown rule "{code}"{near}')
