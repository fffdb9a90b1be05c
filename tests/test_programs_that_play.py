"""Programs that play games: some only show an agent, others learn without an optimizer (TRL511)."""

from __future__ import annotations

import pytest

from torchrepro_lint.engine import check

_PROGRAM = """\
import gymnasium as gym
import matplotlib.pyplot as plt
import numpy as np
import torch

torch.manual_seed(0)
env = gym.make("CartPole-v1")
weights, scores, steps = torch.load("agent.pt"), [], []
Q = torch.zeros(16, 4)
for episode in range(10):
    state, _ = env.reset()
    done, score = False, 0.0
    while not done:
        action = int((torch.tensor(state) @ weights).argmax())
        state, reward, ended, cut, _ = env.step(action)
        done, score = ended or cut, score + reward
        {step}
    scores.append(score)
    {game}
plt.plot(scores)
{end}
"""


@pytest.mark.parametrize(
    ("step", "game", "end", "is_told"),
    [
        ("pass", "pass", "", False),
        ("env.render()", "print(score)", "", False),
        ("Q[action, 0] += 0.1 * (reward - Q[action, 0])", "pass", "", True),
        ("pass", "best = weights", "", True),
        ("pass", "if score >= max(scores):\n        best_weights, best_score = weights, score", "", True),
        ("steps.append((state, action))", "pass", "np.savez('games.npz', steps=steps)", True),
        ("pass", "population = [weights]", "", True),
    ],
)
def test_what_keeps_what_comes_of_the_games(step: str, game: str, end: str, is_told: bool, write) -> None:
    text = _PROGRAM.format(step=step, game=game, end=end)
    findings = check([write({"setup.cfg": "", "main.py": text})]).findings
    assert [one.code for one in findings] == ["TRL511"] * is_told


_WRAPPED = """\
import gymnasium as gym


class Game:
    def __init__(self):
        self.env = gym.make("CartPole-v1")
        self.env.reset(seed=0)

    def any_action(self):
        return self.env.action_space.sample()
"""
_PLAYS = """\
import torch

from game import Game

torch.manual_seed(0)
game = Game()
model = torch.nn.Linear(1, 1)
model(torch.rand(1, 1)).sum().backward()
print(game.env{use})
"""
_TESTS = """\
from game import Game


def test_any_action():
    assert Game().any_action() in (0, 1)
"""


@pytest.mark.parametrize(("use", "is_told"), [("", False), (", game.any_action()", True)])
def test_a_method_that_only_tests_name(use: str, is_told: bool, write) -> None:
    files = {"setup.cfg": "", "game.py": _WRAPPED, "main.py": _PLAYS.format(use=use), "tests/test_game.py": _TESTS}
    assert [one.code for one in check([write(files)]).findings] == ["TRL511"] * is_told
