"""Notebooks from end to end: one program in the order of its cells, and only the sources of cells are changed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from notebooks import PROGRAM, code, markdown, notebook

from torchrepro_lint.cli import main
from torchrepro_lint.engine import check

FILE = "train.ipynb"
TRAINING = """\
opt = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(3):
    loss = model(torch.randn(4, 2)).sum()
    loss.backward()
    opt.step()"""


@pytest.fixture
def folder(write, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = write({"torchrepro-lint.toml": 'target-torch = "<1.9"', FILE: notebook(*PROGRAM)})
    monkeypatch.chdir(root)
    monkeypatch.setenv("NO_COLOR", "1")
    return root


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_findings_stand_in_cells(folder: Path, capsys) -> None:
    assert main(["--select", "TRL101", "."]) == 1
    out = capsys.readouterr().out
    assert out.startswith("train.ipynb:cell 4:2:10: TRL101 [*] workers draw from NumPy")
    assert "train.ipynb:cell 3:6:5: Digits.__getitem__\n" in out
    # The frame shows the cell and nothing of its neighbours, magics as they are written.
    frame = out.split("\n")[1:8]
    assert frame[:3] == [
        "  |",
        "1 | ?DataLoader",
        "2 | loader = DataLoader(Digits(), batch_size=2, num_workers=2)",
    ]
    assert frame[-2:] == ["4 |     display(batch);", "  |"]


def test_what_copies_of_a_notebook_repeat_is_shown_once(folder: Path, capsys) -> None:
    folder.joinpath("train-solved.ipynb").write_text(notebook("print('solved')", *PROGRAM), encoding="utf-8")
    assert main(["--select", "TRL101", "."]) == 1
    out = capsys.readouterr().out
    assert out.count(": TRL101") == 1
    assert "Found 1 error, and 1 more that copies of the same code repeat." in out
    main(["--select", "TRL101", "--output-format", "concise", "."])
    assert "train-solved.ipynb:cell 5:2:10: TRL101" in capsys.readouterr().out
    folder.joinpath("train-solved.ipynb").write_text(notebook(*PROGRAM[:3], PROGRAM[3] + "\n1"), encoding="utf-8")
    main(["--select", "TRL101", "."])
    assert "Found 2 errors." in capsys.readouterr().out


def test_json_says_the_cell(folder: Path, capsys) -> None:
    main(["--select", "TRL101", "--output-format", "json", FILE])
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["cell"], finding["location"], finding["noqa_row"]) == (4, {"row": 2, "column": 10}, 2)
    assert [(step["cell"], step["location"]["row"]) for step in finding["trace"]] == [(4, 2), (3, 6), (3, 7)]
    assert {edit["cell"] for edit in finding["fix"]["edits"]} == {2, 4}


def rows_of(path: Path, *texts: str) -> list[int]:
    lines = path.read_text().splitlines()
    return [next(row for row, line in enumerate(lines, 1) if text in line) for text in texts]


def test_what_reads_the_file_itself_is_told_the_rows_of_the_json(folder: Path, capsys) -> None:
    at, step = rows_of(folder / FILE, "loader = DataLoader", "def __getitem__")

    def said(output_format: str) -> str:
        assert main(["--select", "TRL101", "--output-format", output_format, FILE]) == 1
        return capsys.readouterr().out

    (issue,) = json.loads(said("gitlab"))
    assert issue["location"] == {"path": FILE, "positions": {"begin": {"line": at}, "end": {"line": at}}}
    assert issue["description"].startswith("TRL101: cell 4:2:10: workers draw")
    command = said("github")
    assert f",file={FILE},line={at},endLine={at}::{FILE}:cell 4:2:10: TRL101 workers" in command
    (result,) = json.loads(said("sarif"))["runs"][0]["results"]
    places = [result["locations"][0], result["codeFlows"][0]["threadFlows"][0]["locations"][1]["location"]]
    assert [one["physicalLocation"]["region"] for one in places] == [
        {"startLine": at, "endLine": at},
        {"startLine": step, "endLine": step},
    ]
    assert [one["logicalLocations"][0]["name"] for one in places] == ["cell 4:2:10", "cell 3:6:5"]
    assert "fixes" not in result
    (diagnostic,) = json.loads(said("rdjson"))["diagnostics"]
    assert diagnostic["location"]["range"] == {"start": {"line": at}, "end": {"line": at}}
    assert diagnostic["message"].startswith("cell 4:2:10: workers draw")
    assert "suggestions" not in diagnostic
    junit = said("junit")
    assert f'(cell 4:2:10)" classname="{FILE}" file="{FILE}" line="{at}"' in junit


def test_a_fix_changes_the_sources_of_cells_and_nothing_else(folder: Path, capsys) -> None:
    path = folder / FILE
    before = path.read_text()
    assert main(["--fix", "-q", "."]) == 0
    after = path.read_text()
    gone, come = changed_lines(before, after)
    assert gone == ['    "loader = DataLoader(Digits(), batch_size=2, num_workers=2)\\n",']
    assert '    "import random\\n",' in come
    assert '    "def seed_worker(worker_id):\\n",' in come
    cells = json.loads(after)["cells"]
    assert cells[1]["source"][:2] == ["%matplotlib inline\n", "!pip install torch\n"]
    assert cells[2]["source"][0] == "%%time\n"
    assert cells[3]["source"][0] == "?DataLoader\n"
    for old, new in zip(json.loads(before)["cells"], cells, strict=True):
        old.pop("source"), new.pop("source")
        assert old == new
    assert main(["--fix", "-q", "."]) == 0
    assert path.read_text() == after


def test_the_fix_is_shown_by_cell(folder: Path, capsys) -> None:
    (folder / "torchrepro-lint.toml").write_text('target-torch = ">=1.7"')
    main(["--select", "TRL201", "."])
    out = capsys.readouterr().out
    shown = out[out.index("  fix: ") :].splitlines()
    assert shown[1:4] == [
        "    train.ipynb:cell 2:",
        "    4 + import torch",
        "    train.ipynb:cell 4:",
    ]
    assert "    2 - loader = DataLoader(Digits(), batch_size=2, num_workers=2)" in shown


def test_a_diff_is_one_for_each_cell(folder: Path, capsys) -> None:
    before = (folder / FILE).read_bytes()
    assert main(["--diff", "."]) == 1
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith(("---", "+++"))] == [
        "--- train.ipynb:cell 2",
        "+++ train.ipynb:cell 2",
        "--- train.ipynb:cell 4",
        "+++ train.ipynb:cell 4",
    ]
    assert "No newline" not in out
    assert (folder / FILE).read_bytes() == before


def test_a_comment_in_a_cell_silences(write, capsys) -> None:
    cells = list(PROGRAM)
    assert isinstance(cells[3], str)
    cells[3] = cells[3].replace("num_workers=2)", "num_workers=2)  # noqa: TRL101, TRL201")
    root = write({"a.ipynb": notebook(*cells), "torchrepro-lint.toml": ""})
    assert main([str(root)]) == 0


def test_a_notebook_uses_the_modules_of_its_project(write, capsys) -> None:
    data = "import numpy as np\n\n\nclass Data:\n    def __getitem__(self, index):\n        return np.random.rand()\n"
    root = write(
        {
            "pyproject.toml": "",
            "pkg/__init__.py": "",
            "pkg/data.py": data,
            "notebooks/a.ipynb": notebook(
                "%load_ext autoreload\nfrom torch.utils.data import DataLoader",
                "from pkg.data import Data\nloader = DataLoader(Data(), num_workers=4)",
            ),
        }
    )
    assert main([str(root / "notebooks"), "--output-format", "concise", "--select", "TRL101"]) == 1
    assert "a.ipynb:cell 2:2:10: TRL101" in capsys.readouterr().out


def test_a_notebook_that_trains_is_an_entry_point(write, capsys) -> None:
    cells = [
        "!pip install torch",
        "import torch\nfrom torch import nn\nmodel = nn.Linear(2, 2)",
        TRAINING,
    ]
    root = write({"torchrepro-lint.toml": "", "train.ipynb": notebook(*cells)})
    assert main([str(root), "--select", "TRL501", "--output-format", "concise"]) == 1
    assert "train.ipynb:cell 2:3:1: TRL501" in capsys.readouterr().out
    seeded = [cells[0], cells[1].replace("model =", "torch.manual_seed(0)\nmodel ="), cells[2]]
    write({"train.ipynb": notebook(*seeded)})
    assert main([str(root), "--select", "TRL501"]) == 0


def test_a_seed_in_a_later_cell_comes_too_late(write, capsys) -> None:
    cells = ["import torch", "model = torch.nn.Linear(2, 2)", "torch.manual_seed(0)", TRAINING]
    root = write({"torchrepro-lint.toml": "", "train.ipynb": notebook(*cells)})
    assert main([str(root), "--select", "TRL504", "--output-format", "concise"]) == 1
    out = capsys.readouterr().out
    assert "train.ipynb:cell 2:1:" in out
    assert "(cell 2, line 1) before `torch.manual_seed` (cell 3, line 1)" in out
    write({"train.ipynb": notebook(cells[0], cells[2], cells[1], cells[3])})
    assert main([str(root), "--select", "TRL504"]) == 0


@pytest.mark.parametrize(("magic", "found"), [("%pylab inline", 0), ("%matplotlib inline", 1)])
def test_pylab_gives_a_notebook_numpy_by_its_name(write, magic: str, found: int) -> None:
    cells = [
        f"{magic}\nimport random\nimport torch\nimport numpy as np",
        "torch.manual_seed(0)\nrandom.seed(0)\nnumpy.random.seed(0)\nmodel = torch.nn.Linear(2, 1)",
        TRAINING.replace("torch.randn(4, 2)", "torch.as_tensor(np.random.randn(4, 2), dtype=torch.float32)"),
    ]
    root = write({"torchrepro-lint.toml": "", "train.ipynb": notebook(*cells)})
    assert main([str(root), "--select", "TRL502"]) == found


def test_what_no_cell_uses_after_the_seed_does_not_come_too_early(write, capsys) -> None:
    """A tutorial: the model of one part is drawn, shown and trained before the next part seeds and makes its own."""
    first = ["import torch\nfrom torch import nn\n", "model = nn.Linear(4, 2)\nprint(model(torch.ones(1, 4)))\n"]
    second = "torch.manual_seed(0)\nmodel = nn.Linear(4, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    root = write({"parts.ipynb": notebook(*first, second)})
    assert main([str(root), "--select", "TRL504"]) == 0
    capsys.readouterr()
    goes_on = "torch.manual_seed(0)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    root = write({"parts.ipynb": notebook(*first, goes_on)})
    assert main([str(root), "--select", "TRL504"]) == 1


@pytest.mark.parametrize(
    ("last", "found"),
    [
        ("    network = Network()\n    return torch.optim.SGD(network.parameters(), lr=0.1)", 0),
        ("    model = Network()\n    return torch.optim.SGD(model.parameters(), lr=0.1)", 0),
        ("    return torch.optim.SGD(model.parameters(), lr=0.1)", 1),
    ],
)
def test_a_function_that_seeds_and_makes_its_own_model(write, last: str, found: int) -> None:
    """The cells above its call try a model out, whose network another file may draw."""
    networks = """\
from torch import nn


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)

    def forward(self, rows):
        return self.head(rows)
"""
    cells = [
        "import torch\nfrom networks import Network\n",
        "def set_seed(seed):\n    torch.manual_seed(seed)\n",
        "model = Network()\nprint(model(torch.ones(1, 4)))\n",
        f"def train():\n    set_seed(0)\n{last}\n",
        "optimizer = train()\noptimizer.step()\n",
    ]
    root = write({"torchrepro-lint.toml": "", "networks.py": networks, "parts.ipynb": notebook(*cells)})
    assert main([str(root), "--select", "TRL504"]) == found


def test_awaiting_at_the_top_is_no_error_and_can_be_mended(write, capsys) -> None:
    first = "import torch\nimport asyncio\ntorch.manual_seed(0)\nawait asyncio.sleep(0)"
    split = "a, b = torch.utils.data.random_split(range(4), [2, 2])"
    root = write({"torchrepro-lint.toml": "", "a.ipynb": notebook(first, split)})
    assert main([str(root), "--fix", "-q", "--select", "TRL202"]) == 0
    assert "generator=" in (root / "a.ipynb").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"cells": torch', "a.ipynb:1:11: TRL900 this file cannot be read: not valid JSON"),
        ("", "a.ipynb:1:1: TRL900 this file cannot be read: not valid JSON"),
        ("no words of ours", "a.ipynb:1:1: TRL900 this file cannot be read: not valid JSON"),
        ('{"a": 1}', "a.ipynb:1:1: TRL900 this file cannot be read: not a notebook: the JSON has no `nbformat`"),
        ('{"nbformat": 5, "worksheets": ["torch"]}', "a.ipynb:1:1: TRL900 this file cannot be read: notebook format 5"),
        (
            notebook(markdown("a"), "import torch", "x = torch.rand(1)\nif x:\ny = 2"),
            "a.ipynb:cell 3:3:1: TRL900 this cell cannot be read: syntax error: expected an indented block after 'if' "
            "statement on line 2",
        ),
        (
            notebook("import torch\nf(\n", "g()", "../runs/2024_05_01", "print(3)m"),
            "a.ipynb:cell 1:2:2: TRL900 this cell cannot be read: syntax error: '(",
        ),
    ],
)
def test_a_notebook_that_cannot_be_read_is_said(write, monkeypatch, capsys, text: str, said: str) -> None:
    root = write({"torchrepro-lint.toml": "", "a.ipynb": text.encode()})
    monkeypatch.chdir(root)
    assert main(["a.ipynb", "--output-format", "concise"]) == 1
    assert capsys.readouterr().out.startswith(said)
    assert main(["a.ipynb", "--output-format", "full"]) == 1


SPLIT = "a, b = torch.utils.data.random_split(range(4), [2, 2])"


def test_cells_that_cannot_be_read_do_not_hide_the_others(write, monkeypatch, capsys) -> None:
    """They never run: what they would seed is not seeded, and what they would split is not split."""
    broken = f"print 'splitting'\ntorch.manual_seed(0)\n{SPLIT}", "if torch.rand(1):\n\n"
    text = notebook(
        "import torch\ntorch.manual_seed(1)\nprint(torch.rand(1))",
        broken[0],
        markdown("a"),
        f"{SPLIT}\n",
        broken[1],
        "torch.manual_seed = 3",
    )
    root = write({"torchrepro-lint.toml": "", "a.ipynb": text})
    monkeypatch.chdir(root)
    assert main(["--output-format", "concise", "--profile", "strict"]) == 1
    found = [line.split(" ")[:3] for line in capsys.readouterr().out.splitlines() if line.startswith("a.ipynb")]
    assert [" ".join(words) for words in found] == [
        "a.ipynb:cell 2:1:1: TRL900",
        "a.ipynb:cell 4:1:8: TRL202",
        "a.ipynb:cell 5:2:1: TRL900",
        "a.ipynb:cell 6:1:1: TRL305",
    ]
    assert main(["--fix", "--unsafe-fixes", "-q", "--profile", "strict"]) == 1
    cells = ["".join(cell["source"]) for cell in json.loads((root / "a.ipynb").read_text())["cells"]]
    assert (cells[1], cells[4]) == broken
    assert "generator=" in cells[3] and cells[5] == "torch.manual_seed(3)"


def test_a_cell_that_is_nested_too_deeply_is_given_to_no_parser_that_it_would_end(write, capsys) -> None:
    text = notebook("x = shuffle(\n" * 10_000, "import torch\ng = torch.Generator()\nprint(torch.rand(2, generator=g))")
    root = write({"torchrepro-lint.toml": "", "a.ipynb": text})
    assert main([str(root / "a.ipynb"), "--no-cache", "-q", "--output-format", "concise"]) == 1
    broken, found = capsys.readouterr().out.splitlines()
    assert "TRL900" in broken and "too many nested parentheses" in broken
    assert "TRL203" in found


def test_nothing_is_put_into_a_cell_that_cannot_be_read(write, monkeypatch, capsys) -> None:
    """The imports that a fix needs would stand where nothing runs."""
    reader = "class Noise(Dataset):\n    def __getitem__(self, index):\n        return np.random.rand()\n\n"
    text = notebook(
        "if x:\n",
        "import numpy as np\nfrom torch.utils.data import DataLoader, Dataset",
        f"{reader}loader = DataLoader(Noise(), num_workers=2)",
    )
    root = write({"torchrepro-lint.toml": "", "a.ipynb": text})
    monkeypatch.chdir(root)
    main(["--fix", "-q", "--select", "TRL1"])
    sources = ["".join(cell["source"]) for cell in json.loads((root / "a.ipynb").read_text())["cells"]]
    assert sources[0] == "if x:\n"
    assert "seed_worker" not in "".join(sources) or "import torch" in sources[1]


@pytest.mark.parametrize("comment", ["# torchrepro-lint: noqa: TRL900", "# torchrepro-lint: noqa"])
def test_a_comment_silences_what_is_said_of_other_cells(write, capsys, comment: str) -> None:
    root = write({"torchrepro-lint.toml": "", "a.ipynb": notebook(f"{comment}\nimport torch", "shuffle(")})
    assert main([str(root)]) == 0


def test_cells_that_ran_out_of_order_are_said_and_change_nothing(write, capsys) -> None:
    root = write(
        {
            "torchrepro-lint.toml": "",
            "a.ipynb": notebook(code("import torch", 1), code("x = torch.ones(2)", 3), code("x += 1", 2)),
            "b.ipynb": notebook(code("import torch", 1), code("x = torch.ones(2)", 5), code("x += 1", 7)),
        }
    )
    assert main([str(root)]) == 0
    assert capsys.readouterr().err == (
        f"warning: {root / 'a.ipynb'}: cell 3 was last run before cell 2, which stands above it: "
        "its outputs are of another order\n"
    )
    assert main([str(root), "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_many_notebooks_whose_cells_ran_out_of_order_are_said_in_one_line(write, capsys) -> None:
    stale = notebook(code("import torch", 1), code("x = torch.ones(2)", 3), code("x += 1", 2))
    root = write({"torchrepro-lint.toml": "", **{f"{name}.ipynb": stale for name in "abcd"}})
    assert main([str(root)]) == 0
    assert capsys.readouterr().err == (
        f"warning: {root / 'a.ipynb'}: cell 3 was last run before cell 2, which stands above it: "
        "its outputs are of another order (and so in 3 other notebooks)\n"
    )


def test_a_line_of_a_cell_is_explained(folder: Path, capsys) -> None:
    assert main(["explain", f"{FILE}:cell 4:2"]) == 0
    out = capsys.readouterr().out
    assert "train.ipynb:cell 4:2:10: TRL101" in out
    assert "The loader at train.ipynb:cell 4:2: " in out
    assert main(["explain", f"{FILE}:cell 3:1"]) == 0
    assert "No rule finds anything at train.ipynb:cell 3:1." in capsys.readouterr().out
    for place, said in (
        (f"{FILE}:3", 'write "train.ipynb:cell 2:1"'),
        (f"{FILE}:cell 1:1", "has no line 1 in a code cell 1"),
        (f"{FILE}:cell 4:9", "has no line 9 in a code cell 4"),
        ("torchrepro-lint.toml:cell 1:1", "has no cells"),
    ):
        assert main(["explain", place]) == 2
        assert said in capsys.readouterr().err


def test_notebooks_of_other_languages_and_empty_ones_are_passed_over(write, capsys) -> None:
    root = write(
        {
            "torchrepro-lint.toml": "",
            "r.ipynb": notebook("library(torch)\nx <- (", language="R"),
            "empty.ipynb": notebook(),
            "words.ipynb": notebook(markdown("torch")),
        }
    )
    assert main([str(root)]) == 0


def test_flake8_sees_notebooks_through_nbqa(folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "nbqa", "flake8", FILE, "--select=TRL"],
        cwd=folder,
        env={"PYTHONPATH": str(Path(__file__).parents[1]), "PATH": str(Path(sys.executable).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    # nbQA counts code cells only.
    assert f"{FILE}:cell_3:2:10: TRL101" in ran.stdout


@pytest.mark.parametrize(("imports", "is_told"), [("import torch\ntorch.manual_seed(0)\n", True), ("", False)])
def test_a_notebook_without_imports_has_the_names_of_one_that_runs_it(imports: str, is_told: bool, write) -> None:
    root = write(
        {
            "torchrepro-lint.toml": "",
            "main.ipynb": notebook("import torch\nimport torch.backends.cudnn as cudnn", "%run model.ipynb"),
            "model.ipynb": notebook(f"{imports}cudnn.benchmark = True"),
        }
    )
    assert [one.code for one in check([root]).findings if one.code == "TRL305"] == ["TRL305"] * is_told
