"""What a few lines could make as large as they like is bounded: counted in the parts of a value, not in seconds."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from program.asking import named, program_of

from torchrepro_lint.facts.scopes import END
from torchrepro_lint.program.evaluation.arithmetic import MAX_BITS, MAX_TEXT
from torchrepro_lint.program.evaluation.values import MAX_PARTS, Constant, DictValue, SequenceValue, Value, Values

# Each takes `x` to something larger, most of them to twice as much.
GROWING = [
    "x = x + x",
    "x += x",
    "x = x * x",
    "x = x * 2",
    "x = x ** x",
    "x = x ** 3",
    "x = 2 ** x",
    "x = x << x",
    "x = 1 << x",
    "x = -x - x",
    "x = x / 3",
    "x = x % 7 + x",
    "x = [*x, *x]",
    "x = (x, x)",
    "x = [x] * 9",
    "x = [x, x, x, x, x, x, x, x]",
    "x = {'a': x, 'b': x}",
    "x = {**x, 'k$': x}",
    "x['k$'] = x",
    "x = dict(x, k$=x)",
    "x.extend(x)",
    "x.append(x)",
    "x.update(x)",
    "x = tuple(x) + tuple(x)",
    "x = list(zip(x, x))",
    "x = list(enumerate(x))",
    "x = [y for z in x for y in (z, z)]",
    "x = [(y, y) for y in x]",
    "x = f(*x, *x)",
    "x = f'{x}{x}'",
    "x = '%s%s' % (x, x)",
    "x = '{0}{0:>999999999}'.format(x)",
    "x = str(x) + str(x)",
    "x = int(x)",
    "x = float(x)",
    "x = x.zfill(10 ** 9)",
    "x = x.ljust(10 ** 9)",
    "x = x.replace('a', x)",
    "x = x.join([x, x])",
    "x = x.encode() * 9",
    "x = x if c else x + x",
]
BEGINNINGS = [
    "3",
    "-7",
    "2.5",
    "True",
    "'a'",
    "'9'",
    "b'ab'",
    "[1]",
    "(1, 'a')",
    "{'a': 1}",
    "None",
    "9" * 4000,
    f"'{'9' * 5000}'",
]


def value_of(lines: str) -> Values:
    with tempfile.TemporaryDirectory() as folder:
        program = program_of(Path(folder), "def f(*a):\n    return a\n" + lines)
        facts = program.facts(Path(folder) / "main.py")
        assert facts is not None
        return program.ev.name("x", END, program.ev.module_frame(facts))


def parts_of(value: Value) -> list[Values]:
    match value:
        case SequenceValue(items=items, element=element):
            return [*(items or ()), element]
        case DictValue(entries=entries, rest=rest):
            return [*(values for _, values, _ in entries), rest]
    return []


def assert_is_bounded(values: Values) -> None:
    seen: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        parts = parts_of(value)
        assert len(parts) <= MAX_PARTS + 1
        pending += [inner for part in parts for inner in part]
        if isinstance(value, Constant):
            match value.value:
                case int() as number:
                    assert number.bit_length() <= max(MAX_BITS, len(BEGINNINGS[-2]) * 4)
                case str() | bytes() as text:
                    assert len(text) <= max(MAX_TEXT, len(BEGINNINGS[-1]))
    assert len(seen) < 40 * MAX_PARTS


@pytest.mark.parametrize("line", GROWING)
@pytest.mark.parametrize("beginning", BEGINNINGS, ids=range(len(BEGINNINGS)))
def test_no_line_grows_a_value_for_ever(beginning: str, line: str) -> None:
    lines = "".join(line.replace("$", str(number)) + "\n" for number in range(40))
    assert_is_bounded(value_of(f"x = {beginning}\n{lines}"))


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.sampled_from(BEGINNINGS), st.lists(st.sampled_from(GROWING), min_size=5, max_size=40))
def test_no_mixture_of_lines_does(beginning: str, lines: list[str]) -> None:
    text = "".join(line.replace("$", str(number)) + "\n" for number, line in enumerate(lines))
    assert_is_bounded(value_of(f"x = {beginning}\n{text}"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 2 ** 64 - 1", str(2**64 - 1)),
        ("x = 1 << 200", str(1 << 200)),
        ("x = 2 ** 1100", "?"),
        ("x = (2 ** 1000) * (2 ** 1000)", "?"),
        ("x = (-8) ** 0.5", "?"),
        ("x = 2 ** -1", "?"),
        ("x = 1e308 * 10 - 1e308 * 10", "?"),
        ("x = int('9' * 5000)", "?"),
        (f"x = int('{'9' * 5000}')", "?"),
        (f"x = '{'a' * 600}' + '{'a' * 600}'", "?"),
        (f"x = [{'1, ' * 399}]\nx = len(x)", "399"),
        (f"x = [{'1, ' * 300}]\nx = len(x + x)", "?"),
        (f"x = [{'1, ' * 300}]\nx = (x + x)[5]", "1"),
    ],
    ids=range(13),
)
def test_what_is_computed_is_right_or_unknown(tmp_path: Path, text: str, expected: str) -> None:
    assert named(program_of(tmp_path, text), "x") == expected
