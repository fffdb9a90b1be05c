"""The schema that is shipped for editors says what the settings are, and refuses what they refuse."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import torchrepro_lint
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.report.rule_pages import DOCUMENTATION
from torchrepro_lint.settings import Settings, load_settings

SCHEMA = json.loads((Path(torchrepro_lint.__file__).parent / "settings.schema.json").read_text(encoding="utf-8"))
PROPERTIES: dict[str, Any] = SCHEMA["properties"]
NAMES = {name.replace("-", "_") for name in Settings.names()}
FIELDS = {field.name.replace("_", "-"): field for field in fields(Settings) if field.name in NAMES}


def test_it_is_a_schema_with_every_setting_and_its_default() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == f"{DOCUMENTATION}/settings.schema.json"
    assert PROPERTIES.keys() == FIELDS.keys() | {"extend"}
    for key, field in FIELDS.items():
        default = {} if key == "per-file-ignores" else json.loads(json.dumps(field.default))
        assert PROPERTIES[key].get("default") == default, key
        assert PROPERTIES[key]["description"].endswith("."), key


@pytest.mark.parametrize("name", [name for name in PROPERTIES if name != "extend"])
def test_the_example_of_a_setting_is_taken(name: str, write) -> None:
    (example,) = PROPERTIES[name]["examples"]
    jsonschema.validate({name: example}, SCHEMA)
    assert example != PROPERTIES[name].get("default")
    if isinstance(example, dict):
        ((key, value),) = example.items()
        text = f"[{name}]\n{json.dumps(key)} = {json.dumps(value)}"
    else:
        text = f"{name} = {json.dumps(example)}"
    load_settings(write({"torchrepro-lint.toml": text}))


@pytest.mark.parametrize(
    ("settings", "toml"),
    [
        ({"select": ["TRL1"], "profile": "strict"}, 'select = ["TRL1"]\nprofile = "strict"'),
        ({"per-file-ignores": {"tests/": ["TRL5"]}}, '[per-file-ignores]\n"tests/" = ["TRL5"]'),
        ({"seed": 7, "unsafe-fixes": True, "src": ["lib"]}, 'seed = 7\nunsafe-fixes = true\nsrc = ["lib"]'),
        ({"intent": "seeded", "baseline": "known.json", "target-torch": "2.1"}, None),
    ],
)
def test_what_both_take(settings: dict[str, Any], toml: str | None, write) -> None:
    jsonschema.validate(settings, SCHEMA)
    text = toml or "\n".join(f"{key} = {json.dumps(value)}" for key, value in settings.items())
    load_settings(write({"torchrepro-lint.toml": text}))


@pytest.mark.parametrize(
    "settings",
    [
        {"selct": ["TRL1"]},
        {"select": "TRL1"},
        {"ignore": [1]},
        {"profile": "strct"},
        {"seed": -1},
        {"seed": 2**32},
        {"seed": True},
        {"cache": 1},
        {"intent": "none"},
        {"baseline": 1},
        {"base": "."},
    ],
)
def test_what_both_refuse(settings: dict[str, Any], write) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(settings, SCHEMA)
    text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in settings.items())
    with pytest.raises(TorchReproLintError):
        load_settings(write({"torchrepro-lint.toml": text}))
