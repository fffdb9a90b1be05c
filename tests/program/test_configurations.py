"""What configuration files say of a program's intent."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.program.intent.hydra import compose

TRAINER = "from lightning.pytorch import Trainer\n"


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def evidence(root: Path, code: str, files: dict[str, str]) -> set[tuple[str, str]]:
    """The effects of what the configuration says, and how each is called."""
    written(root, files)
    program = program_of(root, code)
    return {(one.effect, one.name) for one in program.evidence if one.value is None and " in " in one.name}


CLI = "from lightning.pytorch.cli import LightningCLI\n"
FILE = "seed_everything: 1\ntrainer:\n  deterministic: true\n"
BOTH = {("seed", "seed_everything in {}"), ("algorithms", "trainer.deterministic in {}")}


@pytest.mark.parametrize(
    ("code", "file"),
    [
        (f"{CLI}LightningCLI()", "config.yaml"),
        (f"{CLI}LightningCLI()", "configs/fit.yaml"),
        (f"{CLI}LightningCLI(args=['fit', '--config', 'my.yaml'])", "my.yaml"),
        (f"{CLI}LightningCLI(parser_kwargs={{'default_config_files': ['my.yaml']}})", "my.yaml"),
        (f"{CLI}class Mine(LightningCLI):\n    pass\nMine()", "config.yaml"),
        ("from pytorch_lightning.utilities.cli import LightningCLI\nLightningCLI()", "config.yaml"),
    ],
)
def test_the_command_line_of_lightning(tmp_path: Path, code: str, file: str) -> None:
    assert evidence(tmp_path, code, {file: FILE}) == {(effect, name.format(file)) for effect, name in BOTH}


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("print('no LightningCLI here')", {"config.yaml": FILE}),
        (f"{CLI}LightningCLI(args=['--config', 'my.yaml'])", {"other.yaml": FILE}),
        (f"{CLI}LightningCLI()", {"config.yaml": "trainer:\n  deterministic: true\n"}),
        (f"{CLI}LightningCLI()", {"config.yaml": "seed_everything: false\n"}),
        (f"{CLI}LightningCLI()", {"config.yaml": "seed_everything: null\ntrainer: [deterministic]\n"}),
        (f"{CLI}LightningCLI()", {"config.yaml": "seed_everything: [\n"}),
        ("class LightningCLI:\n    pass\nLightningCLI()", {"config.yaml": FILE}),
    ],
)
def test_what_is_not_used_says_nothing(tmp_path: Path, code: str, files: dict[str, str]) -> None:
    assert evidence(tmp_path, code, files) == set()


def test_a_trainer_that_is_told_not_to_be_deterministic(tmp_path: Path) -> None:
    files = {"config.yaml": "seed_everything: false\ntrainer: {deterministic: false}\n"}
    assert {effect for effect, _ in evidence(tmp_path, f"{CLI}LightningCLI()", files)} == {"algorithms-off"}


def of_hydra(body: str, main: str = 'config_path="conf", config_name="config"') -> str:
    return (
        f"import hydra\nimport torch\nfrom hydra.utils import instantiate\n{TRAINER}"
        f"@hydra.main({main})\ndef main(cfg):\n    {body}\nmain()\n"
    )


WISH = "trainer:\n  deterministic: true\n"
TARGET = "trainer:\n  _target_: lightning.pytorch.Trainer\n  deterministic: true\n"


@pytest.mark.parametrize(
    ("code", "conf", "effect"),
    [
        (of_hydra("Trainer(**cfg.trainer)"), WISH, "algorithms"),
        (of_hydra("Trainer(deterministic=cfg.trainer.deterministic)"), WISH, "algorithms"),
        (of_hydra("Trainer(deterministic=cfg['trainer']['deterministic'])"), WISH, "algorithms"),
        (of_hydra("Trainer(deterministic=cfg.trainer.get('deterministic'))"), WISH, "algorithms"),
        (of_hydra("given = cfg.trainer\n    Trainer(**given)"), WISH, "algorithms"),
        (of_hydra("instantiate(cfg.trainer, logger=None)"), TARGET, "algorithms"),
        (of_hydra("hydra.utils.instantiate(cfg.trainer)"), TARGET, "algorithms"),
        (of_hydra("Trainer(**cfg.trainer)", 'config_path="conf", config_name="config.yaml"'), WISH, "algorithms"),
        (of_hydra("Trainer(**cfg.trainer)", "None, 'conf', 'config'"), WISH, None),
        (of_hydra("Trainer(**cfg.trainer)", 'config_path=None, config_name="config"'), WISH, None),
        (of_hydra("Trainer(**cfg.trainer)", 'config_path="conf", config_name="another"'), WISH, None),
        (of_hydra("Trainer(**cfg.other)"), WISH, None),
        (of_hydra("Trainer(**cfg.trainer)"), "trainer:\n  deterministic: false\n", "algorithms-off"),
        (of_hydra("Trainer(**cfg.trainer)"), "trainer:\n  deterministic: ${wish}\n", None),
        (of_hydra("instantiate(cfg.trainer)"), WISH, None),
        (of_hydra("cfg = load()\n    Trainer(**cfg.trainer)"), WISH, None),
        (f"{TRAINER}import hydra\ndef main(cfg):\n    Trainer(**cfg.trainer)\nmain(load())\n", WISH, None),
    ],
)
def test_what_hydra_hands_over(tmp_path: Path, code: str, conf: str, effect: str | None) -> None:
    found = evidence(tmp_path, code, {"conf/config.yaml": conf})
    assert found == ({(effect, "deterministic in the configuration")} if effect else set())


@pytest.mark.parametrize(
    ("files", "composed"),
    [
        ({"a.yaml": "x: 1\n"}, {"x": 1}),
        ({"a.yaml": "defaults:\n  - b\nx: 1\n", "b.yaml": "x: 2\ny: 3\n"}, {"x": 1, "y": 3}),
        ({"a.yaml": "defaults:\n  - _self_\n  - b\nx: 1\n", "b.yaml": "x: 2\n"}, {"x": 2}),
        ({"a.yaml": "defaults:\n  - db: my\n", "db/my.yaml": "port: 1\n"}, {"db": {"port": 1}}),
        (
            {"a.yaml": "defaults:\n  - db: my\ndb:\n  port: 2\n", "db/my.yaml": "port: 1\nuser: me\n"},
            {"db": {"port": 2, "user": "me"}},
        ),
        (
            {"a.yaml": "defaults:\n  - e: x\ns: 1\n", "e/x.yaml": "# @package _global_\ns: 2\nt: 3\n"},
            {"s": 1, "t": 3},
        ),
        ({"a.yaml": "defaults:\n  - db: null\n  - optional local: none\n  - missing\n"}, {}),
        ({"a.yaml": "defaults:\n  - hydra: colour\n  - override hydra/log: x\nx: 1\n"}, {"x": 1}),
        ({"a.yaml": "defaults:\n  - a\nx: 1\n"}, {"x": 1}),
    ],
)
def test_composition(tmp_path: Path, files: dict[str, str], composed: object) -> None:
    assert compose(written(tmp_path, files), "a") == composed
