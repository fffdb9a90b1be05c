"""What the tests share: files written from a dictionary, and a temporary folder that is nobody's project."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of one file run in one process (`--dist loadgroup`), since they share what the file has made once;
    tests that are marked with a group of their own run with that group.
    """
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.relative_to(ROOT).as_posix()))
