"""Each format against what reads it: its schema, or a program that is written for it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from junitparser import Error, Failure, JUnitXml
from report_examples import OTHER, PATH, SAFE, TEXT, at, finding, report
from sarif.loader import load_sarif_file
from sarif_pydantic import Sarif

from torchrepro_lint.diagnostics import Applicability, Edit, Finding, Fix, Severity

ODD = Finding(
    "TRL201", "odd", "50% of a,b:c\nand <&> \x1b[0m", Severity.WARNING, at(Path("/elsewhere/a b,c:é.py"), 1, 1)
)
TWO_FILES = Fix(Applicability.UNSAFE, "mend both", (Edit(PATH, 0, 0, "import a\n"), Edit(OTHER, 0, 6, "use")))


# SARIF


def sarif(findings: list[Finding], errors: tuple[str, ...] = ()) -> dict:
    document = json.loads(report("sarif", findings, errors=errors))
    # The model was made from the schema. What it does not know it drops, so that nothing is misspelt if all is left.
    model = Sarif.model_validate(document)
    assert json.loads(model.model_dump_json(by_alias=True, exclude_unset=True)) == document
    return document["runs"][0]


def test_sarif_says_what_was_found_where_and_why() -> None:
    run = sarif([finding(SAFE)])
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("TRL101", "error")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/train.py", "uriBaseId": "%SRCROOT%"}
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == "file:///project/"
    assert place["region"] == {"startLine": 5, "startColumn": 14, "endLine": 5, "endColumn": 43}
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in steps] == ["the dataset is Data", "its __getitem__ draws"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == "TRL101"
    assert rule["help"]["markdown"].startswith("# TRL101 a-name")
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_sarif_carries_the_fix_over_all_its_files() -> None:
    (result,) = sarif([finding(TWO_FILES)])["results"]
    changes = result["fixes"][0]["artifactChanges"]
    assert [change["artifactLocation"]["uri"] for change in changes] == ["src/data.py", "src/train.py"]
    (replacement,) = changes[0]["replacements"]
    assert replacement["insertedContent"]["text"] == "use"
    assert replacement["deletedRegion"] == {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 7}


def test_sarif_of_a_run_that_failed_and_of_odd_names() -> None:
    run = sarif([ODD], ("internal error: x",))
    assert run["invocations"][0]["executionSuccessful"] is False
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert "uriBaseId" not in artifact
    assert unquote(artifact["uri"]) == "file:///elsewhere/a b,c:é.py"
    assert sarif([])["results"] == []


def test_a_fingerprint_stays_when_lines_come_above_and_tells_equal_findings_apart() -> None:
    def numbers(text: str, *findings: Finding) -> list[str]:
        results = json.loads(report("sarif", findings, text))["runs"][0]["results"]
        return [result["partialFingerprints"]["context/v1"] for result in results]

    moved = Finding("TRL101", "a-name", "workers repeat", Severity.ERROR, at(PATH, 7, 14, 43))
    first, second = numbers(TEXT, finding(), finding())
    assert first != second
    assert numbers("# one\n# two\n" + TEXT, moved) == [first]
    assert numbers(TEXT.replace("main", "other"), finding()) != [first]


def test_sarif_is_read_by_sarif_tools(tmp_path: Path) -> None:
    path = tmp_path / "report.sarif"
    path.write_text(report("sarif", [finding(SAFE), ODD]), encoding="utf-8")
    records = load_sarif_file(str(path)).get_records()
    assert sorted((record["Severity"], record["Code"], record["Location"], record["Line"]) for record in records) == [
        ("error", "TRL101", "src/train.py", 5),
        ("warning", "TRL201", "file:///elsewhere/a%20b%2Cc%3A%C3%A9.py", 1),
    ]


# GitHub: as https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs reads a line.

_COMMAND = re.compile(r"::(?P<command>\w+) (?P<properties>[^:]*)::(?P<data>.*)")


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    read = []
    for line in text.splitlines():
        match = _COMMAND.fullmatch(line)
        assert match is not None
        properties = dict(one.split("=", 1) for one in match["properties"].split(","))
        read.append(
            (match["command"], {key: unquote(value) for key, value in properties.items()}, unquote(match["data"]))
        )
    return read


def test_github_shows_a_finding_beside_its_code() -> None:
    ((command, properties, data),) = commands(report("github", [finding()]))
    assert command == "error"
    assert properties == {
        "title": "torchrepro-lint (TRL101)",
        "file": "src/train.py",
        "line": "5",
        "col": "14",
        "endLine": "5",
        "endColumn": "43",
    }
    assert data.splitlines()[0] == "src/train.py:5:14: TRL101 workers repeat"
    assert "  src/data.py:2:1: its __getitem__ draws" in data


def test_github_odd_texts_stay_on_their_line() -> None:
    ((command, properties, data), (failed, _, said)) = commands(report("github", [ODD], errors=["internal: error"]))
    assert (command, failed, said) == ("warning", "error", "internal: error")
    assert properties["file"] == "/elsewhere/a b,c:é.py"
    assert "50% of a,b:c\nand" in data


def test_ci_servers_count_paths_from_the_top_of_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    # The texts of these findings are named from /project: a job that has gone into a folder of the repository.
    monkeypatch.setenv("GITHUB_WORKSPACE", "/")
    monkeypatch.setenv("CI_PROJECT_DIR", "/project/src")
    ((_, properties, _),) = commands(report("github", [finding()]))
    assert properties["file"] == "project/src/train.py"
    (issue,) = json.loads(report("gitlab", [finding()]))
    assert issue["location"]["path"] == "train.py"


# GitLab


def test_gitlab_has_the_fields_that_its_documentation_asks_for() -> None:
    issues = json.loads(report("gitlab", [finding(), finding(), ODD]))
    for issue in issues:
        assert issue.keys() == {"check_name", "description", "fingerprint", "severity", "location"}
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert isinstance(issue["location"]["path"], str)
        assert issue["location"]["positions"]["begin"]["line"] >= 1
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    assert issues[0]["location"]["path"] == "src/train.py"
    assert json.loads(report("gitlab", [])) == []


# JUnit


def test_junit_is_read_by_junitparser() -> None:
    text = report("junit", [finding(), finding(), ODD], errors=["internal error: x"])
    read = JUnitXml.fromstring(text.encode())
    assert (read.tests, read.failures, read.errors) == (4, 3, 1)
    suites = list(read)
    assert [(suite.name, suite.tests, suite.failures) for suite in suites] == [
        ("src/train.py", 2, 2),
        ("/elsewhere/a b,c:é.py", 1, 1),
        ("torchrepro-lint", 1, 0),
    ]
    case = next(iter(suites[0]))
    assert isinstance(case.result[0], Failure)
    assert case.result[0].message == "workers repeat"
    assert "src/data.py:2:1: its __getitem__ draws" in case.result[0].text
    assert isinstance(next(iter(suites[2])).result[0], Error)


def test_junit_of_nothing_is_a_test_that_passed() -> None:
    read = JUnitXml.fromstring(report("junit", []).encode())
    assert (read.tests, read.failures, read.errors) == (1, 0, 0)


# rdjson


def test_rdjson_has_the_fields_of_its_protocol() -> None:
    document = json.loads(report("rdjson", [finding(SAFE)]))
    assert document["source"]["name"] == "torchrepro-lint"
    (diagnostic,) = document["diagnostics"]
    assert diagnostic["severity"] == "ERROR"
    assert diagnostic["code"]["value"] == "TRL101"
    assert diagnostic["location"] == {
        "path": "src/train.py",
        "range": {"start": {"line": 5, "column": 14}, "end": {"line": 5, "column": 43}},
    }
    assert diagnostic["suggestions"] == [
        {"range": {"start": {"line": 2, "column": 1}, "end": {"line": 3, "column": 1}}, "text": "\n\n"}
    ]
    assert [one["message"] for one in diagnostic["relatedLocations"]] == [
        "the dataset is Data",
        "its __getitem__ draws",
    ]


def test_rdjson_counts_bytes() -> None:
    one = Finding("TRL101", "n", "m", Severity.ERROR, at(PATH, 1, 6, 9))
    (diagnostic,) = json.loads(report("rdjson", [one], "x='é中'\n"))["diagnostics"]
    assert diagnostic["location"]["range"] == {"start": {"line": 1, "column": 9}, "end": {"line": 1, "column": 10}}


def test_rdjson_makes_one_suggestion_of_one_fix() -> None:
    edits = (Edit(PATH, 0, 0, "import b\n"), Edit(PATH, 18, 22, "renamed"))
    (diagnostic,) = json.loads(report("rdjson", [finding(Fix(Applicability.SAFE, "mend", edits))]))["diagnostics"]
    (suggestion,) = diagnostic["suggestions"]
    assert suggestion["text"] == "import b\nimport torch\n\ndef renamed"
    assert suggestion["range"] == {"start": {"line": 1, "column": 1}, "end": {"line": 3, "column": 9}}
    (other,) = json.loads(report("rdjson", [finding(TWO_FILES)]))["diagnostics"]
    assert "suggestions" not in other


# All of them


@pytest.mark.parametrize("name", ["sarif", "gitlab", "json", "json-lines", "rdjson"])
def test_json_is_ascii_so_that_any_terminal_can_carry_it(name) -> None:
    odd = Finding("TRL101", "n", "é\udcff", Severity.WARNING, at(Path("/a\udcff.py"), 1, 1))
    assert report(name, [odd]).isascii()


def test_every_format_can_be_written_to_a_narrow_stream() -> None:
    from torchrepro_lint.report.formats import FORMATS

    odd = Finding("TRL101", "n", "é\udcff", Severity.WARNING, at(Path("/a\udcff.py"), 1, 1))
    for name in FORMATS:
        io.TextIOWrapper(io.BytesIO(), "ascii", errors="backslashreplace").write(report(name, [odd, ODD]))
