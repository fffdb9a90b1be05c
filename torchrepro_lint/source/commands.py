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
    "short_values_of",
    "starts_without",
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
#: A line that goes on in the next one, and a variable that may hold any options.
_CONTINUED = re.compile(rb"\\[ \t]*\r?\n")
_MAY_HOLD = re.compile(rb"\$[@*\d]|\$\{?\w*(?:ARG|OPT|PARAM|FLAG|CONF)|\[@\]|--help\b", re.IGNORECASE)
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
    """The values that a text gives an option: `--every 5`, `--every=5`, `train.every=5`, each of `every=1,5`, and
    `every = 5` in a TOML file and `"every": 5` in JSON.
    """
    word = _word(name)
    value = rb"""["']?([^\s"',;\\`)}\]]+)"""
    told = re.compile(rb"(?<![\w-])--?%s(?:[ \t]+|[ \t]*=[ \t]*)(?!-{1,2}[A-Za-z])%s" % (word, value))
    override = re.compile(rb"(?:^|(?<=[\s.+]))%s=%s" % (word, value))
    line = re.compile(rb"^[ \t]*%s[ \t]*=[ \t]*%s" % (word, value), re.MULTILINE)
    setting = re.compile(rb"[\"']%s[\"']\s*:\s*%s" % (word, value))
    several = re.compile(rb"(?<=[\s.+])%s=([\w.+-]+(?:,[\w.+-]+)+)" % word)
    found = {one for each in (told, override, line, setting) for one in each.findall(text)}
    return frozenset(found.union(*(each.split(b",") for each in several.findall(text))))


def short_values_of(text: bytes, flag: str, programs: Iterable[str]) -> frozenset[bytes]:
    """The values that the commands which start one of some programs give a short flag: `python train.py -e 5`."""
    told = re.compile(rb"(?<![\w-])%s(?:[ \t]+|=)(?!-{1,2}[A-Za-z])[\"']?([^\s\"',;\\`]+)" % re.escape(flag.encode()))
    return frozenset(one for command in _commands_of(text, programs) for one in told.findall(command))


def starts_without(text: bytes, flags: Iterable[str], programs: Iterable[str]) -> bool:
    """Whether a text has a command that starts one of some programs and gives none of the flags, nor a variable that
    may hold them.
    """
    given = [re.compile(rb"(?<![\w-])-{1,2}%s(?![\w-])" % _word(one.lstrip("-"))) for one in flags]
    return any(
        not _MAY_HOLD.search(command) and not any(one.search(command) for one in given)
        for command in _commands_of(text, programs)
    )


def _commands_of(text: bytes, programs: Iterable[str]) -> Iterator[bytes]:
    """The commands in a text that start one of some programs, each as one line."""
    names = [one.encode() for one in programs]
    if any(name in text for name in names):
        for line in _CONTINUED.sub(b" ", text).splitlines():
            if _STARTS.search(line) and any(one in names for one in _FILE.findall(line)):
                yield line


def given_in_code(name: str) -> re.Pattern[bytes]:
    """What finds the values of an option in the lists and commands with which programs start others: `"--every", "5"`,
    `f"python train.py --every {every}"`.
    """
    word = _word(name)
    in_list = rb"""["']--?%s(?:["']\s*,\s*(?:str\(|f?["']|(?=[\w.]+\s*[,\])]))|=|[ ]+)""" % word
    in_command = rb"""\.py [^"'\n]*?--%s[ =]+""" % word
    return re.compile(rb"""(?:%s|%s)([\w.+{%%][\w.+-]*)""" % (in_list, in_command))


def _word(name: str) -> bytes:
    return re.escape(name.encode()).replace(b"_", b"[_-]").replace(rb"\-", b"[_-]")


def _files(root: Path) -> Iterator[Path]:
    found = files_below(root, lambda name: SCRIPTS.fullmatch(name) or _OTHERS.fullmatch(name))
    return islice(found, _MAX_FILES)


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, _MAX_BYTES)
    except OSError:
        return b""
