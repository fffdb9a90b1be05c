"""What the user has chosen: read from `torchrepro-lint.toml` or `[tool.torchrepro-lint]`, the command line over it."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypedDict, cast

from torchrepro_lint.diagnostics import TorchReproLintError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "DEFAULT_EXCLUDE",
    "Intent",
    "Profile",
    "Settings",
    "SettingsOverride",
    "did_you_mean",
    "load_settings",
    "normalised_specifier",
    "override_from_table",
    "settings_file",
]

Profile = Literal["default", "strict"]
Intent = Literal["seeded", "deterministic"]

SETTINGS_FILE = "torchrepro-lint.toml"
PROJECT_FILE = "pyproject.toml"
TABLE = "tool.torchrepro-lint"

# The folders that ruff leaves out by default, and caches of tools that came after its list was made.
DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".torchrepro-lint-cache",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one project.

    `select`, `extend_select`, `ignore`, `fixable` and `unfixable` hold codes, prefixes of codes and rule names as they
    were written; `per_file_ignores` holds them for each pattern of files.
    Patterns, also those of `exclude` and `extend_exclude`, are as in a .gitignore file, relative to `base`, which is
    the folder of the file that the settings come from, None where there is no file. `src` are the folders, absolute, in
    which absolute imports are looked up; empty means that they are found. `baseline` is a file, absolute, with findings
    that are known and not reported.
    """

    select: tuple[str, ...] = ("TRL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    fixable: tuple[str, ...] = ("ALL",)
    unfixable: tuple[str, ...] = ()
    profile: Profile = "default"
    target_torch: str | None = None
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    src: tuple[Path, ...] = ()
    seed: int = 0
    intent: Intent | None = None
    cache: bool = True
    unsafe_fixes: bool = False
    baseline: Path | None = None
    base: Path | None = None

    def overridden(self, override: SettingsOverride) -> Settings:
        """These settings with the command line's over them.

        `select` on the command line says all about what is run: the lists of the file are laid aside then. Without
        it, `extend_select` and `ignore` add to those of the file, and so do `per_file_ignores` and `unfixable` always.
        """
        changes: dict[str, Any] = dict(override)
        if "select" in changes:
            changes = {"extend_select": (), "ignore": ()} | changes
        else:
            for name in ("extend_select", "ignore"):
                if name in changes:
                    changes[name] = (*getattr(self, name), *changes[name])
        for name in ("per_file_ignores", "unfixable"):
            if name in changes:
                changes[name] = (*getattr(self, name), *changes[name])
        if changes.get("target_torch") is not None:
            changes["target_torch"] = _target_torch(changes["target_torch"], "--target-torch")
        return replace(self, **changes)


class SettingsOverride(TypedDict, total=False):
    """What the command line may say over the settings file; a key that is missing says nothing."""

    select: tuple[str, ...]
    extend_select: tuple[str, ...]
    ignore: tuple[str, ...]
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...]
    fixable: tuple[str, ...]
    unfixable: tuple[str, ...]
    profile: Profile
    target_torch: str | None
    cache: bool
    unsafe_fixes: bool
    baseline: Path | None


def override_from_table(table: Mapping[str, Any], where: str) -> SettingsOverride:
    """What a table of settings with the names of the settings file, such as an editor gives, says over that file.

    A value of None says nothing. TorchReproLintError, which begins with `where`, where it does not say what it should.
    """
    keys = [name.replace("_", "-") for name in SettingsOverride.__annotations__]
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in keys:
            raise TorchReproLintError(f"{where}{key}: unknown setting{did_you_mean(key, keys)}")
        if value is not None:
            values[key.replace("-", "_")] = _checked(key, value, f"{where}{key}", Path())
    return cast("SettingsOverride", values)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean "x"?` for the known word nearest to `word`, empty where none is near."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f'; did you mean "{near[0]}"?' if near else ""


_LOCAL = re.compile(r"\+[\w.]+")
_BARE = re.compile(r"v?(\d+(?:\.\d+)*)(\.\*)?")


def normalised_specifier(text: str) -> str:
    """A version specifier of torch in the form that `packaging` reads.

    A bare version is a pin: `1.8` is `==1.8.*`, `1.8.1` is `==1.8.1`. Local parts, which name a build and not a
    release, go: `==1.10.0+cu113` is `==1.10.0`. ValueError where it is not a specifier.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    text = _LOCAL.sub("", text.strip())
    bare = _BARE.fullmatch(text)
    if bare is not None:
        text = f"=={bare[1]}" + (".*" if bare[2] or bare[1].count(".") < 2 else "")
    elif text[:1].isdigit():
        text = f"=={text}"
    try:
        return str(SpecifierSet(text))
    except InvalidSpecifier:
        raise ValueError(f"not a version specifier: {text!r}") from None


def load_settings(root: Path) -> Settings:
    """The settings for the project at `root`: from the nearest file at or above it that has any, else the defaults.

    The search ends at the top of the git repository. TorchReproLintError where the file does not say what it should.
    """
    table = _nearest_table(root)
    return _with_extended(*table) if table is not None else Settings()


def settings_file(root: Path) -> Path | None:
    """The file that `load_settings` reads first for the project at `root`, None where there is none."""
    table = _nearest_table(root)
    return table[0] if table is not None else None


def _nearest_table(root: Path) -> tuple[Path, str, Mapping[str, Any]] | None:
    for folder in (root, *root.parents):
        table = _table_in(folder)
        if table is not None:
            return table
        if (folder / ".git").exists():
            break
    return None


def _table_in(folder: Path) -> tuple[Path, str, Mapping[str, Any]] | None:
    """The settings that `folder` holds: the file, the name of the table in it for messages, the table."""
    return _table_of(folder / SETTINGS_FILE) or _table_of(folder / PROJECT_FILE)


def _table_of(path: Path) -> tuple[Path, str, Mapping[str, Any]] | None:
    """The settings that a file holds, as `_table_in` gives them."""
    data = _read(path)
    if path.name != PROJECT_FILE:
        return None if data is None else (path, "", _parsed(path, data))
    # A file that never says the name is not parsed: it is none of our business when it is broken.
    if data is None or b"torchrepro-lint" not in data:
        return None
    tool = _parsed(path, data).get("tool", {})
    table = tool.get("torchrepro-lint") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise TorchReproLintError(f"{path}: {TABLE}: expected a table, found {_kind(table)}")
    return path, TABLE + ".", table


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise TorchReproLintError(f"{path}: cannot be read: {error.strerror}") from error


def _parsed(path: Path, data: bytes) -> Mapping[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise TorchReproLintError(f"{path}: not valid TOML: {reason}") from error


def _with_extended(path: Path, prefix: str, table: Mapping[str, Any]) -> Settings:
    """The settings of a table, over those of the file that its `extend` names, over those that that one extends.

    A key of the nearer file takes the place of the same key of the farther one. Patterns count from the nearest file;
    the folders of `src` from the file that they stand in.
    """
    chain = [(path, prefix, table)]
    while "extend" in chain[-1][2]:
        here, prefix, table = chain[-1]
        where = f"{here}: {prefix}extend"
        name = _typed(table["extend"], str, "a string", where)
        target = (here.parent / Path(name).expanduser()).resolve()
        if target in [path.resolve() for path, _, _ in chain]:
            raise TorchReproLintError(f"{where}: {target} extends itself")
        extended = _table_of(target)
        if extended is None:
            raise TorchReproLintError(f"{where}: {target} is not there, or has no settings of this tool")
        chain.append(extended)
    values: dict[str, Any] = {}
    for one in reversed(chain):
        values.update(_values(*one))
    return Settings(**{**values, "base": path.parent})


def _values(path: Path, prefix: str, table: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    keys = ["extend", *(field.name.replace("_", "-") for field in fields(Settings) if field.name != "base")]
    for key, value in table.items():
        where = f"{path}: {prefix}{key}"
        if key not in keys:
            raise TorchReproLintError(f"{where}: unknown setting{did_you_mean(key, keys)}")
        if key != "extend":
            values[key.replace("-", "_")] = _checked(key, value, where, path.parent)
    return values


_CHOICES: Mapping[str, tuple[str, ...]] = {"profile": ("default", "strict"), "intent": ("seeded", "deterministic")}


def _checked(key: str, value: Any, where: str, base: Path) -> Any:
    """`value` in the type of the field `key`; TorchReproLintError where it is of another."""
    if key in _CHOICES:
        return _choice(value, _CHOICES[key], where)
    if key == "target-torch":
        return _target_torch(_typed(value, str, "a string", where), where)
    if key == "seed":
        seed = _typed(value, int, "an integer", where)
        if not 0 <= seed < 2**32:
            raise TorchReproLintError(f"{where}: {seed} is outside 0..2**32-1, the seeds that NumPy takes")
        return seed
    if key in ("cache", "unsafe-fixes"):
        return _typed(value, bool, "a boolean", where)
    if key == "baseline":
        return (base / _typed(value, str, "a string", where)).resolve()
    if key == "per-file-ignores":
        table: Mapping[str, Any] = _typed(value, dict, "a table of lists of rules", where)
        return tuple((pattern, _strings(rules, f'{where}: "{pattern}"')) for pattern, rules in table.items())
    strings = _strings(value, where)
    return tuple((base / one).resolve() for one in strings) if key == "src" else strings


def _strings(value: Any, where: str) -> tuple[str, ...]:
    return tuple(_typed(one, str, "a list of strings", where) for one in _typed(value, list, "a list", where))


def _choice(value: Any, choices: tuple[str, ...], where: str) -> str:
    text: str = _typed(value, str, "a string", where)
    if text not in choices:
        allowed = " or ".join(f'"{choice}"' for choice in choices)
        raise TorchReproLintError(f'{where}: "{text}" is not {allowed}{did_you_mean(text, list(choices))}')
    return text


def _target_torch(text: str, where: str) -> str:
    try:
        return normalised_specifier(text)
    except ValueError:
        raise TorchReproLintError(
            f'{where}: "{text}" is neither a version nor a version specifier, such as "2.1" or ">=1.7,<2"'
        ) from None


def _typed(value: Any, kind: type, name: str, where: str) -> Any:
    # bool is a subclass of int, and `seed = true` is a mistake.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TorchReproLintError(f"{where}: expected {name}, found {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "an integer", float: "a number", str: "a string", list: "a list", dict: "a table"}
    return names.get(type(value), "a date or time")
