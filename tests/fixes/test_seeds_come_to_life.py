"""A seed that had no effect is not brought to life where the program has another one for the same generator."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchrepro_lint.diagnostics import Applicability
from torchrepro_lint.engine import check

SEEDED = {
    "the program seeds the same by its option": ("np.random.seed(args.seed)", False),
    "the program seeds all by a helper": ("seed_all(args.seed)", False),
    "the program seeds another one": ("random.seed(args.seed)", True),
    "the program seeds nothing": ("print(args.seed)", True),
}


def _train(seeding: str) -> str:
    return (
        "import argparse\nimport random\n\nimport numpy as np\nimport torch\n\n\ndef seed_all(seed):\n"
        "    np.random.seed(seed)\n    torch.manual_seed(seed)\n\n\n"
        "parser = argparse.ArgumentParser()\nparser.add_argument('--seed', type=int, default=7)\n"
        f"args = parser.parse_args()\n{seeding}\n\nfrom data import rows\n\nprint(rows(), torch.ones(2))\n"
    )


@pytest.mark.parametrize("name", SEEDED)
def test_assigned_over(tmp_path: Path, name: str) -> None:
    seeding, is_safe = SEEDED[name]
    text = _train(seeding)
    if "seed_all(args" not in seeding:
        text = text.replace("    np.random.seed(seed)\n", "")
    (tmp_path / "data.py").write_text(
        "import numpy as np\n\nnp.random.seed = 0\n\n\ndef rows():\n    return np.random.rand(3)\n"
    )
    (tmp_path / "train.py").write_text(text)
    (found,) = [one for one in check([tmp_path]).findings if one.code == "TRL305"]
    assert found.fix is not None
    assert (found.fix.applicability is Applicability.SAFE) is is_safe


STUDIES = {
    "in one thread": ("study.optimize(f, n_trials=9)", True),
    "in one thread, said so": ("study.optimize(f, n_trials=9, n_jobs=1)", True),
    "in as many threads as an option says": ("study.optimize(f, n_jobs=int(input()))", True),
    "in four threads": ("study.optimize(f, n_trials=9, n_jobs=4)", False),
    "in all threads": ("study.optimize(f, n_trials=9, n_jobs=-1)", False),
    "in threads of a constructor": ("Search(study).run()", False),
}
SEARCH = """\
class Search:
    def __init__(self, study, n_jobs=4):
        self.study = study
        self.n_jobs = n_jobs

    def run(self):
        self.study.optimize(f, n_jobs=self.n_jobs)


"""


@pytest.mark.parametrize("name", STUDIES)
def test_a_sampler_that_is_seeded_anew_in_each_thread(tmp_path: Path, name: str) -> None:
    run, is_fixed = STUDIES[name]
    (tmp_path / "search.py").write_text(
        "import optuna\nimport torch\n\n\ndef f(trial):\n"
        "    return torch.rand(1).item() * trial.suggest_float('lr', 0, 1)\n\n\n"
        f"{SEARCH if 'Search' in run else ''}torch.manual_seed(0)\n"
        f"study = optuna.create_study(sampler=optuna.samplers.TPESampler())\n{run}\n"
    )
    (found,) = [one for one in check([tmp_path], {"extend_select": ("TRL510",)}).findings if one.code == "TRL510"]
    assert (found.fix is not None) is is_fixed
