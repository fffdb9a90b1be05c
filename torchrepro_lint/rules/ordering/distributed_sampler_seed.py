"""TRL212 distributed-sampler-seed.

What it does
    Finds a `DistributedSampler` whose seed contains the rank, or a number that each rank reads for itself, such as the
    clock. In the `strict` profile also finds one that shuffles with a constant seed, in a program that seeds torch with
    what its user gives: of 18 such findings in public repositories 10 were worth a change, and one was false. None had
    a seed with the rank in it.

Why is this bad?
    Each rank permutes all samples by the sampler's seed and the epoch, and takes its share of the permutation. With
    another seed on each rank the shares overlap: some samples come on several ranks, others on none. The seed of the
    sampler is an argument of its own, and 0 if it is not given: `torch.manual_seed(args.seed)` does not change the
    order, so that runs with several seeds, which are compared, have all seen the data in one order.

Example
    ```python
    import torch
    from torch.utils.data import DistributedSampler

    def indices(rank, seed):
        torch.manual_seed(seed + rank)
        return list(DistributedSampler(range(8), num_replicas=2, rank=rank, seed=seed + rank))

    print(indices(0, 1), indices(1, 1))
    ```

Use instead
    ```python
    import torch
    from torch.utils.data import DistributedSampler

    def indices(rank, seed):
        torch.manual_seed(seed + rank)
        return list(DistributedSampler(range(8), num_replicas=2, rank=rank, seed=seed))

    print(indices(0, 1), indices(1, 1))
    ```

Since
    torch 1.6, which has the argument `seed`.

How it is proven
    The programs of the fixtures make the samplers of all ranks in one process, and print the samples that come twice.

Fix safety
    No fix: the seed to pass has to be the one that is equal on all ranks, and the order of a training changes with it.

Not reported
    - Samplers that do not shuffle, and those of an evaluation.
    - A seed that all ranks get from one of them: where the file names `broadcast`, `all_gather` or `sync_random_seed`.
    - A sampler for a group of ranks whose seed has the number of the group: the rank that it is given has another name.
    - Programs of frameworks that make the sampler or set its seed, and code that sets `sampler.seed` later.

Known limits
    That a number is the rank is told from its name. The sub-commands of one command line count as one program: a seed
    that only one of them gives torch is taken for that of all.

References
    https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
    https://github.com/NVlabs/LongLive/issues/71
    https://github.com/huggingface/transformers/issues/11389
    https://github.com/mlcommons/training/pull/625
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.program.ordering.distributed_seeds import sampler_seeds_of_ranks
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.rules.base import Rule

_DIFFERS = "the seed of this DistributedSampler differs between ranks: some samples come on several, others on none"
_APART = (
    "each rank takes the seed of this DistributedSampler from its own call of `{source}`: some samples come on several "
    "ranks, others on none"
)
_UNREACHED = "this DistributedSampler has a constant seed, whatever the program's is: pass `seed=`, equal on all ranks"


class DistributedSamplerSeed(Rule):
    code = "TRL212"
    name = "distributed-sampler-seed"
    summary = "the seed of a distributed sampler differs between ranks, or is not the program's"
    seldom = "the order repeats, whatever seed the user gives"

    def check(self, program: Program) -> Iterator[Finding]:
        for one in sampler_seeds_of_ranks(program):
            if one.fault == "ranks":
                yield self.finding(program, one.call.site, _DIFFERS, [Link(one.at, "the rank comes into the seed")])
            elif one.fault == "apart":
                trace = [Link(one.at, f"each rank calls this for itself: {one.source}")]
                yield self.finding(program, one.call.site, _APART.format(source=one.source), trace)
            else:
                trace = [Link(one.at, "seeds torch with what the user gives")]
                yield self.finding(
                    program,
                    one.call.site,
                    _UNREACHED,
                    trace,
                    severity=Severity.WARNING,
                    about_control=True,
                    seldom_matters=True,
                )
