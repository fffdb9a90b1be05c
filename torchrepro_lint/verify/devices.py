"""What programs can be run on here. This process itself does not import torch."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import Literal, TypeAlias, get_args

from torchrepro_lint.diagnostics import TorchReproLintError

Device: TypeAlias = Literal["cpu", "cuda"]

DEVICES: tuple[Device, ...] = get_args(Device)


def require_torch() -> None:
    """TorchReproLintError if torch, or NumPy, is not installed."""
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("numpy") is None:
        raise TorchReproLintError('verify needs PyTorch to run programs: pip install "torchrepro-lint[verify]"')


def has_cuda() -> bool:
    """Whether torch finds a CUDA device, asked in a separate process."""
    probe = "import sys, torch; sys.exit(not torch.cuda.is_available())"
    return subprocess.run([sys.executable, "-c", probe], capture_output=True, check=False).returncode == 0
