"""Any program that is put together from these pieces is seeded soundly, and only once."""

from __future__ import annotations

import ast
import re
from collections import Counter
from textwrap import indent

import libcst as cst
from fixes.helpers import PATH, document, loaders
from hypothesis import given, settings
from hypothesis import strategies as st
from pyflakes.checker import Checker

from torchrepro_lint.diagnostics import Applicability, Fix
from torchrepro_lint.fixes.apply import apply_edits, merge_edits, select_compatible
from torchrepro_lint.fixes.seeding import Declined, plan_worker_seeding
from torchrepro_lint.fixes.seeding_request import LoaderNeeds
from torchrepro_lint.fixes.verified import verify_edit

HEADS = [
    "import torch\nfrom torch.utils.data import DataLoader\n", "import numpy as np\n", "import random\n", "import os\n",
    "from random import random\n", "import torch as th\n", "from __future__ import annotations\n",
    "try:\n    import numpy as np\nexcept ImportError:\n    np = None\n", '"""Doc."""\n', "# Copyright\n", "\n",
    "from torch.utils.data import DataLoader as DL\n", "os.environ['X'] = '1'\n", "g = 1\n", "SEED = 3\n",
    "def seed_worker(i):\n    return i\n",
    "def init(i):\n    np.random.seed(torch.initial_seed() % 2**32)\n",
]  # fmt: skip
CALLS = st.sampled_from([
    "DataLoader(ds)", "DataLoader(ds, shuffle=True, num_workers=2)", "DataLoader(ds, 4, True, **kw)",
    "torch.utils.data.DataLoader(\n    ds,\n    shuffle=True,  # yes\n    num_workers=2,\n)",
    "DataLoader(ds, shuffle=True,\n           num_workers=2)", "DataLoader(ds, generator=None, shuffle=seed)",
    "DataLoader(x for x in ds)", "DataLoader(ds, generator=g)", "DataLoader(ds, worker_init_fn=init, num_workers=1)",
    "DataLoader(\n    train_dataset_with_a_name, shuffle=True, num_workers=number_of_workers\n)",
])  # fmt: skip
USES = st.sampled_from([
    "loader = {}", "return_value = [{}, 1]", "for batch in {}:\n    pass", "with open({}) as f:\n    f = 1",
    "loaders = {{k: {} for k in 'ab'}}", "make = lambda: {}", "if {}:\n    pass\nelif x:\n    pass", "x = 1; y = {}",
    "# loads\nself.loader = {}", "assert {}, 'no'", "if x: y = {}", "class A:\n    y = {}",
    "def f(x={}):\n    pass",
])  # fmt: skip
AROUND = st.sampled_from([
    "{}", "for epoch in range(3):\n{}", "def build(args, seed=None):\n{}", "if x:\n{}\nelse:\n    pass",
    "try:\n{}\nfinally:\n    pass", "class A:\n{}", "def f(g):\n    torch.manual_seed(args.seed)\n{}",
    "for seed in (1, 2):\n    torch.manual_seed(seed)\n{}", "while True:\n    # c\n{}",
    "def outer():\n    '''Doc.'''\n{}\n    build()",
    "if __name__ == '__main__':\n{}\n    for i in x:\n        build(1)",
])  # fmt: skip
SIMPLE = st.sampled_from(["x = 1", "torch.manual_seed(7)", "# a comment", "args = parse()", "seed = args.seed"])


@st.composite
def blocks(draw: st.DrawFn) -> str:
    statements = draw(st.lists(SIMPLE, max_size=2))
    statements.insert(draw(st.integers(0, len(statements))), draw(USES).format(draw(CALLS)))
    text = "\n".join(statements)
    for _ in range(draw(st.integers(0, 3))):
        around = draw(AROUND)
        text = around.format(indent(text, "    ")) if around != "{}" else text
    return text


@st.composite
def programs(draw: st.DrawFn) -> str:
    head = draw(st.lists(st.sampled_from(HEADS), max_size=5, unique=True))
    parts = draw(st.lists(blocks(), min_size=1, max_size=3))
    text = "".join(head) + draw(st.sampled_from(["", "\n", "\n\n"])) + "\n\n".join(parts)
    text += draw(st.sampled_from(["", "\n", "\n\n# end\n"]))
    if draw(st.booleans()):
        text = text.replace("    ", "\t")
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return text


def plans(text: str) -> list[Fix]:
    parsed = document(text)
    found = [
        plan_worker_seeding(parsed, call, LoaderNeeds(init=_lacks_init(call), generator=True))
        for call in loaders(parsed)
    ]
    return [Fix(Applicability.SAFE, "", plan.edits) for plan in found if not isinstance(plan, Declined)]


def _lacks_init(call: cst.Call) -> bool:
    return all(argument.keyword is None or argument.keyword.value != "worker_init_fn" for argument in call.args)


def new_last_errors(before: str, after: str) -> Counter[tuple[str, str]]:
    """What pyflakes says of the fixed program and did not say of the other: names not bound, bound in vain, twice."""
    found = [
        Counter(
            (type(message).__name__, str(message.message_args[:1])) for message in Checker(ast.parse(text)).messages
        )
        for text in (before, after)
    ]
    return found[1] - found[0]


@settings(max_examples=150, deadline=None)
@given(programs())
def test_any_program(text: str) -> None:
    try:
        compile(text, "program", "exec")
    except SyntaxError:
        return
    first = text
    for _ in range(12):
        edits = merge_edits(select_compatible(plans(text))).get(PATH, [])
        if not edits:
            break
        fixed = apply_edits(text, edits)
        assert verify_edit(text, fixed, edits) is None, fixed
        text = fixed
    else:
        raise AssertionError(f"still not through after twelve rounds:\n{text}")
    if "\r\n" in first:
        assert text.count("\r\n") == text.count("\n")
    # A definition is made once; a generator is seeded where it is made.
    assert text.count("def seed_worker(worker_id)") <= 1
    seedings = len(re.findall(r"\.manual_seed\(", text)) - len(re.findall(r"\.manual_seed\(", first))
    makers = r"(?:torch|th)\.Generator\(\)"
    assert len(re.findall(makers, text)) - len(re.findall(makers, first)) == seedings
    # No two loaders share one that was written.
    given = r"generator=(?!None)[\w.]+"
    assert len(re.findall(given, text)) - len(re.findall(given, first)) <= seedings
    assert not new_last_errors(first, text), text
    # Nothing that was there is lost or moved; only `generator=None` is replaced.
    words = iter(re.findall(r"\w+", text))
    kept = re.findall(r"\w+", first.replace("generator=None", "generator"))
    assert all(word in words for word in kept)
