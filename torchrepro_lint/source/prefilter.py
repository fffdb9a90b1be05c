"""A look at the raw bytes of a file: can it hold a finding at all?"""

from __future__ import annotations

import re

from torchrepro_lint.source.noqa import may_name_a_rule

__all__ = ["is_interesting", "is_wanted"]

# A part of a name each. A file that names no library whose randomness or kernels a rule is about, no operation on
# tensors, no seed, and none of the listings and switches, has nothing that a rule could be at. The words are cut so
# that one catches all spellings: `oader` is in DataLoader, dataloader and train_loader.
_WORDS = (
    rb"torch",
    rb"oader",
    rb"ensor",
    rb"umpy",
    rb"np\.",
    rb"ightning",
    rb"cuda",
    rb"cudnn",
    rb"eterminis",
    rb"benchmark",
    rb"andom",
    rb"seed",
    rb"enerator",
    rb"rng",
    rb"orker",
    rb"monai",
    rb"fastai",
    rb"accelerate",
    rb"transformers",
    rb"timm",
    rb"sklearn",
    rb"scatter",
    rb"index_",
    rb"listdir",
    rb"scandir",
    rb"iterdir",
    rb"glob",
    rb"walk\(",
    rb"test_split",
    rb"set\(",
    rb"environ",
    rb"Trainer",
    rb"__main__",  # where a program starts that other files make up
    rb"main\(",
    rb"typer",
    rb"click",
    rb"optuna",
    rb"hyperopt",
    rb"gym",
)
_INTERESTING = re.compile(rb"|".join(_WORDS))

# What draws a part of a table or makes a set, in a file that names no library: asked second, as it takes far longer.
_TABLES_AND_SETS = re.compile(
    rb"\.sample\(|\bset\.[uids]|keys\(\)\s*[-&|^]"
    rb"|\{[^{}:]*(?:\{[^{}]*\}[^{}:]*)*\sfor\s"  # `{x for x in xs}`: a dict has a colon before the `for`
    rb"|\{[^{}:]*[\"']\s*,"  # `{"a", "b"}`
)


def is_interesting(data: bytes) -> bool:
    """Whether a file with these bytes could hold a finding."""
    return _INTERESTING.search(data) is not None or _TABLES_AND_SETS.search(data) is not None


def is_wanted(data: bytes) -> bool:
    """Whether a file with these bytes is to be looked at: for a rule, or for a comment that names one."""
    return is_interesting(data) or may_name_a_rule(data)
