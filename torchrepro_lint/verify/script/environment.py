"""What a run ran on, as flat text by name, and how two environments differ.

The watched process asks what it has imported already and imports nothing for it: a program that sets environment
variables before `import torch` must be seen as it is. Readers only compare texts.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Variables that change what is computed, in which order, or on which device.
VARIABLES = (
    "PYTHONHASHSEED",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING",
    "CUDNN_DETERMINISTIC",
    "NVIDIA_TF32_OVERRIDE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "TORCH_CUDNN_V8_API_DISABLED",
    "TORCH_CUDNN_V8_API_LRU_CACHE_LIMIT",
    "TORCHDYNAMO_DISABLE",
    "TORCHINDUCTOR_MAX_AUTOTUNE",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_JIT",
    "PYTORCH_NVFUSER_DISABLE",
    "ATEN_CPU_CAPABILITY",
    "MKL_CBWR",
    "MKL_DYNAMIC",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_NUM_THREADS",
    "MKL_THREADING_LAYER",
    "OMP_DYNAMIC",
    "OMP_NUM_THREADS",
    "OMP_SCHEDULE",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "ONEDNN_MAX_CPU_ISA",
    "DNNL_MAX_CPU_ISA",
    "NCCL_ALGO",
    "NCCL_PROTO",
    "NCCL_NVLS_ENABLE",
    "PL_GLOBAL_SEED",
    "PL_SEED_WORKERS",
    "RANK",
    "WORLD_SIZE",
    "LC_ALL",
    "LC_COLLATE",
    "TZ",
)
UNSET = "not set"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that two environments do not have in common; the texts are those of the first and the second."""

    name: str
    first: str
    second: str


def difference(first: Mapping[str, str], second: Mapping[str, str]) -> list[Difference]:
    """What differs, in the order in which environments are told; what only one of them has stands against `not set`."""
    return [
        Difference(name, first.get(name, UNSET), second.get(name, UNSET))
        for name in dict.fromkeys((*first, *second))
        if first.get(name, UNSET) != second.get(name, UNSET)
    ]


def before_start() -> dict[str, str]:
    """What is known before the script's first line: Python, the platform, the processor, the environment variables."""
    values = {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "processor": _processor(),
        "processors": str(os.cpu_count()),
    }
    if driver := _driver():
        values["driver"] = driver
    return values | {name: os.environ[name] for name in VARIABLES if name in os.environ}


def at_present() -> dict[str, str]:
    """What the process has imported and set by now; only the variables where torch was never imported."""
    values = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    if (numpy := sys.modules.get("numpy")) is not None:
        values["numpy"] = str(getattr(numpy, "__version__", "unknown"))
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "backends"):
        return values
    return values | _versions(torch) | _switches(torch) | _devices(torch)


def _versions(torch: Any) -> dict[str, str]:
    values = {"torch": str(torch.__version__), "cuda": str(torch.version.cuda)}
    with suppress(Exception):  # a build without it, or one whose library is not there
        values["cudnn"] = str(torch.backends.cudnn.version())
    with suppress(Exception):
        values["cpu capability"] = str(torch.backends.cpu.get_cpu_capability())
    return values


def _switches(torch: Any) -> dict[str, str]:
    """How the switches stand now. A program may have assigned over any of them, so each is asked for by itself."""
    cuda, cudnn = torch.backends.cuda, torch.backends.cudnn
    questions = {
        "threads": torch.get_num_threads,
        "interop threads": torch.get_num_interop_threads,
        "default dtype": torch.get_default_dtype,
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled,
        "deterministic algorithms only warn": torch.is_deterministic_algorithms_warn_only_enabled,
        "cudnn.enabled": lambda: cudnn.enabled,
        "cudnn.deterministic": lambda: cudnn.deterministic,
        "cudnn.benchmark": lambda: cudnn.benchmark,
        "cudnn.allow_tf32": lambda: cudnn.allow_tf32,
        "cuda.matmul.allow_tf32": lambda: cuda.matmul.allow_tf32,
        "float32 matmul precision": torch.get_float32_matmul_precision,
        "flash attention": cuda.flash_sdp_enabled,
        "memory-efficient attention": cuda.mem_efficient_sdp_enabled,
        "mkldnn": lambda: torch.backends.mkldnn.enabled,
    }
    values = {}
    for name, ask in questions.items():
        with suppress(Exception):
            values[name] = str(ask())
    return values


def _devices(torch: Any) -> dict[str, str]:
    # Asking starts CUDA where it is not in use: that is the program's own affair.
    if not torch.cuda.is_initialized():
        return {}
    values = {}
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        capability = f"{properties.major}.{properties.minor}"
        values[f"gpu {index}"] = f"{properties.name}, capability {capability}, {properties.multi_processor_count} SMs"
    return values


def _processor() -> str:
    with suppress(OSError, UnicodeDecodeError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _driver() -> str | None:
    """The version of NVIDIA's driver, from the kernel module's own words."""
    with suppress(OSError, UnicodeDecodeError):
        words = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8").split()
        return next((word for word in words if word[0].isdigit() and word.count(".") >= 1), None)
    return None
