"""The commands that a project gives in scripts, READMEs and CI files, and which options they turn on.

A configuration in JSON counts as one that may turn an option on wherever it has the name of the option.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from torchrepro_lint.regular_files import read_regular
from torchrepro_lint.source.outside import SCRIPTS, files_below

__all__ = [
    "ALL_COMMANDS",
    "commands_below",
    "commands_digest",
    "digest_of",
    "files_run",
    "given_in_code",
    "name_file",
    "turn_on",
    "values_of",
    "without_comments",
]

#: What the cache of results calls the question for the contents of all these files.
ALL_COMMANDS = "*.sh"

_MAX_FILES = 2_000
_MAX_BYTES = 200_000
_OTHERS = re.compile(r"(?:README|INSTALL|USAGE).*|.*\.(?:md|rst|json|ipynb)", re.IGNORECASE)
#: A file that is named, and a module that is run: `python tools/train.py`, `python -m tools.train`.
_FILE = re.compile(rb"([\w.-]+\.py)\b")
_MODULE = re.compile(rb"(?<![\w-])-m[ \t]+(?:\w+\.)*(\w+)")
#: Files whose lines are comments where they begin with `#`, as they do not in a README.
_SHELL = re.compile(r".*\.(?:sh|bash|zsh|slurm|sbatch|job)", re.IGNORECASE)
#: A comment of a shell: a line, or a block that a command which does nothing is given to read (`: <<END`).
_COMMENT = re.compile(
    rb"^[ \t]*#.*$|^[ \t]*:[ \t]*<<-?[ \t]*[\"']?(\w+)[\"']?[ \t]*\n(?:.*\n)*?[ \t]*\1[ \t]*$", re.MULTILINE
)
#: What starts a file in a command: a sentence may name several.
_STARTS = re.compile(rb"\b(?:python[\d.]*|torchrun|deepspeed|accelerate)[ \t]")
_OFF = frozenset({b"0", b"0.", b"0.0", b"False", b"false", b"None", b"none"})


def commands_below(root: Path) -> dict[str, bytes]:
    """The texts of such files below `root`, by their paths from there and in the order of these; no more than some
    thousand.
    """
    return {str(path.relative_to(root)): _read(path) for path in _files(root)}


def commands_digest(root: Path) -> str:
    """A digest of the names and the contents of these files."""
    return digest_of(commands_below(root))


def digest_of(commands: Mapping[str, bytes]) -> str:
    """The digest of what `commands_below` has read."""
    digest = hashlib.sha256()
    for path, text in commands.items():
        digest.update(f"{path}\0".encode(errors="surrogateescape"))
        digest.update(hashlib.sha256(text).digest())
    return digest.hexdigest()


def files_run(texts: Iterable[bytes]) -> frozenset[str]:
    """The names of the Python files that some of the texts name, or run as modules: `train.py`."""
    found: set[bytes] = set()
    for text in texts:
        found.update(_FILE.findall(text))
        found.update(module + b".py" for module in _MODULE.findall(text))
    return frozenset(one.decode(errors="replace") for one in found)


def without_comments(commands: Mapping[str, bytes]) -> list[bytes]:
    """The texts that `commands_below` has read, those of shell scripts without what is commented out there."""
    return [_COMMENT.sub(b"", text) if _SHELL.fullmatch(path) else text for path, text in commands.items()]


def name_file(texts: Iterable[bytes], name: str) -> bool:
    """Whether some of the texts name a file."""
    return any(name.encode() in text for text in texts)


def turn_on(texts: Iterable[bytes], flag: str, programs: Container[str], *, takes_value: bool) -> bool:
    """Whether some of the texts turn the option `flag` of some programs on: by naming it, or for an option that takes a
    value by giving another one than 0, False and None. A command that starts another file is none of theirs.
    """
    name = flag.lstrip("-").encode()
    told = re.compile(rb"(?<![\w-])-{1,2}%s(?![\w-])(?:[ \t]*=?[ \t]*[\"']?([^\s\"'\\\\]+))?" % re.escape(name))
    setting = re.compile(rb"[\"']%s[\"']\s*:" % re.escape(name))
    return any(
        setting.search(text)
        or any(
            not takes_value or found[1] not in _OFF
            for found in told.finditer(text)
            if _may_be_of(text, found.start(), programs)
        )
        for text in texts
    )


def _may_be_of(text: bytes, at: int, programs: Container[str]) -> bool:
    """Whether what a text says at a place is no command that starts a file which is none of some."""
    start = at
    while (start := text.rfind(b"\n", 0, start)) > 0 and text[:start].rstrip(b"\r ").endswith(b"\\"):
        pass
    command = text[start + 1 : at]
    named = [one.decode(errors="replace") for one in _FILE.findall(command)]
    return not named or _STARTS.search(command) is None or any(one in programs for one in named)


def values_of(text: bytes, name: str) -> frozenset[bytes]:
    """The values that a text gives an option: `--every 5`, `--every=5`, `train.every=5`, and `"every": 5` in JSON."""
    word = re.escape(name.encode()).replace(b"_", b"[_-]")
    value = rb"""["']?([^\s"',;\\`)}\]]+)"""
    told = re.compile(rb"(?<![\w-])--?%s(?:[ \t]+|[ \t]*=[ \t]*)(?!-{1,2}[A-Za-z])%s" % (word, value))
    override = re.compile(rb"(?:^|(?<=[\s.+]))%s=%s" % (word, value))
    setting = re.compile(rb"[\"']%s[\"']\s*:\s*%s" % (word, value))
    return frozenset(one for found in (told, override, setting) for one in found.findall(text))


def given_in_code(name: str) -> re.Pattern[bytes]:
    """What finds the values of an option in the lists with which programs start others: `"--every", "5"`."""
    word = re.escape(name.encode()).replace(b"_", b"[_-]")
    return re.compile(rb"""["']--?%s(?:["']\s*,\s*(?:str\(|f?["'])|=)([\w.+{][\w.+-]*)""" % word)


def _files(root: Path) -> Iterator[Path]:
    found = files_below(root, lambda name: SCRIPTS.fullmatch(name) or _OTHERS.fullmatch(name))
    return islice(found, _MAX_FILES)


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, _MAX_BYTES)
    except OSError:
        return b""
