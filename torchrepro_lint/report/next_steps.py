"""What to do about a finding, in one sentence: for programs, such as coding agents, that act on the output."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from torchrepro_lint.console import PROGRAM
from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.report.texts import Texts

__all__ = ["BY_HAND", "next_step"]

#: What to change where there is no fix, by the code of the rule.
BY_HAND = {
    "TRL101": "Pass a `worker_init_fn` that seeds NumPy with `torch.initial_seed() % 2**32`.",
    "TRL102": "Seed the named generators in the `worker_init_fn`, with `torch.initial_seed() % 2**32`.",
    "TRL103": "Seed with `torch.initial_seed() % 2**32` in the `worker_init_fn`: it differs in each worker.",
    "TRL104": "Seed with `torch.initial_seed() % 2**32` in the `worker_init_fn`: it differs in each epoch.",
    "TRL105": "Seed with `torch.initial_seed() % 2**32` in the `worker_init_fn`: it depends on torch's seed.",
    "TRL106": "Pass the function itself, let it take the worker id, and seed with a number below 2**32.",
    "TRL107": "Seed the generator of `get_worker_info().dataset` in the `worker_init_fn`, or create it in the worker.",
    "TRL108": "Seed by the index of the item, or do not seed in the code of an item.",
    "TRL109": "Seed the library's generator in the `worker_init_fn`, with `torch.initial_seed() % 2**32`.",
    "TRL110": "Split the stream by `get_worker_info().id` and, in a distributed program, by the rank.",
    "TRL111": "Add the rank to the seed of the loader's generator.",
    "TRL112": "Give each task a seed, as one of `np.random.SeedSequence(seed).spawn(n)`, and seed with it there.",
    "TRL201": "Pass `generator=`: a `torch.Generator` of this loader alone, seeded with the program's seed.",
    "TRL202": "Pass `generator=`: a `torch.Generator` that is seeded with the program's seed.",
    "TRL203": "Call `manual_seed` of the generator with the program's seed.",
    "TRL204": "Pass a new `torch.Generator` that is seeded, not the global one.",
    "TRL205": "Create and seed the generator once, above the epoch loop.",
    "TRL206": "Call `sampler.set_epoch(epoch)` at the beginning of each epoch.",
    "TRL207": "Sort the listing where it is created.",
    "TRL208": "Sort the set where its order is used.",
    "TRL209": "Pass `random_state=` (or `seed=`) with the program's seed.",
    "TRL210": "Save the states of all generators in the checkpoint, and restore them when training is resumed.",
    "TRL211": "Save and restore the state of what the message names, or make it anew from the epoch.",
    "TRL212": "Pass the program's seed as `seed=`, without the rank.",
    "TRL213": "Take the results in the order of what they were made of: `pool.imap`, or a loop over the futures.",
    "TRL214": "Use a hash that is the same in every run: `zlib.crc32(text.encode())`, or one of `hashlib`.",
    "TRL301": "Set `torch.backends.cudnn.benchmark = False`.",
    "TRL302": "Set `torch.backends.cudnn.deterministic = True`.",
    "TRL303": "Set `CUBLAS_WORKSPACE_CONFIG=:4096:8` in the environment, before CUDA starts.",
    "TRL304": "Call `torch.use_deterministic_algorithms(True)` without `warn_only`.",
    "TRL305": "Write the call or attribute that the message names.",
    "TRL306": "Turn the named option off, or accept that results differ between kinds of GPU.",
    "TRL307": "Pass `enabled=True` to `torch.backends.cudnn.flags`.",
    "TRL401": "Use the alternative that the message names, or do not run the operation on CUDA.",
    "TRL402": "Call `torch.use_deterministic_algorithms(True)`, or use an operation that is deterministic.",
    "TRL403": "Use `torch.zeros`, or fill the memory before it is read.",
    "TRL404": "Use the alternative that the message names.",
    "TRL405": "Leave `preserve_rng_state` out, or use `torch.utils.checkpoint.checkpoint`.",
    "TRL501": "Seed `random`, NumPy and torch at the start of the program.",
    "TRL502": "Seed the generator that the message names, beside the other seeds.",
    "TRL503": "Use a constant seed, or one from the command line.",
    "TRL504": "Move the seeding call above the first draw that the message names.",
    "TRL505": "Set the variable where the program is started, not in the program.",
    "TRL506": "Move the seeding call above the loop, or add the epoch to the seed.",
    "TRL507": "Pass `workers=True` to `seed_everything`.",
    "TRL508": "Pass `training=self.training`, create the layer in the constructor, or call `model.eval()`.",
    "TRL509": "Evaluate without random transforms, or draw from a generator that is made from the sample's index.",
    "TRL510": "Pass the program's seed to the sampler, or as the argument that the message names.",
    "TRL511": "Pass the program's seed to the first `env.reset(seed=...)`, and to `env.action_space.seed(...)`.",
    "TRL900": "Correct the syntax or the encoding of the file, or indent it with spaces alone.",
    "TRL901": "Remove the comment.",
}


def next_step(finding: Finding, may_fix: Callable[[Finding], bool], texts: Texts, *, profile: str | None = None) -> str:
    """The command that fixes the finding, or what to change by hand. `profile` is the one that the command has to name,
    where the settings do not.
    """
    options = f" --profile {profile}" if profile is not None else ""
    name = shlex.quote(texts.name(finding.location.path))
    if finding.fix is not None and may_fix(finding):
        return f"Run `{PROGRAM} --fix{options} {name}`. {finding.fix.message}."
    if finding.fix is not None:
        return f"Run `{PROGRAM} --fix --unsafe-fixes{options} {name}`, and review the change. {finding.fix.message}."
    return BY_HAND.get(finding.code, f"Run `{PROGRAM} rule {finding.code}`, and change the code by hand.")
