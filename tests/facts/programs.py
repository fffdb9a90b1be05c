"""Random programs of every statement and expression form, for properties that hold for any text."""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "cfg", "np", "self", "x1", "änd"])
ATOMS = st.one_of(
    NAMES,
    st.sampled_from(
        ["1", "0x_ff", "1_0.5e3", "2j", "'s'", 'b"b"', "r'\\d'", "'''t\n\tt'''", "None", "True", "...", "'a' 'b'", "''"]
    ),
)


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, inner)
    return st.one_of(
        two.map(lambda t: f"({t[0]} + {t[1]})"),
        two.map(lambda t: f"{t[0]}  if  {t[1]} else ( {t[0]} )").map(lambda t: f"({t})"),
        two.map(lambda t: f"({t[0]} and not {t[1]})"),
        two.map(lambda t: f"({t[0]} < {t[1]} not in {t[0]})"),
        st.tuples(NAMES, inner, inner).map(lambda t: f"{t[0]}({t[1]}, *{t[2]}, k={t[1]}, **{t[0]})"),
        st.tuples(NAMES, inner).map(lambda t: f"{t[0]}.attr[{t[1]}, 1:{t[1]}:2]"),
        two.map(lambda t: f"[{t[0]}, *{t[1]}, ]"),
        two.map(lambda t: f"{{{t[0]}: {t[1]}, **{t[0]}}}"),
        two.map(lambda t: f"{{{t[0]}, {t[1]}}}"),
        two.map(lambda t: f"({t[0]}, {t[1]})"),
        st.tuples(NAMES, inner, inner).map(lambda t: f"[{t[1]} for {t[0]} in {t[2]} if {t[0]}]"),
        st.tuples(NAMES, inner, inner).map(lambda t: f"{{{t[0]}: {t[1]} for {t[0]}, _ in {t[2]}}}"),
        st.tuples(NAMES, inner, inner).map(lambda t: f"(lambda {t[0]}, /, q={t[1]}, *r, s, **k: {t[2]})"),
        st.tuples(NAMES, inner).map(lambda t: f"({t[0]} := {t[1]})"),
        NAMES.map(lambda name: f"f'{{{name}!r:>{{{name}}}}} t'"),
        inner.map(lambda t: f"(-{t})"),
    )


EXPRESSIONS = st.recursive(ATOMS, _grow, max_leaves=6)

SIMPLE = st.one_of(
    EXPRESSIONS,
    st.tuples(NAMES, EXPRESSIONS).map(lambda t: f"{t[0]} = {t[0]}.x = {t[1]}"),
    st.tuples(NAMES, EXPRESSIONS).map(lambda t: f"{t[0]}, *rest = {t[1]}"),
    st.tuples(NAMES, EXPRESSIONS).map(lambda t: f"{t[0]}: list[int] = {t[1]}"),
    st.tuples(NAMES, EXPRESSIONS).map(lambda t: f"{t[0]} //= {t[1]}"),
    EXPRESSIONS.map(lambda e: f"assert {e}, {e}"),
    EXPRESSIONS.map(lambda e: f"raise {e} from {e}"),
    NAMES.map(lambda n: f"del {n}, {n}[0]"),
    st.sampled_from(["pass", "import a.b as c, d", "from ..a import (b as c, d,)", "from . import x; y = 1"]),
)

NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])


def _indented(block: str, by: str) -> str:
    # A text over several lines keeps its own: only the first line of each statement is moved.
    return "".join(f"{by}{statement}\0" for statement in block.split("\0") if statement)


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    heads = st.tuples(inner, inner, EXPRESSIONS, NAMES, st.sampled_from(["  ", "    ", "\t"]))

    def build(kind: str) -> st.SearchStrategy[str]:
        def made(parts: tuple[str, str, str, str, str]) -> str:
            first, second, test, name, by = parts
            a, b = _indented(first, by), _indented(second, by)
            return {
                "if": f"if {test}:  # why\0{a}elif {name}:\0{b}else:\0{a}",
                "for": f"for {name}, _ in {test}:\0{a}else:\0{b}",
                "while": f"while {test}:\0{a}",
                "with": f"with {test} as {name}, {name}:\0{a}",
                "try": f"try:\0{a}except ({name}, ValueError) as error:\0{b}else:\0{a}finally:\0{b}",
                "match": f"match {test}:\0{by}case [1, {name}, *_]:\0{_indented(a, by)}"
                f"{by}case {{'k': 2, **r}} | C(x=3) if {name}:\0{_indented(b, by)}",
                "def": f"@{name}\0@{name}({test})\0async def f(p, /, q: {name} = {test}, *r, s=1, **t) -> {name}:\0{a}",
                "class": f"@{name}.d\0class C({name}, metaclass={name}):\0{a}",
            }[kind]

        return heads.map(made)

    return st.one_of(*(build(k) for k in ("if", "for", "while", "with", "try", "match", "def", "class")))


BLOCKS = st.recursive(
    st.lists(SIMPLE, min_size=1, max_size=3).map(lambda lines: "".join(f"{line}\0" for line in lines)),
    _compound,
    max_leaves=4,
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A text, with any of the three line endings, comments, blank lines, and perhaps no newline at its end."""
    blocks = draw(st.lists(BLOCKS, max_size=3))
    newline = draw(NEWLINES)
    lines = []
    for statement in "".join(blocks).split("\0"):
        lines.append(statement)
        if draw(st.integers(0, 9)) == 0:
            lines.append(draw(st.sampled_from(["", "    # comment", "\x0c", "  "])))
    text = "\n".join(lines)
    if draw(st.booleans()):
        text = text.rstrip("\n")
    return text.replace("\n", newline)
