"""The YAML files of a project, which frameworks read as configurations."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from itertools import accumulate, islice
from pathlib import Path

from torchrepro_lint.regular_files import note, read_regular
from torchrepro_lint.source.commands import ALL_COMMANDS, commands_digest
from torchrepro_lint.source.outside import SKIPPED, files_below, is_named_below

__all__ = [
    "ALL_CONFIGURATIONS",
    "answer_outside",
    "configurations_below",
    "configurations_digest",
    "names_setting",
    "read_configuration",
    "settings_of",
    "targets_below",
    "words_below",
    "yaml_files",
]

#: What the cache of results calls the question for the contents of all these files.
ALL_CONFIGURATIONS = "*.yaml"

_MAX_FILES = 2_000
_MAX_BYTES = 200_000
#: In a mapping of several lines or of one; what JSON calls so as well.
_TARGET = re.compile(rb"""(?:_target_|\bclass_path)["']?\s*:\s*["']?([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)+)""")
#: A scalar in a list.
_VALUE = re.compile(rb"[\w.+-]+(?![\w:])")
_CAPITALISED = re.compile(rb"\b[A-Z][A-Za-z0-9_]*\b")
_MAX_NESTING = 200  # PyYAML looks at all open brackets at each: ten thousand take minutes
# What PyYAML raises of values that are not what their tags say, such as `!!bool maybe` or an empty `!!float`.
_FAULTS = (ValueError, LookupError, AttributeError, TypeError, ArithmeticError, RecursionError)


def yaml_files(root: Path) -> list[Path]:
    """The YAML files below `root`, in order; no more than some thousand."""
    files = files_below(root, lambda name: name.endswith((".yaml", ".yml")), SKIPPED | {"site-packages"})
    return list(islice(files, _MAX_FILES))


def configurations_digest(root: Path) -> str:
    """A digest of the names and the contents of all YAML files below `root`."""
    digest = hashlib.sha256()
    for path in yaml_files(root):
        digest.update(f"{path.relative_to(root)}\0".encode(errors="surrogateescape"))
        digest.update(hashlib.sha256(_read(path)).digest())
    return digest.hexdigest()


def configurations_below(root: Path) -> Iterator[Mapping[str, object]]:
    """The mappings in the YAML files below `root`, in the order of these, as `read_configuration` reads each."""
    return map(read_configuration, yaml_files(root))


def targets_below(root: Path) -> frozenset[str]:
    """The dotted names of what the YAML files below `root` say is to be constructed or called: `_target_: data.Images`
    (Hydra), `class_path: data.Images` (LightningCLI).
    """
    found = (name for path in yaml_files(root) for name in _TARGET.findall(_read(path)))
    return frozenset(name.decode("ascii") for name in found)


def words_below(root: Path) -> frozenset[str]:
    """The words of the YAML files below `root` that begin with a capital letter, as names of classes do."""
    found = (word for path in yaml_files(root) for word in _CAPITALISED.findall(_read(path)))
    return frozenset(word.decode("ascii") for word in found)


def names_setting(root: Path, name: str) -> bool:
    """Whether a YAML file below `root` has the word `name`."""
    word = re.compile(rb"\b%s\b" % re.escape(name.encode()))
    return any(word.search(_read(path)) for path in yaml_files(root))


def settings_of(root: Path, name: str) -> frozenset[bytes]:
    """The values that the YAML files below `root` give the key `name`, in whatever mapping: one, or each of several, as
    `[1, 5]` or as the `values` of a sweep.
    """
    key = rb"""(?<![\w-])["']?%s["']?[ \t]*:""" % re.escape(name.encode())
    setting = re.compile(rb"""%s[ \t]+["']?([^\s"',}#]+)""" % key)
    several = re.compile(rb"""%s[ \t]+["']?(\[[^\]\n]*\]|[\w.+-]+(?:,[ ]*[\w.+-]+)+)""" % key)
    below = re.compile(
        rb"""%s\s+(?:(?:distribution|value|values|min|max):|- )(.*(?:\n[ \t]+(?:- |max:|min:).*)*)""" % key
    )
    found: set[bytes] = set()
    for text in map(_read, yaml_files(root)):
        lists = [*several.findall(text), *below.findall(text)]
        parts = {one for each in lists for one in _VALUE.findall(each)} - {b"min", b"max"}
        found.update(parts if parts else setting.findall(text))
    return frozenset(found)


def answer_outside(root: Path, question: str) -> bool | str:
    """What a run asks of the files that are no Python: the digest of the configurations or of the commands, or whether
    one of the others names a word.
    """
    if question == ALL_COMMANDS:
        return commands_digest(root)
    return configurations_digest(root) if question == ALL_CONFIGURATIONS else is_named_below(root, question.encode())


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, _MAX_BYTES)
    except OSError:
        return b""


def read_configuration(path: Path) -> Mapping[str, object]:
    """The mapping in a YAML file; empty if it contains something else, cannot be read, or is not plain YAML."""
    data = _read(path)
    if not data:
        return {}
    if _is_nested_deeply(data):
        note(path, f"not read: more than {_MAX_NESTING} open brackets")
        return {}
    # libcst brings one of the two along; a project without configurations does not pay for it.
    try:
        import yaml
    except ImportError:
        import yaml_ft as yaml  # type: ignore[import-not-found, unused-ignore]
    try:
        found = yaml.safe_load(data)
    except (yaml.YAMLError, *_FAULTS):
        return {}
    return {key: value for key, value in found.items() if isinstance(key, str)} if isinstance(found, dict) else {}


def _is_nested_deeply(data: bytes) -> bool:
    """Whether more brackets are open at some place than the parser should be given, taking all that is in texts and
    comments for brackets.
    """
    if data.count(b"[") + data.count(b"{") <= _MAX_NESTING:
        return False
    depths = accumulate(1 if byte in b"[{" else -1 for byte in data if byte in b"[]{}")
    lowest = 0  # what closes more than is open begins anew
    for depth in depths:
        lowest = min(lowest, depth)
        if depth - lowest > _MAX_NESTING:
            return True
    return False
