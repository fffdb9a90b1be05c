"""TRL511 environment-unseeded.

What it does
    Finds environments of Gym and Gymnasium that a program never seeds, and calls of `env.action_space.sample()` where
    it never seeds the action space, in programs that seed other generators. Also finds algorithms of Stable-Baselines3
    that get an environment and no seed (`PPO("MlpPolicy", env)`). In 65 public repositories of reinforcement learning
    19 findings were read: 17 were worth a change, and the others were in a program that shows a trained agent, which
    the `strict` profile alone reports since then.

Why is this bad?
    An environment has a generator of its own, for its first state and its dynamics, and so has each of its spaces.
    Their first state comes from the operating system: `random.seed`, `np.random.seed` and `torch.manual_seed` do not
    affect it. `env.reset(seed=...)` seeds the environment and not its spaces, so random actions, such as those that
    fill a replay buffer, still differ in each run. An algorithm of Stable-Baselines3 seeds its environment only with
    its own `seed=`: seeds of NumPy and torch reach the weights and the batches, not the episodes.

Example
    ```python
    import gymnasium as gym
    import torch

    torch.manual_seed(0)
    env = gym.make("Pendulum-v1")
    observation, info = env.reset()
    ```

Use instead
    ```python
    import gymnasium as gym
    import torch

    torch.manual_seed(0)
    env = gym.make("Pendulum-v1")
    observation, info = env.reset(seed=0)
    env.action_space.seed(0)
    action = env.action_space.sample()
    ```

Since
    Gym 0.12 for spaces (those of earlier releases share one generator), all versions for environments.

How it is proven
    Not shown by `verify`, because it needs Gymnasium. Its documentation says so.

Fix safety
    Unsafe: passes the program's own seed to the first `reset` of a Gymnasium environment, `env.reset(seed=args.seed)`,
    and inserts `env.action_space.seed(args.seed)` above it, with the seed that this `reset` may have already; or passes
    `seed=` to the algorithm. The episodes are other ones from then on. There is no fix where each `reset` is in a loop
    or the function runs several times, since a seed in each repeats the same episode, and for an environment of Gym,
    whose older releases take the seed by `env.seed(...)`.

Not reported
    - Programs that seed any environment, or any action space: by `env.seed(...)`, `reset(seed=...)`, an argument `seed`
      of what makes it (`make_vec_env(..., seed=0)`), also in wrappers and other files.
    - Programs that leave the environment to Stable-Baselines3 with a seed (`PPO(..., seed=0)`), RLlib, Tianshou, d3rlpy
      or another library that seeds it.
    - Environments that are made to ask for their spaces alone, and those of a program that defines or registers an
      environment itself: it may draw from a generator that the program seeds.
    - Further samples of the same space in a file: the trace of the first names them, and the `strict` profile reports
      each.
    - Random actions that show what an environment is like, beside a training: what comes of them is printed or plotted,
      and the environment is reset before an agent plays. Also an environment that is made for that alone. Both are
      reported in the `strict` profile only.
    - Programs that only evaluate or show a trained agent: reported in the `strict` profile only.
    - Actions in a method that only tests name.
    - Actions of which nothing but the form is asked: `len(env.action_space.sample())`, `env.action_space.sample() * 0`.
    - Programs that do not show that they want to repeat, tests, and code for other programs: reported in the `strict`
      profile only.

References
    https://gymnasium.farama.org/api/env/#gymnasium.Env.reset
    https://gymnasium.farama.org/api/spaces/#gymnasium.spaces.Space.seed
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.fixes.environment_seed_fix import environment_seed_fix
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.repetition import only_evaluates
from torchrepro_lint.program.seeds.environment_seeds import unseeded_environments
from torchrepro_lint.rules.base import Rule
from torchrepro_lint.rules.one_cause import first_for_all

_MESSAGES = {
    "environment": "nothing seeds this environment, so each run has other episodes, whatever the program seeds",
    "space": "nothing seeds the action space, which has a generator of its own: each run samples other actions",
    "algorithm": "`{name}` without `seed=` does not seed its environment: each run has other episodes",
}


class EnvironmentUnseeded(Rule):
    code = "TRL511"
    name = "environment-unseeded"
    summary = "an environment of Gym, or its action space, is never seeded in a program that seeds the rest"
    seldom = "the environment is only shown"
    severity = Severity.WARNING
    is_about_control = True
    is_of_the_caller = True

    def check(self, program: Program) -> Iterator[Finding]:
        yield from first_for_all(self._each(program))

    def _each(self, program: Program) -> Iterator[tuple[Hashable, Finding]]:
        """The findings, each with its cause: the space, which one seed is enough for, wherever the file samples it."""
        for one in unseeded_environments(program):
            fix, declined = environment_seed_fix(program, one) if program.is_asked(one.site.path) else (None, None)
            message = _MESSAGES[one.kind].format(name=one.name)
            cause = (one.site.path, one.name) if one.kind == "space" and one.name else None
            seldom = one.is_shown or (only_evaluates(program, one.site) and "the program only evaluates")
            yield cause, self.finding(program, one.site, message, fix=fix, declined=declined, seldom_matters=seldom)
