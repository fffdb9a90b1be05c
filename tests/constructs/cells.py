"""The programs of the table: a construct between the two ends of a client."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from .clients import ARRIVING, Client
from .python import CONSTRUCTS

#: In a construct, where the value begins, and the call in whose argument it arrives.
SOURCE, SINK = "SOURCE", "SINK("
_FILE = re.compile(r"^--- (\S+)\n", re.M)


@dataclass(frozen=True)
class Construct:
    """A way in which Python carries a value, as the files of a program: `SOURCE` is where the value begins, and the
    argument of `SINK(...)` is where it arrives."""

    name: str
    part: str
    files: tuple[tuple[str, str], ...]


@cache
def constructs() -> tuple[Construct, ...]:
    """All constructs, in the order in which they are written."""
    found = []
    for part, text in CONSTRUCTS.items():
        for block in re.split(r"^== ", text, flags=re.M)[1:]:
            name, _, program = block.partition("\n")
            first, *others = _FILE.split(program)
            files = [("main.py", first), *zip(others[::2], others[1::2], strict=True)]
            found.append(Construct(name, part, tuple((file, written.strip("\n")) for file, written in files)))
    return tuple(found)


def program(construct: Construct, client: Client, source: str, sink: str) -> dict[str, str]:
    """The files of a program in which a construct carries `source` to `sink`."""
    texts = {}
    for file, written in construct.files:
        parts = []
        if file == "main.py":
            parts.append(client.head)
        if SOURCE in written:
            parts.append(client.begins)
        if SINK in written:
            parts.append(client.ends)
        parts.append(with_ends(written, source, sink))
        if file == "main.py":
            parts.append(client.tail)
        texts[file] = "".join(f"{part}\n" for part in parts if part)
    return texts


def left_out(construct: Construct, client: Client) -> str | None:
    """Why there is no cell for a construct and a client; None where there is one."""
    if construct.name == "argparse default":
        if client.proven:
            return "the user may give something else, so nothing is proven"
        if not client.is_plain:
            return "a command line gives numbers and texts, and no objects"
    if "\n" in client.source + client.sink + "".join(client.innocent_sinks):
        if any("lambda" in line and SINK in line for _, text in construct.files for line in text.splitlines()):
            return "a lambda holds an expression, and the sink is a statement"
        if construct.name == "written in place":
            return "the sink begins with a name"
    return None


def bad(construct: Construct, client: Client) -> dict[str, str]:
    """The program in which the client is to find something."""
    return program(construct, client, client.source, client.sink)


def twins(construct: Construct, client: Client) -> list[dict[str, str]]:
    """The programs of the same form in which there is nothing to find."""
    return [
        *(program(construct, client, source, client.sink) for source in client.innocent_sources),
        *(program(construct, client, client.source, sink) for sink in client.innocent_sinks),
    ]


def with_ends(text: str, source: str, sink: str) -> str:
    """The text of a construct with its ends in it. A sink of several lines stands for a statement."""
    while (start := text.find(SINK)) >= 0:
        inner = start + len(SINK)
        end, depth = inner, 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        indent = text[text.rfind("\n", 0, start) + 1 : start]
        filled = sink.replace(ARRIVING, text[inner : end - 1]).replace("\n", f"\n{indent}")
        text = text[:start] + filled + text[end:]
    return text.replace(SOURCE, source)
