from __future__ import annotations

import errno
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from notebooks import notebook

from torchrepro_lint import __version__
from torchrepro_lint.commands.report import report
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.report.documents import Document, Section, Table, as_html, as_markdown, link

FILES = {
    "pyproject.toml": "",
    "requirements.txt": "torch>=2.1\n",
    "run.sh": "export CUBLAS_WORKSPACE_CONFIG=:4096:8\n",
    "data.py": """
        import numpy as np
        from torch.utils.data import DataLoader, Dataset

        class Noisy(Dataset):
            def __len__(self):
                return 4

            def __getitem__(self, index):
                return index + np.random.rand()

        def loader():
            return DataLoader(Noisy(), num_workers=2, shuffle=True)
        """,
    "train.py": """
        import os
        import random

        import torch

        from data import loader

        os.environ["PYTHONHASHSEED"] = "0"
        random.seed(1)
        torch.manual_seed(1)
        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.benchmark = True  # noqa: TRL301
        for batch in loader():
            print(batch)
        """,
}


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table below a heading of Markdown, without its header."""
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert section is not None
    lines = [line for line in section[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_what_is_controlled_and_where(write, capsys: pytest.CaptureFixture[str]) -> None:
    assert report([str(write(FILES))]) == 0
    text = capsys.readouterr().out
    assert f"torch: \\>=2.1 (from requirements.txt). torchrepro-lint {__version__}," in text
    text = re.sub(r"\[([^]]*)\]\(\./[^)]*\)", r"\1", text)  # without the links to lines
    assert rows(text, "Programs") == [["train.py:9", "shows that it wants to repeat"]]
    assert rows(text, "Random number generators")[:3] == [
        ["Python's random module", "random.seed at train.py:10"],
        ["NumPy's global RNG", "not seeded"],
        ["torch, on the CPU", "torch.manual_seed at train.py:11"],
    ]
    assert ["torch.backends.cudnn.deterministic", "cuDNN's deterministic algorithms", "train.py:12"] in rows(
        text, "Switches"
    )
    variables = dict(rows(text, "Environment variables"))
    assert variables["PYTHONHASHSEED"] == "'0' at train.py:9"
    assert variables["CUBLAS_WORKSPACE_CONFIG"] == "named in a script or configuration of the project"
    assert variables["CUDA_LAUNCH_BLOCKING"] == "not set"
    (loader,) = rows(text, "Data loading")
    assert loader == [
        "data.py:13<br>torch.utils.data.DataLoader",
        "shuffle = True<br>generator: none",
        "2<br>worker_init_fn: none",
        "NumPy's global RNG",
    ]
    root: Path = write({**FILES, "broken.py": "import torch\nx = (\n"})
    report([str(root)])
    assert (
        "| Files that were not read, comments that suppress nothing | | 1 finding |"
        in capsys.readouterr().out.replace("|  |", "| |")
    )


def test_the_verdict_comes_first_and_says_why(write, capsys: pytest.CaptureFixture[str]) -> None:
    assert report([str(write({**FILES, "requirements.txt": "torch==1.8.0\n"}))]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[2] == "Controlled: 4 of 7. Not controlled: 1 of 7. Cannot be told: 2 of 7."
    verdicts = {name: (verdict, why) for name, verdict, why in rows(text, "Verdict")}
    assert verdicts["Random numbers in DataLoader workers"] == ("not controlled", "1 finding: TRL101")
    assert verdicts["Switches of cuDNN and cuBLAS"][1].endswith("; 1 finding silenced")
    assert verdicts["Seeds of the program"][0] == "controlled"
    assert verdicts["Whether two runs agree"][0] == "cannot be told"


@pytest.mark.parametrize(
    ("files", "subject", "verdict", "why"),
    [
        ({"a.py": "import torch\n"}, "Seeds of the program", "cannot be told", "no program starts in these files"),
        (
            {"a.py": "from torch.utils.data import DataLoader\ndef f(data):\n    return DataLoader(data)\n"},
            "Random numbers in DataLoader workers",
            "cannot be told",
            "the dataset of a loader could not be followed",
        ),
        (
            {"a.py": "import torch\ntorch.manual_seed(0)\ntorch.use_deterministic_algorithms(True)\n"},
            "Operations that are nondeterministic on a GPU",
            "controlled",
            "`torch.use_deterministic_algorithms(True)`: others raise",
        ),
    ],
)
def test_a_verdict(write, capsys, files: dict[str, str], subject: str, verdict: str, why: str) -> None:
    report([str(write({"pyproject.toml": "", **files}))])
    assert [subject, verdict, why] in rows(capsys.readouterr().out, "Verdict")


def test_the_checklist_has_answers_from_the_code(write, capsys: pytest.CaptureFixture[str]) -> None:
    files = {**FILES, "requirements.txt": "torch==2.1.0\n", "README.md": "# X\n\n    python train.py\n"}
    report([str(write(files))])
    answers = {row[0]: row[1] for row in rows(capsys.readouterr().out, "Checklist for a paper")}
    assert answers["Specification of dependencies: the version of torch"] == "yes"
    assert answers["README with the commands that produce the results"] == "yes"
    assert answers["Random seeds are set"] == "yes"
    assert answers["Computing infrastructure, and run time"] == "not in the code"
    report([str(write({**FILES, "README.md": "# X\n"}))])
    answers = {row[0]: row[1] for row in rows(capsys.readouterr().out, "Checklist for a paper")}
    assert answers["Specification of dependencies: the version of torch"] == "partly"
    assert answers["README with the commands that produce the results"] == "no"


def test_a_finding_has_its_code_and_what_to_do(write, capsys: pytest.CaptureFixture[str]) -> None:
    root: Path = write(FILES)
    report([str(root), "-o", str(root / "docs.md")])
    (where, what, to_do), *_ = rows((root / "docs.md").read_text(encoding="utf-8"), "Findings")
    assert where == "[data.py:13](./data.py#L13)"
    assert "`return DataLoader(Noisy(), num_workers=2, shuffle=True)`" in what
    assert to_do.startswith("Run `torchrepro-lint --fix")


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_the_commit_and_the_date(write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    config = '[core]\n\tbare = false\n[remote "origin"]\n\turl = git@forge.example:some/project.git\n'
    git = {".git/HEAD": "ref: refs/heads/main\n", ".git/config": config}
    root: Path = write({**FILES, **git, ".git/packed-refs": f"# pack-refs\n{COMMIT} refs/heads/main\n"})
    report([str(root)])
    text = capsys.readouterr().out
    assert f"Commit [{COMMIT[:12]}](https://forge.example/some/project/commit/{COMMIT})" in text
    assert ", 1970-01-02." in text
    assert f"[data.py:13](https://forge.example/some/project/blob/{COMMIT}/data.py#L13)" in text
    root.joinpath(".git/config").write_text("")
    root.joinpath(".git/HEAD").write_text(COMMIT)
    report([str(root)])
    assert f"Commit {COMMIT[:12]}, with the files as they are" in capsys.readouterr().out
    root.joinpath(".git/HEAD").write_text("ref: refs/../../x")
    report([str(root)])
    assert "No commit, 1970-01-02." in capsys.readouterr().out


def test_only_the_path_that_is_given(write, capsys: pytest.CaptureFixture[str]) -> None:
    root: Path = write({**FILES, "other/b.py": "import torch\ntorch.manual_seed(0)\n"})
    report([str(root / "other")])
    text = capsys.readouterr().out
    assert text.startswith("# Reproducibility of other\n")
    assert "train.py" not in text
    assert "No DataLoader is made." in text


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attributes) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.loaded += [value for key, value in attributes if key in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_page(write) -> None:
    root: Path = write(FILES)
    assert report([str(root), "-o", str(root / "out.html")]) == 0
    text = (root / "out.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.open == []
    assert "./train.py#L10" in page.loaded
    assert all(one.startswith(("./", "https://torchrepro-lint.github.io/")) for one in page.loaded)
    assert 'random.seed at <a href="./train.py#L10">train.py:10</a>' in text


def test_texts_stay_texts() -> None:
    table = Table(("a|b",), (("x | <b>&",),))
    code = Section("`a|b_`", ("call `f(*x) < 1` of ``",))
    assert as_markdown(Document("T", (), (code,))) == "# T\n\n## `a\\|b_`\n\ncall `f(*x) < 1` of \\`\\`\n"
    assert "<p>call <code>f(*x) &lt; 1</code> of ``</p>" in as_html(Document("T", (), (code,)))
    document = Document(
        "T <i>", ("a*b* __c__ snake_case",), (Section("S", (), table), Section("E", ("none",), Table((), ())))
    )
    assert as_markdown(document) == (
        "# T \\<i\\>\n\na\\*b\\* \\_\\_c\\_\\_ snake_case\n\n## S\n\n| a\\|b |\n| --- |\n| x \\| \\<b\\>& |\n\n## E\n\nnone\n"
    )
    assert '<td data-label="a|b">x | &lt;b&gt;&amp;</td>' in as_html(document)
    linked = Document("T", (f"a {link('b_c', 'x?y=&z')} `d`\ne",), ())
    assert as_markdown(linked) == "# T\n\na [b_c](x?y=&z) `d`<br>e\n"
    assert '<p>a <a href="x?y=&amp;z">b_c</a> <code>d</code><br>e</p>' in as_html(linked)


def test_a_finding_of_a_notebook_stands_in_its_cell(write, capsys: pytest.CaptureFixture[str]) -> None:
    seeds = "import torch, random\ntorch.manual_seed(0)"
    root: Path = write({"pyproject.toml": "", "a.ipynb": notebook("x = 1", seeds, "print(random.random())")})
    report([str(root)])
    ((where, what, _),) = rows(capsys.readouterr().out, "Findings")
    assert where.startswith("[a.ipynb:cell 2:2](")
    assert what.startswith("[TRL502 partially-seeded](")


def test_what_is_not_there(write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root: Path = write({"pyproject.toml": "", "a/x.txt": "", "b.py": ""})
    with pytest.raises(TorchReproLintError, match="no such file or folder"):
        report([str(root / "gone.py")])
    with pytest.raises(TorchReproLintError, match="no Python files"):
        report([str(root / "a")])
    with pytest.raises(SystemExit):
        report([str(root / "b.py"), "-o", str(root / "out.pdf")])
    assert not (root / "out.pdf").exists()
    # The option is called as it is elsewhere.
    assert report([str(root / "b.py"), "--output-format", "html", "-o", str(root / "out.pdf")]) == 0
    assert (root / "out.pdf").read_text().startswith("<!doctype html>")
    with pytest.raises(TorchReproLintError, match="not written"):
        report([str(root / "b.py"), "-o", str(root / "nowhere" / "out.md")])
    # What was there is a report still when the next one cannot be written.
    good = (root / "out.pdf").read_bytes()
    monkeypatch.setattr(os, "fsync", _full)
    with pytest.raises(TorchReproLintError, match="not written: No space left"):
        report([str(root / "b.py"), "--output-format", "html", "-o", str(root / "out.pdf")])
    assert (root / "out.pdf").read_bytes() == good


def _full(descriptor: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


SEEDED_SPLIT = """
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, TensorDataset, random_split

    np.random.seed(0)
    torch.manual_seed(0)
    print(torch.rand(1))
    train, test = random_split(TensorDataset(torch.arange(8.0)), [6, 2])
    for batch in DataLoader(train, shuffle=True):
        print(batch)
"""


def test_a_split_that_repeats_is_the_same_in_every_run(write, monkeypatch, capsys) -> None:
    monkeypatch.chdir(write({"pyproject.toml": "", "train.py": SEEDED_SPLIT}))
    assert report(["."]) == 0
    text = capsys.readouterr().out
    (split,) = [row for row in rows(text, "Checklist for a paper") if row[0].startswith("Details of data splits")]
    assert split[1] == "yes"
    (found,) = [row for row in rows(text, "Findings") if "TRL202" in row[1]]
    assert "--profile strict" in found[2]


def test_a_split_that_nothing_seeds_is_another_one(write, monkeypatch, capsys) -> None:
    text = "".join(line for line in SEEDED_SPLIT.splitlines(keepends=True) if "seed(0)" not in line)
    monkeypatch.chdir(write({"pyproject.toml": "", "train.py": text}))
    assert report(["."]) == 0
    text = capsys.readouterr().out
    (split,) = [row for row in rows(text, "Checklist for a paper") if row[0].startswith("Details of data splits")]
    assert split[1] == "no"
