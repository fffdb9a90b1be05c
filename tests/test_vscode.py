"""The extension for VS Code agrees with the package: version, settings, and how the server is started."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import torchrepro_lint

EXTENSION = Path(__file__).resolve().parents[1] / "editors" / "vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
READY = shutil.which("node") is not None and (EXTENSION / "node_modules" / "vscode-languageserver-protocol").is_dir()


def test_the_extension_has_the_version_of_the_package() -> None:
    assert MANIFEST["version"] == torchrepro_lint.__version__


def test_its_settings_are_those_that_the_code_reads() -> None:
    code = (EXTENSION / "extension.js").read_text(encoding="utf-8")
    for name in MANIFEST["contributes"]["configuration"]["properties"]:
        assert f'get("{name.removeprefix("torchrepro-lint.")}")' in code
    for command in MANIFEST["contributes"]["commands"]:
        assert f'"{command["command"]}"' in code


@pytest.mark.skipif(not READY, reason="npm install was not run in editors/vscode")
def test_the_server_answers_the_client_library_of_vs_code() -> None:
    command = json.dumps([sys.executable, "-m", "torchrepro_lint"])
    environment = {**os.environ, "TORCHREPRO_LINT_COMMAND": command}
    ran = subprocess.run(["npm", "test"], cwd=EXTENSION, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
