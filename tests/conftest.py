"""What the tests share: files written from a dictionary, and a temporary folder that is nobody's project."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# What the tests of a file share that are not to be in one process: the rule of a fixture, the shape of a program, an
# analysis.
SHARED_WORK = {
    "tests/test_fixtures.py": re.compile(r"\[(TRL\d+)"),
    "tests/test_contract.py": re.compile(r"\[(\w+)-TRL"),
    "tests/constructs/test_constructs.py": re.compile(r"\[(.+)\]"),
}

# How long an example takes says how busy the machine is. The same examples in each run: a failure is then of the
# change, and not of chance. `--hypothesis-profile=search` looks for new ones.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("gate", parent=settings.get_profile("search"), derandomize=True, database=None)
settings.load_profile("gate")

Write = Callable[[Mapping[str, str | bytes]], Path]


@pytest.fixture(autouse=True, scope="session")
def user_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder for what programs of the user keep: never that of who runs the tests."""
    folder = tmp_path_factory.mktemp("user-cache")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(autouse=True, scope="session")
def bytecode() -> Iterator[None]:
    """The processes that the tests start keep the tool's bytecode, as Python does where nothing forbids it: to compile
    the tool anew takes longer than most of them do.
    """
    with pytest.MonkeyPatch.context() as environment:
        environment.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        yield


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write files, given as path and content, below the temporary folder; gives that folder."""

    def write_files(files: Mapping[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = content if isinstance(content, bytes) else textwrap.dedent(content).encode()
            path.write_bytes(data)
        return tmp_path

    return write_files


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """The tests of one file run in one process, since they share what the file has made once. Where the work belongs to
    the rule or the shape of program in a test's parameters, each of these runs in one process.

    pytest-xdist's own groups (`--dist loadgroup`, 3.8) are lost with pytest 9.2, which takes no other ids of tests.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByWork(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            shared = SHARED_WORK.get(file)
            found = shared.search(nodeid) if shared is not None else None
            return f"{file}::{found[1]}" if found is not None else file

    return ByWork(config, log)
