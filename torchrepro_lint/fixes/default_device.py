"""Where a program creates its tensors when it names no device: a generator has to be of the same one.

    torch.set_default_tensor_type("torch.cuda.FloatTensor")
    loader = DataLoader(data, shuffle=True, generator=torch.Generator())

`RandomSampler` asks `torch.randperm(n, generator=generator)`, which raises "Expected a 'cuda' device type for generator
but found 'cpu'" (torch 1.9 to 2.13, utils/data/sampler.py).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["may_be_on_gpu_by_default"]

#: What changes where tensors are created, but for the types of the CPU (`torch.DoubleTensor`) and its device.
_SET: Final = re.compile(
    rb"\bset_default_tensor_type\s*\((?!\s*[\"']?(?:torch\.)?(?:BFloat16|Double|Float|Half)Tensor\b)"
    rb"|\bset_default_device\s*\((?!\s*(?:torch\.device\(\s*)?[\"']cpu[\"'])"
)


def may_be_on_gpu_by_default(program: Program, path: Path) -> bool:
    """Whether one of the programs that run a file may create its tensors on a GPU where it names no device."""
    return program.imports.any_together(path, _SET)
