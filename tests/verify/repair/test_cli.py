"""What the command line of `repair` refuses, in one line each."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.verify.repair import cli

pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.py"], "none.py: no such file"),
        (["a.py", "b.py"], "only one script can be run"),
        ([], "name a script to run"),
        (["a.ipynb"], "a.ipynb: a notebook; convert it first"),
        (["-m", "a", "b.py"], "only one script can be run"),
        (["a.py", "--other-seed", "'--seed"], "--other-seed: No closing quotation"),
        (["a.py", "--perturb", "resume"], "resume needs --resume-first"),
        (["a.py", "--perturb", "listings"], '"listings" is not a perturbation'),
        (["a.py", "--report", "none/out.html"], "the folder none does not exist"),
    ],
)
def test_refused(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("")
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("torchrepro-lint repair: error: ") and message in error
    assert error.count("\n") == 1


def test_unknown_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["a.py", "--epochs", "1"])
    assert ended.value.code == 2
    assert "arguments for the script follow --" in capsys.readouterr().err
