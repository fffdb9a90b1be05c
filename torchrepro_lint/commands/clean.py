"""`torchrepro-lint clean`: remove what earlier runs have kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torchrepro_lint.arguments import ArgumentParser, path_named
from torchrepro_lint.cache.run import cache_folder
from torchrepro_lint.cache.store import clean
from torchrepro_lint.console import PROGRAM, printable
from torchrepro_lint.source.discovery import present
from torchrepro_lint.source.project import Projects
from torchrepro_lint.source.root import absolute

__all__ = ["clean_caches"]


def clean_caches(arguments: Sequence[str]) -> int:
    """Remove the cache of the project of each path, or that of `--cache-dir`; 0, whether there was one or not.

    TorchReproLintError where a path is not there, or the settings, which may name the cache, are wrong.
    """
    parser = ArgumentParser(f"{PROGRAM} clean", "Delete the cached results of the projects that contain the paths.")
    parser.add_argument(
        "paths", nargs="*", type=path_named, default=[Path()], metavar="PATH", help="files and folders (default: .)"
    )
    parser.add_argument(
        "--cache-dir", type=path_named, metavar="DIR", help="the cache folder, if it is not in the project"
    )
    options = parser.parse_args(arguments)
    if options.cache_dir is not None:
        folders = {absolute(options.cache_dir)}
    else:
        projects = Projects({})
        folders = {cache_folder(projects.around(present(path))) for path in options.paths}
    for folder in sorted(folders):
        if clean(folder):
            print(f"removed {printable(str(folder))}")
    return 0
