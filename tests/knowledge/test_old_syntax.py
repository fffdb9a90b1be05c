"""What a line with a syntax error says of the Python that it was written for."""

from __future__ import annotations

import pytest

from torchrepro_lint.diagnostics import Severity
from torchrepro_lint.engine import check
from torchrepro_lint.knowledge.old_syntax import (
    form_of_no_module,
    is_meant_for_no_module,
    is_of_an_older_python,
    older_form,
)

_OLD = [
    "print 'two'",
    "if x: print x, y",
    "print >>sys.stderr, 'x' % 1",
    "exec 'x = 1'",
    "except ValueError, error:",
    "except (ValueError, KeyError), error:",
    "raise ValueError, 'no'",
    "key=lambda (name, value): value",
    "def size(self, (rows, columns)):",
    "def size((rows, columns)):",
    "os.chmod(path, 0755)",
    "limit = 10L",
    "if a <> b:",
    "name = `value`",
    "text = ur'x'",
    "x = x.cuda(async=True)",
    "from tornado import async",
]
_NEW = [
    "print('two'",
    "loader = DataLoader(data, shuffle=True generator=g)",
    "def f(a, b=(1, 2) c):",
    "def f(a, b: tuple[int, int] = (1, 2) c):",
    "x = 10 L",
    "x = [0, 00, 1 2]",
    "except ValueError as error",
    "raise ValueError('a', 'b'",
    "async def f()",
    "y = 0.05 2",
    "day = '2021-05' '<>' 2",
    "x = 0x1f 2  # print this",
    "f(lambda: (1, 2) 3)",
]


@pytest.mark.parametrize("line", _OLD)
def test_a_form_of_an_older_python_is_named(line: str) -> None:
    cause = older_form(line)
    assert cause is not None and is_of_an_older_python(cause)


@pytest.mark.parametrize("line", _NEW)
def test_an_error_of_today_is_not_taken_for_one(line: str) -> None:
    assert older_form(line) is None


@pytest.mark.parametrize("line", _OLD)
def test_what_only_python_2_reads_is_told_from_what_a_word_mends(line: str) -> None:
    cause = older_form(line)
    assert cause is not None and is_meant_for_no_module(cause) is ("async" not in line)


@pytest.mark.parametrize(
    "line",
    [
        "from {{ cookiecutter.package }} import train",
        "{% if cookiecutter.use_hydra %}",
        "loader = ${LOADER}",
        "CODE_DIR = <Path to repo 'code' dir>",
        "train(root=<your folder>, epochs=3)",
        "!pip install torch",
        "    !unzip data.zip -d /",
        "%cd src",
        "%%time",
        "[docs]def to_hetero(module: Module, debug: bool = False):",
        "    path =",
        "root =  # your folder",
        "for name in os.listdir(root + ):",
        "data = load(root=, train=True)",
        "image = read(folder + '/' + , 1)",
    ],
)
def test_what_is_no_module_is_named(line: str) -> None:
    cause = form_of_no_module(line)
    assert cause is not None and is_meant_for_no_module(cause)


@pytest.mark.parametrize(
    "line",
    [
        *_NEW,
        "if a < b and c > d",
        "x = (a <b> c",
        "name = '{{ name }}' 'x",
        "    % rest 2",
        "y = x %z 2",
        "!= 3",
        ">>>>>>> e4b3355",
        "values = {k: {v} for k, v in x",
        "def f(x) -> List<int>:",
        "def f(a, *, b):",
        "def f(a, /, b) -> List<int>:",
        "f(*, a b)",
        "x == ",
        "values = [a, b c]",
    ],
)
def test_a_slip_is_not_taken_for_a_template(line: str) -> None:
    assert form_of_no_module(line) is None


@pytest.mark.parametrize(
    ("text", "severity", "words"),
    [
        ("print torch.rand(2)\n", Severity.WARNING, "`print` is a statement here, as in Python 2"),
        ("torch.rand(2).cuda(async=True)\n", Severity.WARNING, "`async=` is an argument here"),
        ("f(torch.rand(2)\n", Severity.ERROR, "syntax error: "),
    ],
)
def test_code_for_an_older_python_is_a_warning(write, text: str, severity: Severity, words: str) -> None:
    root = write({"torchrepro-lint.toml": "", "a.py": f"import torch\n{text}"})
    (finding,) = check([root / "a.py"]).findings
    assert (finding.code, finding.severity, finding.location.start.row) == ("TRL900", severity, 2)
    assert finding.message.startswith(f"this file cannot be read: {words}")
    left = check([root / "a.py"], {"min_severity": "error"}).findings
    assert bool(left) is (severity is Severity.ERROR)
