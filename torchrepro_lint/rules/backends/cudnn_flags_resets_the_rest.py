"""TRL307 cudnn-flags-resets-the-rest.

What it does
    Finds calls of the context manager `torch.backends.cudnn.flags` that leave out `enabled`.

Why is this bad?
    `flags` sets all switches of cuDNN, including those that are not passed: `enabled` defaults to False and
    `allow_tf32` to True. `with torch.backends.cudnn.flags(deterministic=True):` therefore turns cuDNN off inside the
    block, and TF32 on. Convolutions then run on slower kernels, which may themselves be nondeterministic.

Example
    ```python
    import torch

    layer = torch.nn.Conv1d(1, 1, 3)
    with torch.backends.cudnn.flags(deterministic=True):
        print(layer(torch.ones(1, 1, 8)).shape)
    ```

Use instead
    ```python
    import torch

    layer = torch.nn.Conv1d(1, 1, 3)
    with torch.backends.cudnn.flags(deterministic=True, enabled=True):
        print(layer(torch.ones(1, 1, 8)).shape)
    ```

Since
    All versions of torch; `allow_tf32` since 1.7.

How it is proven
    Measured on torch 2.13: inside the bad program's block `torch.backends.cudnn.enabled` is False.

Fix safety
    Safe: passes `enabled=True`, so that cuDNN is used inside the block as it is outside. The call sets another option
    of cuDNN, so it is meant to be in use.

Not reported
    - Calls that pass `enabled` or `**kwargs`.
    - `set_flags`, whose arguments default to the present values.
    - Benchmark mode in a program that asks for determinism, which is TRL301.

References
    https://docs.pytorch.org/docs/stable/backends.html#module-torch.backends.cudnn
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Finding, Fix, Severity
from torchrepro_lint.facts import tree
from torchrepro_lint.fixes.arguments import add_keyword_arguments
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.intent.intent_at import intent_at, is_opposed, ways_of
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.external_calls import calls_of
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.rules.base import Rule

_FLAGS = "torch.backends.cudnn.flags"
_WORDS = re.compile(rb"\bcudnn\b[^\n]*\bflags\b|\bflags\b[^\n]*\bcudnn\b|\bcudnn\.flags\b|backends\.cudnn")


class CudnnFlagsResetsTheRest(Rule):
    code = "TRL307"
    name = "cudnn-flags-resets-the-rest"
    summary = "cudnn.flags without `enabled` turns cuDNN off inside"
    severity = Severity.WARNING

    def check(self, program: Program) -> Iterator[Finding]:
        for call, frame in calls_of(program.ev, frozenset({_FLAGS}), program.asked_with(_WORDS)):
            given = {arg.keyword for arg in call.args if arg.keyword is not None}
            if "enabled" in given or any(arg.keyword is None for arg in call.args):
                continue
            site = program.site(call, frame)
            if _is_benchmark_against_intent(program, site):
                continue
            rest = "" if "allow_tf32" in given else ", and `allow_tf32` to True"
            message = f"`cudnn.flags` without `enabled=True` turns cuDNN off inside: `enabled` defaults to False{rest}"
            fix = _fix(program, site, call)
            yield self.finding(program, site, message, [Link(site, "turns cuDNN off")], fix=fix)


def _is_benchmark_against_intent(program: Program, site: Site) -> bool:
    """Whether the call is reported by TRL301."""
    for one in program.evidence:
        if one.site == site and one.effect == "benchmark" and one.roots:
            places = ways_of(program, one)
            wanted = program.settings.intent is not None or bool(intent_at(program, site.path, places))
            return wanted and not is_opposed(program, places, one)
    return False


def _fix(program: Program, site: Site, call: tree.Call) -> Fix | None:
    document = document_of(program, site.path)
    node = document.node_at(*program.parsed(site.path).span(call.site), cst.Call)
    if node is None:
        return None
    edits = add_keyword_arguments(document, node, [("enabled", "True")])
    return Fix(Applicability.SAFE, "Pass enabled=True", tuple(edits))
