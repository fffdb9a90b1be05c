"""Variables that job scripts export, which a Python file of the project writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.engine import check

MAIN = (
    "import torch\ntorch.use_deterministic_algorithms(True)\n"
    "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
    "print(torch.randn(2, 2, device=device) @ torch.ones(2, device=device))\n"
)
JOBS = {
    "lines = ['#!/bin/bash', 'export CUBLAS_WORKSPACE_CONFIG=:16:8', 'python main.py']\n": 0,
    "lines = ['#!/bin/bash', 'export OMP_NUM_THREADS=1', 'python main.py']\n": 1,
}


@pytest.mark.parametrize(("jobs", "findings"), JOBS.items(), ids=["exported", "another one"])
def test_a_variable_that_written_scripts_export_is_set(tmp_path: Path, jobs: str, findings: int) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.torchrepro-lint]\ntarget-torch = ">=1.12,<2.3"\n', encoding="utf-8")
    (tmp_path / "main.py").write_text(MAIN, encoding="utf-8")
    (tmp_path / "jobs.py").write_text(jobs, encoding="utf-8")
    found = check([tmp_path], {"select": ("TRL303",)}).findings
    assert len(found) == findings
