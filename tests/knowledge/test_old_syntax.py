"""What a line with a syntax error says of the Python that it was written for."""

from __future__ import annotations

import pytest

from torchrepro_lint.diagnostics import Severity
from torchrepro_lint.engine import check
from torchrepro_lint.knowledge.old_syntax import is_of_an_older_python, older_form

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
    (finding,) = check([root]).findings
    assert (finding.code, finding.severity, finding.location.start.row) == ("TRL900", severity, 2)
    assert finding.message.startswith(f"this file cannot be read: {words}")
    left = check([root], {"min_severity": "error"}).findings
    assert bool(left) is (severity is Severity.ERROR)
