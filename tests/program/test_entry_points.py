"""Where programs start, and what they draw and seed on their way, in order."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import program_of

from torchrepro_lint.program.programs.entry_path import entry_runs
from torchrepro_lint.program.running.entry_points import entry_points
from torchrepro_lint.program.seeds.late_seeds import late_seeds
from torchrepro_lint.program.seeds.seed_faults import changing_seeds
from torchrepro_lint.program.seeds.unseeded import unseeded_programs

GUARDED = """\
    import torch

    def main():
        print(torch.rand(1))

    if __name__ == "__main__":
        main()
"""


def _entries(root: Path, files: dict[str, str]) -> list[str]:
    return [entry.path.name for entry in entry_points(program_of(root, files))]


def test_guards_and_scripts_start_programs(tmp_path: Path) -> None:
    assert _entries(tmp_path, {"a.py": GUARDED, "b.py": "import torch\nprint(torch.rand(1))\n"}) == ["a.py", "b.py"]


@pytest.mark.parametrize(
    ("name", "first", "is_program"),
    [
        ("results_call.py", "np.random.seed(3)", True),
        ("results_call.py", "for i in range(3):\n        set_seed(i)", True),
        ("results_call.py", "print(np.seed_value)", False),
        ("train_call.py", "", True),  # by its name
    ],
)
def test_a_script_that_seeds_and_imports_what_draws(tmp_path: Path, name: str, first: str, is_program: bool) -> None:
    files = {
        "model.py": "import torch\n\ndef predicted():\n    return torch.rand(1)\n",
        name: f"    import numpy as np\n    from model import predicted\n\n    {first}\n    print(predicted())\n",
    }
    assert _entries(tmp_path, files) == [name] * is_program


COMMAND_LINE = """\
    {imported}
    import torch

    def train(epochs=3):
        torch.rand(1)
        torch.manual_seed(0)

    if __name__ == "__main__":
        {called}
"""


@pytest.mark.parametrize(
    ("imported", "called"),
    [
        ("import fire", "fire.Fire(train)"),
        ("from fire import Fire", "Fire(component=train)"),
        ("import typer", "typer.run(train)"),
        ("from absl import app", "app.run(train)"),
        ("import absl.app", "absl.app.run(main=train)"),
        ("from jsonargparse import CLI", "CLI(train)"),
        ("import tyro", "tyro.cli(train)"),
        ("import fire", "fire.Fire()"),
        ("import fire", "fire.Fire({'fit': train})"),
        ("from jsonargparse import auto_cli", "auto_cli([train])"),
        ("import defopt", "defopt.run([train])"),
        ("import plac", "plac.call(train)"),
    ],
)
def test_command_lines_call_the_function_they_are_given(tmp_path: Path, imported: str, called: str) -> None:
    (run,) = entry_runs(program_of(tmp_path, {"train.py": COMMAND_LINE.format(imported=imported, called=called)}))
    assert [step.event.name for step in run.steps] == ["torch.rand", "torch.manual_seed"]


GROUP = """\
    {imported}
    import torch

    {made}

    {registered}
    def train(epochs=3):
        torch.rand(1)
        torch.manual_seed(0)

    def unregistered():
        torch.randn(1)

    {started}
"""
GUARD = "if __name__ == '__main__':\n        {}"


@pytest.mark.parametrize(
    ("imported", "made", "registered", "started"),
    [
        ("import click", "@click.group()\n    def cli():\n        pass", "@cli.command()", GUARD.format("cli()")),
        ("import click", "@click.group\n    def cli(): pass", "@cli.command('fit')", GUARD.format("cli.main()")),
        ("import typer", "app = typer.Typer()", "@app.command()", GUARD.format("app()")),
        ("from cyclopts import App", "app = App()", "@app.default", GUARD.format("app()")),
        ("import click", "cli = click.Group()", "@click.command()", "cli.add_command(train)\n    cli()"),
        ("import typer", "app = typer.Typer()", "", "app.command('fit')(train)\n    app()"),
    ],
)
def test_a_group_calls_its_commands(
    tmp_path: Path, imported: str, made: str, registered: str, started: str
) -> None:  # fmt: skip
    text = GROUP.format(imported=imported, made=made, registered=registered, started=started)
    (run,) = entry_runs(program_of(tmp_path, {"train.py": text}))
    assert [step.event.name for step in run.steps] == ["torch.rand", "torch.manual_seed"]


def test_commands_may_stand_in_other_files(tmp_path: Path) -> None:
    files = {
        "cli.py": "import typer\nimport jobs\napp = typer.Typer()\napp.add_typer(jobs.app, name='jobs')\napp()\n# torch",
        "jobs.py": """\
            import torch
            import typer
            app = typer.Typer()

            @app.command()
            def train():
                torch.rand(1)
        """,
    }
    (run,) = entry_runs(program_of(tmp_path, files))
    assert [step.event.name for step in run.steps] == ["torch.rand"]


def test_what_the_command_line_runs_is_one_of_its_commands(tmp_path: Path) -> None:
    text = """\
        import click
        import torch

        @click.group()
        def cli():
            pass

        @cli.command()
        def sample():
            print(torch.rand(1))

        @cli.command()
        def train():
            torch.manual_seed(0)
            print(torch.rand(1))

        if __name__ == "__main__":
            cli()
    """
    assert list(late_seeds(program_of(tmp_path, text))) == []


def test_fire_calls_the_methods_of_a_class(tmp_path: Path) -> None:
    text = """\
        import fire
        import torch

        class Trainer:
            def __init__(self, seed=0):
                torch.manual_seed(seed)

            def fit(self):
                torch.rand(1)

            def _resume(self):
                torch.randn(1)

        if __name__ == "__main__":
            fire.Fire(Trainer)
    """
    (run,) = entry_runs(program_of(tmp_path, text))
    assert [step.event.name for step in run.steps] == ["torch.manual_seed", "torch.rand"]


@pytest.mark.parametrize(("called", "body"), [("cli:main", ""), ("cli:app", "app = typer.Typer()"), ("api:main", "")])
def test_a_console_script_may_be_an_application_or_imported(called: str, body: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[project]\nname = 'p'\n[project.scripts]\np = 'p.{called}'\n")
    files = {
        "p/__init__.py": "",
        "p/api.py": "from p.cli import main\n",
        "p/cli.py": f"""\
            import torch
            import typer
            {body}

            {"@app.command()" if body else ""}
            def main():
                torch.rand(1)
        """,
    }
    (run,) = entry_runs(program_of(tmp_path, files))
    assert [step.event.name for step in run.steps] == ["torch.rand"]


def test_modules_tests_and_trials_of_library_modules_start_none(tmp_path: Path) -> None:
    files = {"layers.py": GUARDED, "test_layers.py": GUARDED, "defs.py": "import torch\nX = 1\n", "setup.py": GUARDED}
    assert _entries(tmp_path, {**files, "train.py": "import layers\nimport torch\nprint(torch.rand(1))\n"}) == [
        "train.py"
    ]


def test_steps_come_in_the_order_of_the_run(tmp_path: Path) -> None:
    files = {
        "main.py": """\
            import helper
            import torch

            def main():
                torch.manual_seed(0)
                torch.rand(1)
                print(helper.NOISE)

            if __name__ == "__main__":
                main()
        """,
        "helper.py": "import torch\nNOISE = torch.randn(2)\nif __name__ == '__main__':\n    torch.manual_seed(9)\n",
    }
    (run,) = entry_runs(program_of(tmp_path, files))
    assert [step.event.name for step in run.steps] == ["torch.randn", "torch.manual_seed", "torch.rand"]
    (late,) = late_seeds(run.program)
    assert late.early.name == "torch.randn"


@pytest.mark.parametrize(
    "start",
    [
        "mp.spawn(work, args=(2,), nprocs=2)",
        "mp.start_processes(work, args=(2,), nprocs=2, start_method='fork')",
        "mp.Process(target=work, args=(0, 2)).start()",
        "accelerate.notebook_launcher(work, (0, 2))",
        "mp.get_context('spawn').Process(target=work, args=(0, 2)).start()",
        "mp.Pool(2).starmap(work, [(0, 2)])",
        "threading.Thread(target=work, args=(0, 2)).start()",
        "futures.ProcessPoolExecutor(2).submit(work, 0, 2)",
        "joblib.Parallel(2)(joblib.delayed(work)(rank, 2) for rank in range(2))",
        "submitit.AutoExecutor('logs').submit(work, 0, 2)",
        "elastic_launch(None, work)(0, 2)",
        "ray.get(ray.remote(work).remote(0, 2))",
        "optuna.create_study().optimize(work, n_trials=2)",
    ],
)
def test_a_process_that_the_program_starts_is_walked(start: str, tmp_path: Path) -> None:
    text = f"""\
        import threading
        from concurrent import futures

        import accelerate
        import joblib
        import optuna
        import ray
        import submitit
        import torch
        import torch.multiprocessing as mp
        from torch.distributed.launcher.api import elastic_launch

        def work(rank, size):
            torch.rand(size)

        if __name__ == "__main__":
            torch.manual_seed(0)
            {start}
    """
    (run,) = entry_runs(program_of(tmp_path, text))
    assert [step.event.name for step in run.steps] == ["torch.manual_seed", "torch.rand"]


def test_forks_and_other_arms_are_no_early_draws(tmp_path: Path) -> None:
    text = """\
        import sys
        import torch

        with torch.random.fork_rng():
            torch.rand(1)
        if "--show" in sys.argv:
            torch.rand(1)
        else:
            torch.manual_seed(0)
        torch.rand(1)
    """
    assert list(late_seeds(program_of(tmp_path, text))) == []


@pytest.mark.parametrize(
    ("name", "is_late"),
    [("session_id", False), ("port", False), ("run_names", False), ("group_ids", True), ("x", True)],
)
def test_what_a_run_is_called_may_differ(name: str, is_late: bool, tmp_path: Path) -> None:
    text = f"""\
        import random
        import torch

        {name} = random.randint(0, 2**32)
        random.seed(0)
        print({name}, random.random())
    """
    assert bool(list(late_seeds(program_of(tmp_path, text)))) == is_late


def test_a_seed_from_the_clock_is_found_through_helpers(tmp_path: Path) -> None:
    text = """\
        import time
        import torch

        def now():
            return int(time.time())

        def fix(seed):
            torch.manual_seed(seed % 100)

        fix(now())
    """
    (fault,) = changing_seeds(program_of(tmp_path, text))
    assert fault.source is not None
    assert (fault.source.name, fault.fallback) == ("time.time", False)


def test_a_fallback_is_one_and_is_silent_where_it_is_told(tmp_path: Path) -> None:
    text = """\
        import time
        import torch

        def fix(seed=None):
            seed = seed or int(time.time())
            torch.manual_seed(seed)

        fix({0})
    """
    (fault,) = changing_seeds(program_of(tmp_path / "a", text.replace("{0}", "open('x').read()")))
    assert fault.fallback
    told = text.replace("{0}", "open('x').read()").replace(
        "torch.manual_seed(seed)", "torch.manual_seed(seed); print(seed)"
    )
    assert list(changing_seeds(program_of(tmp_path / "b", told))) == []


SEEDED_BY_A_HELPER = """\
    import torch
    from helper import set_seed

    def main():
        set_seed(0)
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters())
        model(torch.rand(1, 2)).sum().backward()
        optimizer.step()

    if __name__ == "__main__":
        main()
"""


def test_a_helper_seeds_however_many_programs_call_it(tmp_path: Path) -> None:
    files = {f"train_{number}.py": SEEDED_BY_A_HELPER for number in range(30)}
    files["helper.py"] = "import torch\n\ndef set_seed(seed):\n    torch.manual_seed(seed)\n"
    assert list(unseeded_programs(program_of(tmp_path, files))) == []


EVALUATION = """\
    import argparse

    import torch

    def test(network, batches):
        return [network(batch) for batch in batches]

    if __name__ == "__main__":
        args = argparse.ArgumentParser().parse_args()
        test(torch.nn.Linear(2, 2), [torch.rand(1, 2)])
"""


@pytest.mark.parametrize(
    ("name", "text", "is_program"),
    [
        ("test_net.py", EVALUATION, True),
        ("net_test.py", EVALUATION, True),
        ("test_net.py", EVALUATION.replace("def test(", "def test_net("), True),
        ("tests/test_net.py", EVALUATION, False),
        ("conftest.py", EVALUATION, False),
        ("test_net.py", EVALUATION.replace("import argparse", "import argparse, unittest"), False),
        ("test_net.py", EVALUATION.replace("test(network, batches)", "test()"), False),
        ("test_net.py", EVALUATION.replace('__name__ == "__main__"', "True"), False),
        ("test_net.py", GUARDED, False),
    ],
)
def test_a_program_that_tests_a_network_is_no_test(tmp_path: Path, name: str, text: str, is_program: bool) -> None:
    (tmp_path / "tests").mkdir()
    assert bool(_entries(tmp_path, {name: text})) is is_program


def test_the_first_of_many_classes_stand_for_the_one_that_a_name_chooses(tmp_path: Path) -> None:
    network = "class Net{0}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layer = nn.Linear({0}, 2)\n"
    main = """\
        import sys

        import torch

        import networks

        if __name__ == "__main__":
            model = getattr(networks, sys.argv[1])()
            torch.manual_seed(0)
            torch.optim.SGD(model.parameters(), lr=0.1).step()
    """
    networks = "from torch import nn\n\n" + "\n".join(network.format(number) for number in range(1, 40))
    (late,) = late_seeds(program_of(tmp_path, {"main.py": main, "networks.py": networks}))
    assert late.site.path.name == "main.py"
