from __future__ import annotations
from collections.abc import Iterator
from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.program.program import Program
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.program.reach import Link

class T(Rule):
    code="TRL101"; name="numpy-rng-in-workers"; summary="x"
    def check(self, program: Program) -> Iterator[Finding]:
        for group in program.loader_sites:
            for loader in group:
                if not loader.has_workers or not loader.lacks("worker_init_fn"):
                    continue
                draws = program.worker_run(loader).draws_from("numpy")
                if draws:
                    e=draws[0].event
                    yield self.finding(program, loader.site, "numpy in workers", [*e.chain, Link(e.site, f"draws {e.name}")])
                    break
