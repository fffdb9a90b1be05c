"""Each limit of the program model is crossed, and what lies behind it is never denied: a value may be anything then.

For each constant `MAX_...` of the package there is a program in which the fault lies just past the limit: in the last of
many calls, files, values or turns of a loop. What is asked is never proven to be what lies before the limit alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from program.asking import named, program_of

from torchrepro_lint.facts.scopes import MAX_BINDINGS
from torchrepro_lint.program.evaluation import (
    arguments,
    builtin_calls,
    calls,
    changes,
    command_line,
    conditions,
    expressions,
    handed_lists,
    memory,
    names,
    narrowing,
    outside_stores,
    python_calls,
    reliance,
    values,
)
from torchrepro_lint.program.running import call_index, callers, indirect_calls, named_definitions, property_sets

PACKAGE = Path(__file__).parents[2] / "torchrepro_lint" / "program"


class Crossed(NamedTuple):
    """A program whose `y` may be 4, which shows only past the limit; `also` are other answers that are as true."""

    limit: str
    files: Callable[[], str | Mapping[str, str]]
    name: str = "y"
    holds: str = r".*(?:\b4\b|\?).*"


def _states(count: int) -> str:
    steps = ", ".join(f"{number}: {number + 1}" for number in range(count))
    values_of = ", ".join(f"{number}: {4 if number == count - 1 else 0}" for number in range(count + 1))
    return (
        f"NEXT = {{{steps}, {count}: {count}}}\nVALUE = {{{values_of}}}\nstate = 0\n"
        "while flag:\n    state = NEXT[state]\ny = VALUE[state]\n"
    )


def _calling(count: int, *, methods: bool = False) -> str:
    """A function that is called so often with 0, and at last with 4; what it was called with is kept in `y`."""
    head = "class A:\n    def f(self, tag, x):\n        SEEN.append(x)\na = A()\n" if methods else ""
    head = head or "def f(tag, x):\n    SEEN.append(x)\n"
    call = "a.f" if methods else "f"
    lines = [f"{call}('{number}', 0)" for number in range(count)]
    return "\n".join(["SEEN = [0]", head, *lines, f"{call}('last', 4)", "y = SEEN[flag]", ""])


def _calling_files(count: int) -> dict[str, str]:
    files = {f"user{number:03}.py": f"from main import f\nf('{number}', 0)\n" for number in range(count)}
    text = "SEEN = [0]\ndef f(tag, x):\n    SEEN.append(x)\ny = SEEN[flag]\n"
    return files | {"zz_last.py": "from main import f\nf('last', 4)\n", "main.py": text}


def _held(count: int) -> str:
    """A function under so many names, one given to the next, which is called by the last of them."""
    names = [f"g{number} = [g{number - 1}][0]" for number in range(1, count + 1)]
    lines = ["SEEN = [0]", "def g0(x):\n    SEEN.append(x)", "[g0][0](0)", *names, f"[g{count}][0](4)"]
    return "\n".join([*lines, "y = SEEN[flag]", ""])


def _held_calls(count: int) -> str:
    calls = [f"F['f']('{number}', 0)" for number in range(count)]
    lines = ["SEEN = [0]", "def f(tag, x):\n    SEEN.append(x)", "F = {'f': f}", *calls, "F['f']('last', 4)"]
    return "\n".join([*lines, "y = SEEN[flag]", ""])


def _held_in_files(count: int) -> dict[str, str]:
    files = {f"user{number:03}.py": f"import main\n[main.f][0]('{number}', 0)\n" for number in range(count)}
    text = "SEEN = [0]\ndef f(tag, x):\n    SEEN.append(x)\ny = SEEN[flag]\n"
    return files | {"zz_last.py": "import main\n[main.f][0]('last', 4)\n", "main.py": text}


def _through_modules(count: int) -> dict[str, str]:
    """A function that is handed to one which is imported through so many modules."""
    files = {f"m{number}.py": f"from m{number + 1} import run\n" for number in range(count)}
    text = "from m0 import run\nSEEN = [0]\ndef f(x):\n    SEEN.append(x)\nrun(f)\n[f][0](0)\ny = SEEN[flag]\n"
    return files | {f"m{count}.py": "def run(call):\n    call(4)\n", "main.py": text}


def _runners(count: int) -> dict[str, str]:
    """A function that is handed to a method, of which there are many by that name."""
    files = {f"a{number:02}.py": "class Other:\n    def run(self, call):\n        pass\n" for number in range(count)}
    text = (
        "import zz_last\nSEEN = [0]\ndef f(x):\n    SEEN.append(x)\n"
        "runner = zz_last.Runner()\nrunner.run(f)\n[f][0](0)\ny = SEEN[flag]\n"
    )
    return files | {"zz_last.py": "class Runner:\n    def run(self, call):\n        call(4)\n", "main.py": text}


def _set_from_outside(count: int) -> dict[str, str]:
    files = {f"user{number:03}.py": "import main\nmain.VALUE = 0\n" for number in range(count)}
    text = "VALUE = 0\ndef get():\n    return VALUE\ny = get()\n"
    return files | {"zz_last.py": "import main\nmain.VALUE = 4\n", "main.py": text}


def _property_set_from_outside(count: int) -> dict[str, str]:
    files = {f"user{number:03}.py": "import main\nmain.a.x = 0\n" for number in range(count)}
    text = (
        "class A:\n    @property\n    def x(self):\n        return self._x\n"
        "    @x.setter\n    def x(self, x):\n        self._x = x\na = A()\ny = a.x\n"
    )
    return files | {"zz_last.py": "import main\nmain.a.x = 4\n", "main.py": text}


def _distant_calls(count: int) -> dict[str, str]:
    text = (
        "SEEN = [0]\nclass Held:\n    def feed(self, x):\n        SEEN.append(x)\n"
        "one = Held()\none.feed(0)\ny = SEEN[flag]\n"
    )
    files = {f"user{number}.py": "def use(held):\n    held.feed(4)\n" for number in range(count)}
    return files | {"main.py": text, "run.py": "import main, user0\nuser0.use(main.one)\n"}


def _made(count: int) -> str:
    lines = ["class A:", "    def __init__(self, x):", "        self.x = x", "    def show(self):"]
    lines += ["        global y", "        y = self.x"]
    return "\n".join([*lines, *(f"a{number} = A({0 if number < count else 4})" for number in range(count + 1)), ""])


def _nested(count: int) -> str:
    return "\n".join(["y0 = [0, 4][flag]", *(f"y{n + 1} = y{n}" for n in range(count)), f"y = y{count}", ""])


def _deep_list(count: int) -> str:
    return f"x = {'[' * count}4{']' * count}\ny = x{'[0]' * count}\n"


def _deep_calls(count: int) -> str:
    lines = [f"def f{n}(x):\n    return f{n + 1}(x)\n" for n in range(count)]
    return "".join([*lines, f"def f{count}(x):\n    SEEN.append(x)\nSEEN = [0]\nf0(4)\ny = SEEN[flag]\n"])


def _recursion(count: int) -> str:
    return f"def f(n):\n    if n == {count}:\n        return 4\n    if flag:\n        return 0\n    return f(n + 1)\ny = f(0)\n"


def _frames(count: int, given: str) -> str:
    called = ", ".join(f"f({given.replace('N', str(n))}, {n})" for n in range(count))
    return f"def f(x, n):\n    return 4 if n == {count - 1} else 0\nall_of = [{called}]\ny = all_of[{count - 1}]\n"


def _changed(count: int) -> str:
    lines = [f"d['{number}'] = 0" for number in range(count)]
    return "\n".join(["d = {'k': 0}", *lines, "d['k'] = 4", "y = d['k']", ""])


def _changed_by_functions(count: int) -> str:
    functions = [f"def f{n}():\n    d['k'] = {4 if n == count - 1 else 0}\nf{n}()" for n in range(count)]
    return "\n".join(["d = {'k': 0}", *functions, "y = d['k']", ""])


def _set_by_functions(count: int) -> str:
    functions = [f"def f{n}():\n    global d\n    d = {0 if n else 4}" for n in range(count)]
    return "\n".join(["d = 0", *functions, "f0()", "def get():\n    return d", "y = get()", ""])


def _changed_by_calls(count: int) -> str:
    """Of many calls of a function that are passed a dict, the last one changes what is asked for."""
    called = [f"f(d, {n}, [flag])" for n in range(count)]
    body = f"def f(d, n, tag):\n    if n == {count - 1}:\n        d['k'] = 4\n"
    return "\n".join(["d = {'k': 0}", body, *called, "y = d['k']", ""])


def _arms(count: int) -> str:
    lines = ["def f(x):", "    if x == 0:", "        return 0"]
    lines += [line for n in range(1, count) for line in (f"    elif x == {n}:", "        return 0")]
    return "\n".join([*lines, "    else:", "        return 4", "y = f('other')", ""])


def _unrolled(count: int) -> str:
    given = ", ".join(["0"] * (count - 1) + ["4"])
    return f"ys = [x for x in [{given}]]\ny = ys[{count - 1}]\n"


def _dicts(count: int) -> str:
    dicts = ", ".join(f"{{'x': {4 if n == count - 1 else 0}, 'n': {n}}}" for n in range(count))
    return f"SEEN = [0]\ndef f(x, n):\n    SEEN.append(x)\nd = [{dicts}][flag]\nf(**d)\ny = SEEN[flag]\n"


def _reduced(count: int) -> str:
    given = ", ".join(["0"] * (count - 1) + ["4"])
    return f"from functools import reduce\ndef last(a, b):\n    return b\ny = reduce(last, [{given}])\n"


def _tests(count: int) -> str:
    lines = ["def f(x):"]
    for n in range(count):
        lines += [f"    if x == {n + 10}:", "        print(x)"]
    return "\n".join([*lines, "    return x", "y = f([0, 4][flag])", ""])


def _parts(count: int) -> str:
    return f"def f(x):\n    return ({' + '.join(['0'] * count)}) * 0 + x\nf(0)\ny = f(4)\n"


def _names(count: int) -> str:
    lines = ["def f(x):", "    n0 = x"]
    lines += [f"    n{n + 1} = n{n}" for n in range(count)]
    return "\n".join([*lines, f"    return n{count}", "z = f(0)", "y = f(4)", ""])


def _several(count: int) -> str:
    lines = ["y = 0", *(f"if flag{n}:\n    y = 'v{n}'" for n in range(count)), "if last:\n    y = 4", ""]
    return "\n".join(lines)


def _classes(count: int) -> str:
    lines = [f"class C{n}:\n    x = {4 if n == count - 1 else 0}" for n in range(count)]
    chosen = ", ".join(f"C{n}" for n in range(count))
    return "\n".join([*lines, f"c = [{chosen}][flag]", "y = c.x", ""])


def _dotted(count: int) -> str:
    return f"import lib\nx = lib.a{'.next()' * count}\ny = x\n"


def _options(count: int) -> dict[str, str]:
    text = "import argparse\ny = argparse.ArgumentParser().parse_args().workers\n"
    declared = "def add(parser):\n    parser.add_argument('--workers', type=int, choices=[{}])\n"
    files = {f"a{n:02}.py": declared.format(0) for n in range(count)}
    return files | {"z.py": declared.format(4), "main.py": text}


def _subclasses(count: int) -> str:
    lines = ["SEEN = [0]", "class A:\n    def __init__(self, x):\n        SEEN.append(x)"]
    lines += [f"class B{n}(A):\n    pass\nb{n} = B{n}({0 if n < count else 4})" for n in range(count + 1)]
    return "\n".join([*lines, "y = SEEN[flag]", ""])


MANY_MEMBERS = values.MAX_MEMBERS + 1
TABLE = [
    Crossed("evaluation/memory.py:MAX_ROUNDS", lambda: _states(memory.MAX_ROUNDS + 2)),
    Crossed("evaluation/memory.py:MAX_NESTED_QUESTIONS", lambda: _nested(memory.MAX_NESTED_QUESTIONS)),
    Crossed("evaluation/memory.py:MAX_RECURSION", lambda: _recursion(memory.MAX_RECURSION + 4)),
    Crossed("evaluation/memory.py:MAX_CALLERS", lambda: _deep_calls(memory.MAX_CALLERS + 2)),
    Crossed("evaluation/values.py:MAX_ALIKE", lambda: _several(values.MAX_ALIKE)),
    Crossed("evaluation/values.py:MAX_MEMBERS", lambda: _classes(MANY_MEMBERS)),
    Crossed("evaluation/values.py:MAX_DEPTH", lambda: _deep_list(values.MAX_DEPTH + 2)),
    Crossed("evaluation/calls.py:MAX_FRAMES", lambda: _frames(calls.MAX_FRAMES + 2, "[flag, N]")),
    Crossed("evaluation/calls.py:MAX_PLAIN_FRAMES", lambda: _frames(calls.MAX_PLAIN_FRAMES + 14, "[flag, N]")),
    Crossed("evaluation/changes.py:MAX_CHANGES", lambda: _changed(changes.MAX_CHANGES + 1)),
    Crossed(
        "evaluation/changes.py:MAX_CHANGING_SCOPES",
        lambda: _changed_by_functions(changes.MAX_CHANGING_SCOPES + 1),
    ),
    Crossed("evaluation/names.py:MAX_SETTERS", lambda: _set_by_functions(names.MAX_SETTERS + 1)),
    Crossed("evaluation/handed_lists.py:MAX_HANDED", lambda: _changed_by_calls(handed_lists.MAX_HANDED + 1)),
    Crossed("evaluation/conditions.py:MAX_ARMS", lambda: _arms(conditions.MAX_ARMS + 2)),
    Crossed("evaluation/expressions.py:MAX_UNROLLED", lambda: _unrolled(expressions.MAX_UNROLLED + 1)),
    Crossed("evaluation/arguments.py:_MAX_DICTS", lambda: _dicts(arguments._MAX_DICTS + 1)),
    Crossed("evaluation/python_calls.py:_MAX_REDUCED", lambda: _reduced(python_calls._MAX_REDUCED + 1)),
    Crossed("evaluation/narrowing.py:_MAX_TESTS", lambda: _tests(narrowing._MAX_TESTS + 1)),
    Crossed("evaluation/reliance.py:_MAX_PARTS", lambda: _parts(reliance._MAX_PARTS + 1)),
    Crossed("evaluation/reliance.py:_MAX_NAMES", lambda: _names(reliance._MAX_NAMES + 1)),
    Crossed("evaluation/builtin_calls.py:MAX_DOTS", lambda: _dotted(builtin_calls.MAX_DOTS + 1), holds=r"\?"),
    Crossed(
        "evaluation/command_line.py:MAX_FILES", lambda: _options(command_line.MAX_FILES), holds=r"(?!0$).*(?:\b4\b|\?|workers).*"
    ),
    Crossed("running/callers.py:MAX_CONTEXTS", lambda: _calling(callers.MAX_CONTEXTS)),
    Crossed("running/callers.py:MAX_CONTEXTS", lambda: _calling(callers.MAX_CONTEXTS, methods=True)),
    Crossed("running/callers.py:MAX_CONTEXTS", lambda: _made(callers.MAX_CONTEXTS + 1)),
    Crossed("running/callers.py:MAX_CALLS", lambda: _calling(callers.MAX_CALLS + 1)),
    Crossed("running/call_index.py:MAX_FILES", lambda: _calling_files(call_index.MAX_FILES)),
    Crossed("running/call_index.py:MAX_NEAR", lambda: _calling_files(call_index.MAX_NEAR)),
    Crossed("running/call_index.py:MAX_DISTANT", lambda: _distant_calls(call_index.MAX_DISTANT + 1)),
    Crossed("running/call_index.py:MAX_CLASSES", lambda: _subclasses(call_index.MAX_CLASSES)),
    Crossed("running/indirect_calls.py:MAX_HOLDERS", lambda: _held(indirect_calls.MAX_HOLDERS + 1)),
    Crossed("running/indirect_calls.py:MAX_CANDIDATES", lambda: _held_calls(indirect_calls.MAX_CANDIDATES)),
    Crossed("running/indirect_calls.py:MAX_FILES", lambda: _held_in_files(indirect_calls.MAX_FILES)),
    Crossed(
        "running/named_definitions.py:MAX_REEXPORTS", lambda: _through_modules(named_definitions.MAX_REEXPORTS + 1)
    ),
    Crossed("running/named_definitions.py:MAX_METHOD_FILES", lambda: _runners(named_definitions.MAX_METHOD_FILES)),
    Crossed("evaluation/outside_stores.py:MAX_FILES", lambda: _set_from_outside(outside_stores.MAX_FILES)),
    Crossed("running/property_sets.py:MAX_FILES", lambda: _property_set_from_outside(property_sets.MAX_FILES)),
    Crossed("../facts/scopes.py:MAX_BINDINGS", lambda: _several(MAX_BINDINGS + 1)),
]  # fmt: skip


@pytest.mark.parametrize("crossed", TABLE, ids=[f"{one.limit} {number}" for number, one in enumerate(TABLE)])
def test_what_lies_past_a_limit_is_not_denied(tmp_path: Path, crossed: Crossed) -> None:
    found = named(program_of(tmp_path, crossed.files()), crossed.name)
    assert re.fullmatch(crossed.holds, found), found
