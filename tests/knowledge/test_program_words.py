"""Words that say something of a whole program, or of a function by its name: found where they stand."""

from __future__ import annotations

from typing import get_args

import pytest

from torchrepro_lint.knowledge.function_words import NameTable, function_words
from torchrepro_lint.knowledge.program_words import WordTable, program_words

#: Tables of words by which a program shows that it wants to repeat.
OF_SEEDS = {"asks_to_repeat"}


@pytest.mark.parametrize("table", get_args(WordTable))
def test_no_table_matches_everything(table: WordTable) -> None:
    seeds = "" if table in OF_SEEDS else "torch.manual_seed(0)\n"
    assert program_words(table).search(f"import torch\n\n{seeds}".encode()) is None


@pytest.mark.parametrize(
    ("table", "text", "found"),
    [
        ("seeds_itself", b"trainer = Trainer.from_argparse_args(args)", True),
        ("seeds_itself", b"import jax.numpy as jnp", True),
        ("seeds_itself", b"ajaxian", False),
        ("seeds_itself", b"from ray.rllib.algorithms import ppo", True),
        ("seeds_itself", b"import urllib.request", False),
        ("starts_python", b"os.system('python other.py')", True),
        ("starts_python", b"os.system('rm -r out')", False),
        ("starts_python", b"import array", False),
        ("seeds_environments", b"env.seed(args.seed)", True),
        ("seeds_environments", b"state, _ = env.reset(\n    seed=args.seed,\n)", True),
        ("seeds_environments", b"envs = make_vec_envs(name, args.seed, processes(4))", True),
        ("seeds_environments", b"np.random.seed(seed)\nrandom.seed(seed)\nenv = make_env(name)", False),
        ("seeds_spaces", b"env.action_space.seed(seed)", True),
        ("seeds_spaces", b"env.seed(seed)", False),
        ("runs_environments", b"from stable_baselines3 import PPO", True),
        ("runs_environments", b"array = np.array(x)", False),
        ("defines_environments", b"class Walk(gym.Env):", True),
        ("defines_environments", b"def run(env: gym.Env):", False),
        ("switches_mode", b"model.train(False)", True),
        ("switches_mode", b"net.train(mode=False)", True),
        ("switches_mode", b"model.train()", False),
        ("switches_mode", b"evaluate(model, loader)", False),
    ],
)
def test_words(table: WordTable, text: bytes, found: bool) -> None:
    assert (program_words(table).search(text) is not None) is found


@pytest.mark.parametrize(
    ("table", "name", "found"),
    [
        ("says_mode", "is_training", True),
        ("says_mode", "deterministic", True),
        ("says_mode", "dropout_p", False),
        ("random_on_purpose", "enable_dropout", True),
        ("random_on_purpose", "MCDropout", True),
        ("random_on_purpose", "attention", False),
        ("training", "training_step", True),
        ("training", "build_model", False),
        ("not_training", "validation_step", True),
        ("not_training", "resize_token_embeddings", False),
        ("not_training", "resize_pos_embed", True),
        ("losses", "MultiResolutionSTFTLoss", True),
        ("losses", "Encoder", False),
        ("about_data", "data_aug", True),
        ("evaluation", "interp_val", True),
        ("evaluation", "interval", False),
        ("evaluation", "Test_Images", True),
        ("evaluation", "Latest_Images", False),
        ("is_a_seed", "random_state", True),
        ("is_a_seed", "deterministic", False),
        ("makes_repeatable", "enable_full_determinism", True),
        ("makes_repeatable", "evaluate", False),
        ("may_seed", "fix_randomness", True),
        ("may_seed", "random_crop", False),
        ("gives_a_seed", "get_run_seed", True),
        ("gives_a_seed", "seed_everything", False),
        ("same_data", "train_only_one_batch", True),
        ("same_data", "single_batch_size", False),
        ("is_a_run", "MyTrainer", True),
        ("is_a_run", "trainer", True),
        ("is_a_run", "base_solver", True),
        ("is_a_run", "DomainMapper", False),
        ("is_a_run", "Pruner", False),
        ("is_a_run", "constraint", False),
        ("is_a_collection", "torch.utils.data.IterableDataset", True),
        ("is_a_collection", "TrainLoader", True),
        ("is_a_collection", "DataModule", False),
        ("is_an_environment", "CartPoleEnv", True),
        ("is_an_environment", "Envelope", False),
        ("tells", "saveConfig", True),
        ("split_or_sampler", "StratifiedKFold", True),
        ("is_a_test", "unittest.TestCase", True),
        ("is_a_test", "project.TestCaseMaker", False),
    ],
)
def test_what_a_name_says(table: NameTable, name: str, found: bool) -> None:
    assert (function_words(table).search(name) is not None) is found
