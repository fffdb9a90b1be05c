"""A node is found again by the places of its first and last character, wherever it stands."""

from __future__ import annotations

import libcst as cst
import pytest
from fixes.helpers import document

HOLDERS = [
    "x = CALL\n",
    "x = (CALL)\n",
    "@CALL\ndef f(): pass\n",
    "@(CALL)\nclass C: pass\n",
    "def f(a, b=CALL, c=1): pass\n",
    "def f(a: int = (CALL)): pass\n",
    "def f(a: CALL, *, b: CALL2 = 1): pass\n",
    "def f() -> CALL: pass\n",
    "def f(*args: CALL): pass\n",
    "f = lambda a, b=CALL: a\n",
    "f = lambda: CALL\n",
    "class C(CALL): pass\n",
    "class C(metaclass=CALL): pass\n",
    "with CALL as x, CALL2: pass\n",
    "for x in CALL: pass\n",
    "while CALL: pass\n",
    "if x: pass\nelif CALL: pass\n",
    "match CALL:\n    case 1 if CALL2: pass\n",
    "try: pass\nexcept CALL: pass\n",
    "assert CALL, CALL2\n",
    "raise CALL from CALL2\n",
    "del CALL[0]\n",
    "x[CALL:CALL2] = CALL3\n",
    "x = [CALL for y in CALL2 if CALL3]\n",
    "x = {CALL: CALL2, **CALL3}\n",
    "x = f'{CALL!r:>{CALL2}}'\n",
    "x = g(*CALL, **CALL2)\n",
    "x = (yield CALL)\n",
    "x: CALL = CALL2\n",
    "x += CALL\n",
    "async def f():\n    await CALL\n",
]


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_call_is_found_wherever_it_stands(holder: str) -> None:
    text = holder.replace("CALL3", "c(3)").replace("CALL2", "b(2)").replace("CALL", "a(1)")
    parsed = document(text)
    for call in ("a(1)", "b(2)", "c(3)"):
        if call in text:
            start = text.index(call)
            assert parsed.node_at(start, start + len(call), cst.Call) is not None
