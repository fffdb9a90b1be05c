"""Weights that a program draws before it seeds: of which programs the default profile says so."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_PROGRAM = """
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments


def main(data=None):
    base = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
    model = get_peft_model(base, LoraConfig(task_type="SEQ_CLS"))
    Trainer(model=model, args=TrainingArguments("out", seed=1), train_dataset=data).train()


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("name", "found"),
    [("train.py", ["TRL504"]), ("main.py", ["TRL504"]), ("predict.py", []), ("submit.py", []), ("submit_pro.py", [])],
)
def test_weights_before_the_seed(write, name: str, found: list[str]) -> None:
    root = write({"torchrepro-lint.toml": "", name: _PROGRAM})
    assert [one.code for one in check([root]).findings] == found
    assert [one.code for one in check([root], {"select": ("TRL504",)}).findings] == ["TRL504"]
