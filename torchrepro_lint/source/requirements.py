"""The torch requirement in the metadata of a project, wherever projects put it.

Every reader is tolerant: a file that does not parse says nothing, for it is not this tool's business. A requirement
without a version (`torch`) says nothing either.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from torchrepro_lint.knowledge.versions import release
from torchrepro_lint.quiet import without_warnings
from torchrepro_lint.regular_files import note
from torchrepro_lint.settings import normalised_specifier
from torchrepro_lint.source.metadata import ini_of, text_of, toml_of

__all__ = ["ENVIRONMENTS", "READMES", "declared_torch", "requirement_files", "tried_torch"]

Declared = tuple[tuple[str, ...], str]

#: The files in which projects describe a conda environment.
ENVIRONMENTS = ("environment*.y*ml", "env.y*ml", "conda*.y*ml", "requirements.y*ml")
#: The files in which projects say how to install what they need.
READMES = ("README*", "INSTALL*")
#: The files whose commands install what a project needs, and the folders in which they are looked for.
_INSTALLING = ("Dockerfile*", "*.dockerfile", "Makefile", "*install*.sh", "*setup*.sh", "*env*.sh")
_INSTALLING_IN = (".", "docker", "tools", "scripts")


def declared_torch(root: Path) -> Declared | None:
    """The alternatives that the metadata at `root` admits, and the file that says so; None where none does.

    What says most exactly what is installed speaks first: an exact pin in a main requirements file, then a lock file,
    then the project's own declaration, then what describes an environment, then what installs it, then the README.
    """
    main = _main(root)
    for path in main:
        pins = _specifiers(_requirements_lines(path))
        if pins and all(pin.startswith("==") for pin in pins):
            return pins, _name(path, root)
    for path, read in _sources(root, main):
        found = _specifiers(read(path))
        if found:
            return found, _name(path, root)
    return None


def tried_torch(root: Path) -> tuple[str, ...]:
    """What the metadata at `root` says of the versions with which the project was run: the pins of all files, and what
    a README names.
    """
    found = ((read, one) for path, read in _sources(root, _main(root)) for one in _specifiers(read(path)))
    return tuple(dict.fromkeys(one for read, one in found if read is _instructions or "==" in one))


def requirement_files(root: Path) -> list[Path]:
    """The files in which a requirement on torch may be, whether they are there or not."""
    return [path for path, _ in _sources(root, _main(root))]


def _main(root: Path) -> list[Path]:
    return [root / "requirements.txt", root / "requirements" / "requirements.txt"]


def _sources(root: Path, main: list[Path]) -> Iterator[tuple[Path, Callable[[Path], Iterator[str]]]]:
    for name in ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml"):
        yield root / name, _lock_file
    yield root / "Pipfile.lock", _pipfile_lock
    yield root / "pyproject.toml", _pyproject
    yield root / "setup.cfg", _setup_cfg
    yield root / "setup.py", _setup_py
    yield root / "Pipfile", _pipfile
    for path in main:
        yield path, _requirements_lines
    for pattern in ENVIRONMENTS:
        yield from ((path, _environment) for path in _matching(root, pattern))
    for folder in (root, root / "requirements", root / "installation"):
        for pattern in ("*requirements*.txt", "*.txt" if folder.name == "requirements" else "*requirements*.in"):
            yield from ((path, _requirements_lines) for path in _matching(folder, pattern))
    for place in _INSTALLING_IN:
        for pattern in _INSTALLING:
            yield from ((path, _commands) for path in _matching(root / place, pattern))
    for pattern in READMES:
        yield from ((path, _instructions) for path in _matching(root, pattern))


def _matching(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _specifiers(requirements: Iterator[str]) -> tuple[str, ...]:
    """The distinct specifiers for torch among PEP 508 requirements; empty where one of them admits everything."""
    found: dict[str, None] = {}
    for requirement in requirements:
        specifier = _torch_specifier(requirement)
        if specifier is not None:
            found[specifier] = None
    return () if "" in found else tuple(found)


_REQUIREMENT = re.compile(r"(?:torch|pytorch)(?![\w.-])\s*(?:\[[^\]]*\])?\s*(?P<rest>[^;#]*)", re.IGNORECASE)
_WHEEL = re.compile(r"/torch-(?P<version>\d+(?:\.\d+)*)", re.IGNORECASE)


def _torch_specifier(requirement: str) -> str | None:
    """The specifier of a requirement for torch, empty for any version; None where it is for something else."""
    match = _REQUIREMENT.match(requirement.strip())
    if match is None:
        return None
    rest = match["rest"].strip()
    if rest.startswith("@"):
        wheel = _WHEEL.search(rest)
        return f"=={wheel['version']}" if wheel else ""
    # The options of a requirements file follow the specifier: `torch==1.8 --hash=...`.
    rest = re.split(r"\s--?\w|\\", rest)[0].strip().strip("()")
    try:
        return normalised_specifier(rest) if rest else ""
    except ValueError:
        return None


def _requirements_lines(path: Path) -> Iterator[str]:
    """The lines of a requirements file, and of the files that it includes by `-r`, each once, in the order of pip."""
    seen = {os.path.normpath(path)}
    open_files = [_lines_of(path)]
    while open_files:
        one = next(open_files[-1], None)
        if one is None:
            open_files.pop()
        elif isinstance(one, str):
            yield one
        elif (name := os.path.normpath(one)) not in seen:
            seen.add(name)
            open_files.append(_lines_of(one))


def _lines_of(path: Path) -> Iterator[str | Path]:
    """The lines of one requirements file, and instead of those that include another, its path."""
    for line in text_of(path).splitlines():
        text = line.strip()
        included = re.match(r"(?:-r|--requirement)[\s=]*(\S+)", text)
        if included is None:
            yield f"torch @ {text}" if _WHEEL.search(text) and "@" not in text else text
            continue
        if "://" not in included[1]:
            yield path.parent / included[1]


def _pyproject(path: Path) -> Iterator[str]:
    table = toml_of(path)
    project = _table(table, "project")
    poetry = _table(table, "tool", "poetry")
    groups = [project.get("dependencies")]
    # What the package itself needs says more than what its extras and its development groups do.
    if not any(_REQUIREMENT.match(one) for one in _strings(project.get("dependencies"))):
        groups += [*_table(project, "optional-dependencies").values(), *_table(table, "dependency-groups").values()]
    for group in groups:
        yield from _strings(group)
    yield from _poetry_requirements(_table(poetry, "dependencies"))
    for name in ("dev-dependencies", "group"):
        for group in [_table(poetry, name)] if name != "group" else _table(poetry, name).values():
            yield from _poetry_requirements(_table(group, "dependencies") if name == "group" else group)


def _poetry_requirements(dependencies: Mapping[str, Any]) -> Iterator[str]:
    value = dependencies.get("torch")
    for one in value if isinstance(value, list) else [value]:
        version = one.get("version") or one.get("url") if isinstance(one, dict) else one
        if isinstance(version, str):
            yield f"torch @ {version}" if "://" in version else "torch " + _poetry_specifier(version)


def _poetry_specifier(text: str) -> str:
    """Poetry's caret, tilde and wildcard forms as a version specifier."""
    clauses = []
    for clause in re.split(r"\s*,\s*|\s*\|\|.*", text.strip()):
        match = re.fullmatch(r"([\^~])\s*(\d+(?:\.\d+)*)\S*", clause)
        if match is None:
            clauses.append("" if clause == "*" else clause)
            continue
        numbers = [int(number) for number in match[2].split(".")]
        # The caret keeps the first number that is not zero, the tilde the first two, or the one there is.
        kept = next((i for i, n in enumerate(numbers) if n), 0) + 1 if match[1] == "^" else min(len(numbers), 2)
        upper = [*numbers[: kept - 1], numbers[kept - 1] + 1]
        clauses += [f">={match[2]}", "<" + ".".join(map(str, upper))]
    return ",".join(clause for clause in clauses if clause)


def _lock_file(path: Path) -> Iterator[str]:
    table = toml_of(path)
    for package in [*_list(table.get("package")), *_list(table.get("packages"))]:
        if isinstance(package, dict) and package.get("name") == "torch" and isinstance(package.get("version"), str):
            yield f"torch=={package['version']}"


def _pipfile_lock(path: Path) -> Iterator[str]:
    try:
        table = json.loads(text_of(path) or "{}")
    except ValueError:
        return
    except RecursionError:
        note(path, "not read: nested too deeply")
        return
    version = _table(table, "default", "torch").get("version") if isinstance(table, dict) else None
    if isinstance(version, str):
        yield f"torch{version}"


def _pipfile(path: Path) -> Iterator[str]:
    yield from _poetry_requirements(_table(toml_of(path), "packages"))


def _setup_cfg(path: Path) -> Iterator[str]:
    parser = ini_of(path)
    yield from parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        for _, value in parser.items("options.extras_require"):
            yield from value.splitlines()


def _setup_py(path: Path) -> Iterator[str]:
    """Every string of a setup script that is a requirement for torch: the lists are under all kinds of names."""
    text = text_of(path)
    try:
        with without_warnings():
            tree = ast.parse(text)
        strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    except (SyntaxError, ValueError, RecursionError):
        strings = re.findall(r"""["']([^"'\n]*)["']""", text)
    for string in strings:
        # The bare name is more often a module (`import_module("torch")`) than a requirement.
        if isinstance(string, str) and re.match(r"torch\s*[\[(<>=!~@]", string):
            yield string


_CONDA = re.compile(r"""\s*-\s*["']?(?:[\w./-]+::)?(?:pytorch|torch)(?![\w.-])(?P<rest>[^"'#]*)""", re.IGNORECASE)


def _environment(path: Path) -> Iterator[str]:
    """The lines of a conda environment, its pip section with them. Conda's `=1.10` stands for 1.10 and its patches."""
    section = ""
    for line in text_of(path).splitlines():
        if line[:1].isalpha():
            section = line.partition(":")[0]
        match = _CONDA.match(line)
        if match is None or section == "channels":  # there is a channel of the name as well
            continue
        rest = match["rest"].strip()
        single = re.fullmatch(r"=\s*([^\s=<>!~]+)(?:=\S*)?", rest)
        if single is not None:
            version = single[1].removesuffix("*").removesuffix(".")
            yield f"torch=={version}" if version.count(".") > 1 else f"torch=={version}.*"
            continue
        # `pytorch==1.9.0=py3.8_cuda11.1` names a build after the version.
        yield "torch " + re.sub(r"(==[^\s=,]+)=[^\s,]*", r"\1", rest.replace(" ", ""))


_INSTALL = re.compile(r"\b(?:pip3?|conda|mamba|micromamba)\s+install\s(?P<packages>[^\n`;&|]*)")
_INSTALLED = re.compile(r"""(?<![\w.-])(?:py)?torch\s?(?P<how>={1,3}|>=|~=)\s?(?P<version>\d+(?:\.\d+)*)""")
#: The image of PyTorch from which a container is made (hub.docker.com/r/pytorch/pytorch: tags begin with the version).
_IMAGE = re.compile(r"(?mi)^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)?(?:[\w.-]+/)?pytorch/pytorch:v?(\d+\.\d+(?:\.\d+)?)")
#: What a README lists among its requirements: `- PyTorch (>= 1.1.0)`, `* [PyTorch 1.3+](https://pytorch.org)`.
_LISTED = re.compile(
    r"""^[ \t]*(?:[-*+]|\d+[.)])[ \t]+[`*\[]*(?:py)?torch[`*]*(?:\](?:\([^)\n]*\))?)?[ \t]*[:=(,]?[ \t]*
    (?:version[ \t]*)?(?P<how>==|>=|~=|>|≥)?[ \t]*v?(?P<version>\d+\.\d+(?:\.\d+)?)(?![\w.])
    (?![ \t]*(?:[/,\u2013-]|or|to|and)[ \t]*v?\d)""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)

#: The same in a line of its own, as in a block of code or a table: `pytorch 0.4.0 (tested)`, `| PyTorch | 1.7.1 |`.
_ALONE = re.compile(
    r"""^[ \t>|]*[`*]*(?:py)?torch[`*]*[ \t]*[:=(,|]?[ \t]*(?:version[ \t]*[:=]?[ \t]*)?(?P<how>==|>=|~=|>|≥)?[ \t]*v?
    (?P<version>\d+\.\d+(?:\.\d+)?)(?:\+\w*)?[ \t`*)]*(?:$|[(|#,;])""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)

#: The same with an upper bound, and perhaps a lower one on either side: `1. 1.1.0 <= PyTorch < 1.5.0`.
_BOUNDED = re.compile(
    r"""^[ \t]*(?:[-*+]|\d+[.)])[ \t]+[`*]*(?:(?P<low>\d+\.\d+(?:\.\d+)?)[ \t]*(?:<=|=<|≤)[ \t]*)?
    (?:py)?torch[`*]*[ \t(]*
    (?:(?:>=|=>|≥)[ \t]*(?P<least>\d+\.\d+(?:\.\d+)?)[ \t]*,?[ \t]*)?(?P<how><=|=<|≤|<)[ \t]*
    (?P<high>\d+\.\d+(?:\.\d+)?)(?![\w.])""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)

#: What a README says in its text: `This is a PyTorch(0.4.1) implementation`, `[PyTorch v0.4.0](https://pytorch.org)`.
_STATED = re.compile(
    r"""(?:(?<![\w/.-])pytorch[ \t]?\([ \t]?|\[pytorch[ \t]+)(?P<how>==|>=|~=|>|≥)?[ \t]?v?
    (?P<version>\d+\.\d+(?:\.\d+)?)\+?(?:[ \t]?\)|\](?=\())""",
    re.IGNORECASE | re.VERBOSE,
)


#: What a sentence of a README says of the torch that the project was tried with, or runs with: `tested with Python 3.6,
#: PyTorch 1.2`, `can be run with PyTorch v1.0 or higher`.
_SENTENCE_END = re.compile(r"[.!?;](?=\s)|\n")
_TRIED = re.compile(
    r"\b(?:test|tried|environment|experiment|requir|depend|implement|develop|built|install|runs?\b|works?\b|uses?\b|using\b)",
    re.I,
)
_SAYS_WHICH = re.compile(r"\bversion\s+is\b", re.IGNORECASE)
_OF_OTHERS = re.compile(r"\b(?:support|compatib|upgrad|migrat|port(?:ed|ing)\b|not\b|slow|since\b)|n't\b", re.I)
_TOLD = re.compile(
    r"""(?<![\w/.-])(?:py)?torch[ \t]+(?:version[ \t]+(?:is[ \t]+)?)?(?:==|>=|~=|>|≥)?[ \t]*v?
    (?P<version>\d+\.\d+(?:\.\d+)?)
    (?!\w|\.\d|[ \t]*(?:[/,\u2013-]|or|to|and)[ \t]*v?\d|[ \t]+(?:or|and)[ \t]+(?:below|earlier|older|lower))""",
    re.IGNORECASE | re.VERBOSE,
)


def _instructions(path: Path) -> Iterator[str]:
    """The versions of torch in the commands of a README: `conda install pytorch=1.6 torchvision -c pytorch`. Without
    such commands, those in its lists of requirements, or else in its text, where a bare version is that with which the
    project was tried; the oldest, where its sentences name several.
    """
    text = text_of(path)
    found = list(_installed(text))
    yield from found
    for bounded in () if found else _BOUNDED.finditer(text):
        low = bounded["low"] or bounded["least"]
        found.append(f"torch{f'>={low},' if low else ''}{'<' if bounded['how'] == '<' else '<='}{bounded['high']}")
        yield found[-1]
    listings = [*_LISTED.finditer(text), *_ALONE.finditer(text)] or _STATED.finditer(text)
    for listed in () if found else listings:
        how = listed["how"] if listed["how"] in ("==", "~=") else ">="
        found.append(f"torch{how}{listed['version']}")
        yield found[-1]
    if not found and (told := list(_told(text))):
        yield f"torch>={min(told, key=release)}"


def _told(text: str) -> Iterator[str]:
    """The versions of torch that the sentences of a text say it was tried with: none of one about what is supported, or
    about versions that will not do.
    """
    for sentence in _SENTENCE_END.split(text):
        found = _TOLD.search(sentence)
        if found is None or _OF_OTHERS.search(sentence):
            continue
        if _TRIED.search(sentence[: found.start()]) or _SAYS_WHICH.search(found[0]):
            yield found["version"]


def _commands(path: Path) -> Iterator[str]:
    """The versions of torch that a script or Makefile installs, and that of the image from which a container is made:
    `FROM pytorch/pytorch:1.12.1-cuda11.3-cudnn8-runtime`.
    """
    text = re.sub(r"(?m)^\s*#.*$", "", text_of(path))
    for image in _IMAGE.finditer(text):
        yield f"torch=={image[1]}" if image[1].count(".") > 1 else f"torch=={image[1]}.*"
    yield from _installed(text)


def _installed(text: str) -> Iterator[str]:
    """The versions of torch in the commands of a text that install packages."""
    for command in _INSTALL.finditer(text.replace("\\\n", " ")):
        for installed in _INSTALLED.finditer(command["packages"]):
            how, version = installed["how"].replace("===", "=="), installed["version"]
            if how == "=":
                how, version = "==", version if version.count(".") > 1 else f"{version}.*"
            yield f"torch{how}{version}"


def _table(table: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _strings(value: Any) -> list[str]:
    return [one for one in _list(value) if isinstance(one, str)]
