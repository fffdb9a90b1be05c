"""TRL404 nondeterministic-attention.

What it does
    Finds attention whose backward pass is nondeterministic on CUDA, in a program that asks for determinism:
    `scaled_dot_product_attention` and the layers that use it, functions and modules of `flash_attn` without
    `deterministic=True`, and `xformers`. Also finds other kernels of third parties that add with atomics:
    `torch_scatter`, and the layers and functions of PyTorch Geometric that add along edges. Layers that a project
    derives from these, or from `MessagePassing`, are among them. Only in the `strict` profile: of 21 findings in public
    repositories 12 were worth a change, and one was false.

Why is this bad?
    Flash attention and memory-efficient attention add the gradients of keys and values in the order in which blocks
    finish. Both have a deterministic implementation, which torch uses only under
    `torch.use_deterministic_algorithms(True)` without `warn_only`. Other packages ignore that flag.

Example
    ```python
    import torch
    import torch.nn.functional as F

    torch.backends.cudnn.deterministic = True
    q = torch.rand(1, 2, 8, 16, device="cuda", requires_grad=True)
    F.scaled_dot_product_attention(q, q, q).sum().backward()
    ```

Use instead
    ```python
    import torch
    import torch.nn.functional as F

    torch.backends.cudnn.deterministic = True
    torch.use_deterministic_algorithms(True)
    q = torch.rand(1, 2, 8, 16, device="cuda", requires_grad=True)
    F.scaled_dot_product_attention(q, q, q).sum().backward()
    ```

Since
    torch 2.0.

How it is proven
    From the source code of torch and of the packages. `verify` runs the fixtures on a GPU and observes whether runs
    differ.

Fix safety
    No fix: the message suggests an alternative.

Not reported
    - Torch's own attention under `use_deterministic_algorithms(True)`, or with only the math backend enabled.
    - Forward passes without gradients.
    - Programs that do not ask for determinism.
    - Graph layers, where the program has its edges in a sparse matrix (`SparseTensor`, `adj_t`): its product adds in a
      fixed order. Before torch 1.13, they raise under `use_deterministic_algorithms(True)`, which is TRL401.
    - Classes derived from `MessagePassing` that take the largest or smallest message (`aggr="max"`), or have an
      `aggregate` of their own.
    - `nn.MultiheadAttention`, unless it is called with `need_weights=False`: otherwise it does not use these kernels.

References
    https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
    https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
    https://github.com/Dao-AILab/flash-attention
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.dotted import last_part
from torchrepro_lint.facts import tree
from torchrepro_lint.knowledge.calls import known_calls
from torchrepro_lint.knowledge.ops import OpRow
from torchrepro_lint.program.intent.intent import Evidence
from torchrepro_lint.program.ops.module_runs import calls_of_object
from torchrepro_lint.program.ops.op_runs import flag_is_off, is_inside
from torchrepro_lint.program.ops.operations import Operation
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.rules.backends.switches import intent_link
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.ops.candidates import adds_along_sparse_edges, candidates, when_it_runs

#: It asks for the weights by default, and then multiplies matrices one by one.
_OTHER_WAY = frozenset({"torch.nn.MultiheadAttention"})
#: A name of more characters is told by its last part.
MAX_NAME: Final = 50
_MATH_ALONE = re.compile(rb"enable_flash_sdp\(False\)[\s\S]*enable_mem_efficient_sdp\(False\)")


class NondeterministicAttention(Rule):
    code = "TRL404"
    name = "nondeterministic-attention"
    summary = "attention, or a third party's kernel, that is nondeterministic on CUDA"
    severity = Severity.WARNING
    profile = "strict"

    def check(self, program: Program) -> Iterator[Finding]:
        for operation, row, intent in candidates(program, _is_wanted, _speaks_of, flag="off", any_backend=True):
            raises = any(one.effect == "algorithms" for one in intent) and not flag_is_off(program, operation)
            if adds_along_sparse_edges(program, operation):
                continue
            if "third-party" in row.flags:
                if raises and row.effect == "made_deterministic":
                    continue
            elif raises or _takes_another_way(program, operation) or _is_math_alone(program, operation):
                continue
            called = operation.short if len(operation.short) <= MAX_NAME else last_part(operation.name)
            what = f"`{called}` is nondeterministic on CUDA {when_it_runs(row)}"
            trace = [*(intent_link(one) for one in intent[:1]), Link(operation.site, "adds in no fixed order")]
            trace.append(Link(operation.site, f"instead: {row.alternative}", 0))
            yield self.finding(program, operation.site, f"{what}: {_why(row)}", trace)


def _is_wanted(one: Evidence) -> bool:
    return one.level == "deterministic"


def _speaks_of(row: OpRow) -> bool:
    return bool(row.flags & {"attention", "third-party"}) and row.effect in ("silent", "made_deterministic")


def _why(row: OpRow) -> str:
    if "third-party" in row.flags and row.effect == "silent":
        return "`use_deterministic_algorithms` does not change that"
    return "seeds and cuDNN's switches do not change that"


def _takes_another_way(program: Program, operation: Operation) -> bool:
    """Whether every visible call asks for the weights, as `nn.MultiheadAttention` does by default."""
    if operation.name not in _OTHER_WAY:
        return False
    frame = operation.frame
    calls = calls_of_object(program.ev, frame.facts, frame.scope, operation.call) or ()
    return not any(
        arg.keyword == "need_weights" and isinstance(arg.value, tree.Const) and arg.value.value is False
        for call in calls
        for arg in call.args
    )


def _is_math_alone(program: Program, operation: Operation) -> bool:
    """Whether the backends are chosen around the call, or the fast ones are off in the program."""
    if is_inside(program, operation, known_calls("attention_backends")):
        return True
    return program.imports.any_together(operation.site.path, _MATH_ALONE)
