"""Which seed a fix writes at a place: torch's own, the program's expression, a constant that nobody chose, or none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from torchrepro_lint.fix_loop import fix

BUILT = "[build-system]\nrequires = []\n"
GENERATOR = """
    import torch

    def permuted(n):
        g = torch.Generator()
        return torch.randperm(n, generator=g)
    """
SEEDS_ITSELF = """
    import torch
    from data import permuted

    torch.manual_seed({seed})
    print(permuted(4))
    """


def written(
    root: Path, files: Mapping[str, str], *, code: str = "TRL203", unsafe: bool = False
) -> tuple[list[str], str | None]:
    """The lines that the fix adds, and why there is none."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    result = fix([root], {"select": (code,), "unsafe_fixes": unsafe}, write=False)
    new = [
        line.strip()
        for change in result.changes
        for line in change.text.splitlines()
        if line not in change.source.text.splitlines()
    ]
    return new, next((one.fix_declined for one in result.report.findings), None)


@pytest.mark.parametrize(
    ("program", "seed"),
    [
        pytest.param("torch.manual_seed(7)\ng = torch.Generator()", "torch.initial_seed()", id="seeded before"),
        pytest.param("torch.manual_seed(args.seed)\ng = torch.Generator()", "torch.initial_seed()", id="by an option"),
        pytest.param("g = torch.Generator()\ntorch.manual_seed(args.seed)", "args.seed", id="seeded later"),
        pytest.param("SEED = 7\ng = torch.Generator()\ntorch.manual_seed(SEED)", "SEED", id="with a name, later"),
        pytest.param(
            "SEED = 7\ng = torch.Generator()\ntorch.manual_seed(SEED + int(os.environ['RANK']))", "SEED)",
            id="with a name and more",
        ),
        pytest.param(
            "SEED = 3\nprint(SEED)\ng = torch.Generator()\ntorch.manual_seed(args.seed)", "args.seed",
            id="a constant of the name that seeds nothing",
        ),
    ],
)  # fmt: skip
def test_the_seed_of_the_program_is_written(tmp_path: Path, program: str, seed: str) -> None:
    head = "import argparse\nimport os\n\nimport torch\n\nparser = argparse.ArgumentParser()\n"
    head += 'parser.add_argument("--seed", type=int, default=0)\nargs = parser.parse_args()\n'
    text = f"{head}{program}\nprint(torch.randperm(4, generator=g))\n"
    lines, declined = written(tmp_path, {"main.py": text, "pyproject.toml": ""})
    assert declined is None
    assert [line.partition(".manual_seed(")[2].startswith(seed) for line in lines] == [True], lines


def test_a_number_is_copied_by_an_unsafe_fix_alone(tmp_path: Path) -> None:
    """Whoever changes the 7 in one line does not see that it stands in another."""
    text = "import torch\n\ng = torch.Generator()\ntorch.manual_seed(7)\nprint(torch.randperm(4, generator=g))\n"
    files = {"main.py": text, "pyproject.toml": ""}
    assert written(tmp_path / "safe", files)[0] == []
    assert written(tmp_path / "unsafe", files, unsafe=True)[0] == ["g = torch.Generator().manual_seed(7)"]


def test_a_number_that_seeds_something_else_is_not_the_programs_seed(tmp_path: Path) -> None:
    probe = GENERATOR + "\n    def probe():\n        torch.manual_seed(3)\n        return torch.rand(2)\n"
    main = "from data import permuted, probe\n\nprint(permuted(4))\n{rest}"
    nothing = {"data.py": probe, "main.py": main.format(rest=""), "pyproject.toml": ""}
    assert written(tmp_path / "nothing", nothing)[0] == []
    assert written(tmp_path / "unsafe", nothing, unsafe=True)[0] == ["g = torch.Generator().manual_seed(0)"]
    seeded = main.format(rest="import sys\nimport torch\n\ntorch.manual_seed(int(sys.argv[1]))\n")
    lines, declined = written(tmp_path / "seeded", {**nothing, "main.py": seeded})
    assert lines == []
    assert declined is not None
    assert "pass the seed to this place" in declined


@pytest.mark.parametrize(
    ("files", "is_for_others"),
    [
        pytest.param({"data.py": GENERATOR}, False, id="modules beside a script"),
        pytest.param({"lib/__init__.py": "", "lib/data.py": GENERATOR}, False, id="a package that nothing builds"),
        pytest.param({"lib/__init__.py": "", "lib/data.py": GENERATOR, "pyproject.toml": BUILT}, True, id="built"),
        pytest.param({"lib/__init__.py": "", "lib/data.py": GENERATOR, "setup.py": "setup(name='a')"}, True, id="setup"),
        pytest.param({"src/lib/data.py": GENERATOR, "pyproject.toml": BUILT}, True, id="src without __init__"),
        pytest.param(
            {"src/data.py": GENERATOR, "main.py": "import src.data", "pyproject.toml": BUILT},
            False, id="an application that imports src",
        ),
        pytest.param({"scripts/data.py": GENERATOR, "pyproject.toml": BUILT}, False, id="a script beside a package"),
        pytest.param({"third_party/lib/data.py": GENERATOR}, True, id="copied"),
        pytest.param({"external/data.py": GENERATOR}, True, id="copied from outside"),
        pytest.param(
            {
                "lib/__init__.py": "",
                "lib/train.py": GENERATOR + "\n    if __name__ == '__main__':\n        print(permuted(4))\n",
                "pyproject.toml": BUILT,
            },
            False, id="a program in a package",
        ),
    ],
)  # fmt: skip
def test_code_for_the_programs_of_others_gets_no_constant(
    tmp_path: Path, files: dict[str, str], is_for_others: bool
) -> None:
    """The file says `SEED = 3`, which is the run's seed in a program, and takes the choice away in a library."""
    named = {
        name: text.replace("\n    def permuted", "\n    SEED = 3\n\n    def permuted") for name, text in files.items()
    }
    lines, declined = written(tmp_path, {"pyproject.toml": "", **named})
    assert declined is None
    assert lines == ([] if is_for_others else ["g = torch.Generator().manual_seed(SEED)"])


def test_code_for_others_takes_torchs_seed_where_it_is_known(tmp_path: Path) -> None:
    seeded = dedent(SEEDS_ITSELF).format(seed=3).replace("from data", "from lib.data")
    files = {"lib/__init__.py": "", "lib/data.py": GENERATOR, "pyproject.toml": BUILT, "main.py": seeded}
    assert written(tmp_path, files)[0] == ["g = torch.Generator().manual_seed(torch.initial_seed())"]


@pytest.mark.parametrize(("seed", "is_safe"), [("3", False), ("seed", True)])
def test_a_library_seeds_more_with_a_constant_by_an_unsafe_fix_alone(tmp_path: Path, seed: str, is_safe: bool) -> None:
    library = f"""
        import torch

        def set_up(seed):
            torch.manual_seed({seed})
        """
    main = """
        import sys

        import numpy as np
        import torch
        from lib.data import set_up

        if __name__ == "__main__":
            set_up(int(sys.argv[1]))
            print(np.random.permutation(4), torch.rand(4))
        """
    files = {"lib/__init__.py": "", "lib/data.py": library, "main.py": main, "pyproject.toml": BUILT}
    lines, _ = written(tmp_path / "safe", files, code="TRL502")
    assert lines[-1:] == ([f"np.random.seed({seed})"] if is_safe else [])
    lines, _ = written(tmp_path / "unsafe", files, code="TRL502", unsafe=True)
    assert lines[-1:] == [f"np.random.seed({seed})"]
