"""What a setting may be, and what is said where it is something else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from torchrepro_lint.console import did_you_mean
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.settings.patterns import require_pattern
from torchrepro_lint.settings.specifier import admits_nothing, normalised_specifier

__all__ = ["OutputFormat", "checked", "require_known", "target_torch", "typed"]


OutputFormat = Literal[
    "full", "concise", "grouped", "json", "json-lines", "sarif", "github", "gitlab", "junit", "pylint", "rdjson"
]


def require_known(key: str, keys: Iterable[str], where: str) -> None:
    """TorchReproLintError, which begins with `where`, for a key that is none of `keys`."""
    if key not in keys:
        raise TorchReproLintError(f"{where}: unknown setting{did_you_mean(key, keys)}")


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "profile": ("default", "strict"),
    "min-severity": ("warning", "error"),
    "intent": ("seeded", "deterministic"),
    "output-format": get_args(OutputFormat),
}


def checked(key: str, value: Any, where: str, base: Path) -> Any:
    """`value` in the type of the field `key`; TorchReproLintError where it is of another."""
    if key in _CHOICES:
        return _choice(value, _CHOICES[key], where)
    if key == "target-torch":
        return target_torch(typed(value, str, "a string", where), where)
    if key == "seed":
        seed = typed(value, int, "an integer", where)
        if not 0 <= seed < 2**32:
            raise TorchReproLintError(f"{where}: {seed} is outside 0..2**32-1, the range of seeds that NumPy accepts")
        return seed
    if key in ("cache", "fix", "respect-gitignore", "show-fixes", "unsafe-fixes"):
        return typed(value, bool, "a boolean", where)
    if key in ("baseline", "cache-dir", "config"):
        return _inside(base, typed(value, str, "a string", where), where, "--" + key)
    if key == "per-file-ignores":
        table: Mapping[str, Any] = typed(value, dict, "a table of lists of rules", where)
        return tuple(
            (require_pattern(pattern, where), _strings(rules, f'{where}: "{pattern}"'))
            for pattern, rules in table.items()
        )
    strings = _strings(value, where)
    if key in ("exclude", "extend-exclude"):
        return tuple(require_pattern(one, where) for one in strings)
    return tuple(_folder(base, one, where) for one in strings) if key == "src" else strings


def _folder(base: Path, name: str, where: str) -> Path:
    try:
        return (base / name).resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a null character
        raise TorchReproLintError(f"{where}: not a path of a folder") from None


def _inside(base: Path, name: str, where: str, option: str) -> Path:
    """The file that `name` means in a settings file of the folder `base`. TorchReproLintError where it lies outside the
    repository, or outside `base` if that is in none: who runs the tool on a project has not agreed to write there, as
    who gives the option of the command line has.
    """
    if not name:
        raise TorchReproLintError(f"{where}: the path is empty")
    try:
        path = (base / name).resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a null character
        raise TorchReproLintError(f"{where}: not a path of a file") from None
    folder = base.resolve()
    top = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)
    if not path.is_relative_to(top):
        raise TorchReproLintError(f"{where}: {path} lies outside the project; name it with {option} instead")
    return path


def _strings(value: Any, where: str) -> tuple[str, ...]:
    return tuple(typed(one, str, "a list of strings", where) for one in typed(value, list, "a list", where))


def _choice(value: Any, choices: tuple[str, ...], where: str) -> str:
    text: str = typed(value, str, "a string", where)
    if text not in choices:
        words = [f'"{choice}"' for choice in choices]
        allowed = f"not {' or '.join(words)}" if len(words) == 2 else f"none of {', '.join(words)}"
        raise TorchReproLintError(f'{where}: "{text}" is {allowed}{did_you_mean(text, list(choices))}')
    return text


def target_torch(text: str, where: str) -> str:
    """The specifier that `text` means; TorchReproLintError, which begins with `where`, where it means none."""
    try:
        specifier = normalised_specifier(text)
    except ValueError:
        raise TorchReproLintError(
            f'{where}: "{text}" is neither a version nor a version specifier, such as "2.1" or ">=1.7,<2"'
        ) from None
    if admits_nothing(specifier):
        raise TorchReproLintError(f'{where}: no version lies within "{text}"')
    return specifier


def typed(value: Any, kind: type, name: str, where: str) -> Any:
    """`value`, which must be of a type that people call `name`; TorchReproLintError, with what to write, if not."""
    # bool is a subclass of int, and `seed = true` is a mistake.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TorchReproLintError(f"{where}: expected {name}, found {_kind(value)}{_meant(value, kind)}")
    return value


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "an integer", float: "a number", str: "a string", list: "a list", dict: "a table"}
    return names.get(type(value), "a date or time")


def _meant(value: Any, kind: type) -> str:
    """How a value of another type is written as one of `kind`, where that is plain."""
    if kind is list and isinstance(value, str):
        return f'; write ["{value}"]'
    if kind is str and isinstance(value, float):
        return f'; write "{value}"'
    if kind is int and isinstance(value, str) and value.isdecimal():
        return f"; write {value}"
    if kind is bool and isinstance(value, str) and value.lower() in ("true", "false"):
        return f"; write {value.lower()}"
    return ""
