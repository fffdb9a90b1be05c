from __future__ import annotations

import shutil
import subprocess

import pytest

from torchrepro_lint.commands.completion import SHELLS, completion
from torchrepro_lint.diagnostics import TorchReproLintError


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_for_each_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert completion([shell]) == 0
    assert "unsafe-fixes" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--unsa"], "--unsafe-fixes"),
        (["--profile", "st"], "strict"),
        (["veri"], "verify"),
        (["repa"], "repair"),
        (["fil"], "file.py"),
        (["--config", "fi"], "file.py"),
        (["--select", "TRL30"], "TRL301"),
        (["--ignore", "numpy-"], "numpy-rng-in-workers"),
    ],
)
def test_bash_completes(words: list[str], expected: str, capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    completion(["bash"])
    (tmp_path / "file.py").touch()
    listed = " ".join(f"'{word}'" for word in ["torchrepro-lint", *words])
    script = capsys.readouterr().out + (
        f'\nCOMP_WORDS=({listed}); COMP_CWORD={len(words)}; COMP_LINE="${{COMP_WORDS[*]}}"; COMP_POINT=${{#COMP_LINE}}\n'
        '_shtab_torchrepro_lint torchrepro-lint "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"\n'
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert expected in ran.stdout.split(), ran.stderr


def test_an_unknown_shell_and_a_missing_library(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as ended:
        completion(["csh"])
    assert ended.value.code == 2
    monkeypatch.setitem(__import__("sys").modules, "shtab", None)
    with pytest.raises(TorchReproLintError, match="needs shtab: pip install"):
        completion(["bash"])
