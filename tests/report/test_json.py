from __future__ import annotations

import json
from pathlib import Path

from report_examples import SAFE, UNSAFE, at, finding, report, texts

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.housekeeping import HOUSEKEEPING
from torchrepro_lint.report.next_steps import BY_HAND, next_step
from torchrepro_lint.rules import all_rules


def test_json_has_the_fields_of_ruff() -> None:
    (one,) = json.loads(report("json", [finding(SAFE)]))
    assert one == {
        "cell": None,
        "code": "TRL101",
        "name": "a-name",
        "message": "workers repeat",
        "severity": "error",
        "filename": "/project/src/train.py",
        "location": {"row": 5, "column": 14},
        "end_location": {"row": 5, "column": 43},
        "noqa_row": 5,
        "action": "Run `torchrepro-lint --fix src/train.py`. insert seed_worker.",
        "url": "https://torchrepro-lint.github.io/torchrepro-lint/rules/TRL101/",
        "fix": {
            "applicability": "safe",
            "message": "insert seed_worker",
            "unsafe_because": None,
            "edits": [
                {
                    "cell": None,
                    "content": "\n\n",
                    "location": {"row": 2, "column": 1},
                    "end_location": {"row": 3, "column": 1},
                    "filename": "/project/src/train.py",
                }
            ],
        },
        "fix_declined": None,
        "trace": [
            {
                "cell": None,
                "filename": "/project/src/train.py",
                "location": {"row": 4, "column": 10},
                "end_location": {"row": 4, "column": 11},
                "message": "the dataset is Data",
            },
            {
                "cell": None,
                "filename": "/project/src/data.py",
                "location": {"row": 2, "column": 1},
                "end_location": {"row": 2, "column": 2},
                "message": "its __getitem__ draws",
            },
        ],
    }
    assert json.loads(report("json", [])) == []
    assert json.loads(report("json", [finding()]))[0]["fix"] is None


def test_json_says_what_to_do_about_each_finding() -> None:
    def action(one: Finding) -> str:
        return str(json.loads(report("json", [one]))[0]["action"])

    assert action(finding(UNSAFE)).startswith("Run `torchrepro-lint --fix --unsafe-fixes src/train.py`, and review")
    assert action(finding()) == BY_HAND["TRL101"]
    assert next_step(finding(SAFE), lambda _: True, texts(), profile="strict").startswith(
        "Run `torchrepro-lint --fix --profile strict src/train.py`."
    )
    foreign = Finding("TRL801", "n", "m", Severity.WARNING, at(Path("/project/a.py"), 1, 1))
    assert action(foreign) == "Run `torchrepro-lint rule TRL801`, and change the code by hand."


def test_each_rule_says_what_to_change_by_hand() -> None:
    assert list(BY_HAND) == [rule.code for rule in sorted((*all_rules(), *HOUSEKEEPING), key=lambda one: one.code)]


def test_json_is_ascii_so_that_any_terminal_can_carry_it() -> None:
    odd = Finding("TRL101", "n", "é\udcff", Severity.WARNING, at(Path("/a\udcff.py"), 1, 1))
    text = report("json", [odd])
    assert text.isascii()
    assert json.loads(text)[0]["severity"] == "warning"


def test_json_lines_are_the_objects_of_json() -> None:
    findings = [finding(SAFE), finding()]
    lines = report("json-lines", findings).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(report("json", findings))
    assert report("json-lines", []) == ""
