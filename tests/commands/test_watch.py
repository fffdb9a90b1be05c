from __future__ import annotations

import os
from pathlib import Path

import pytest

from torchrepro_lint.commands.check import CheckOptions
from torchrepro_lint.commands.watch import snapshot, watch


def touch(path: Path, text: str) -> None:
    path.write_text(text)
    found = path.stat()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + 10**9))


def test_a_change_anywhere_in_the_project_is_seen(write) -> None:
    root = write(
        {"torchrepro-lint.toml": "extend = 'all.toml'", "all.toml": "", "a.py": "x = 1\n", "other/b.py": "x\n"}
    )
    options = CheckOptions((root / "a.py",))
    before = snapshot(options)
    assert snapshot(options) == before
    for name in ("a.py", "other/b.py", "all.toml", "torchrepro-lint.toml", "new.py"):
        touch(root / name, "" if name.endswith("toml") else "y = 2\n")
        after = snapshot(options)
        assert after != before
        before = after


def test_what_says_the_versions_and_what_is_known_is_watched_too(write) -> None:
    root = write({"torchrepro-lint.toml": "baseline = 'known.json'", "a.py": "x = 1\n"})
    before = snapshot(CheckOptions((root / "a.py",)))
    for name in (
        "known.json",
        "requirements.txt",
        "environment.yml",
        "uv.lock",
        "requirements/train.txt",
        "conf/run.yaml",
    ):
        (root / name).parent.mkdir(exist_ok=True)
        touch(root / name, "{}\n")
        after = snapshot(CheckOptions((root / "a.py",)))
        assert after != before, name
        before = after


def test_it_checks_again_and_survives_broken_settings(write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({"torchrepro-lint.toml": "", "a.py": "import torch\n\ntorch.manual_seed\n"})
    texts = iter(["import torch\n", "x = (\n"])

    def change(_: float) -> None:
        touch(root / "a.py", next(texts, "x\n"))
        touch(root / "torchrepro-lint.toml", "seed = 1\n" if (root / "a.py").read_text() != "x\n" else "sede = 1\n")

    assert watch(CheckOptions((root,), output_format="concise"), change, rounds=4) == 0
    captured = capsys.readouterr()
    assert captured.out.index("TRL305") < captured.out.index("All checks passed!")
    assert captured.err.count("waiting for changes") == 3
    assert 'sede: unknown setting; did you mean "seed"?' in captured.err
