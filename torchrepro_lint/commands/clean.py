"""`torchrepro-lint clean`: remove what earlier runs have kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torchrepro_lint.arguments import ArgumentParser, path_named
from torchrepro_lint.cache.store import FOLDER, clean
from torchrepro_lint.console import PROGRAM
from torchrepro_lint.source.discovery import present
from torchrepro_lint.source.root import absolute, project_root

__all__ = ["clean_caches"]


def clean_caches(arguments: Sequence[str]) -> int:
    """Remove the cache of the project of each path, or that of `--cache-dir`; 0, whether there was one or not.

    TorchReproLintError where a path is not there.
    """
    parser = ArgumentParser(f"{PROGRAM} clean", "Delete the cached results of the projects that contain the paths.")
    parser.add_argument(
        "paths", nargs="*", type=path_named, default=[Path()], metavar="PATH", help="files and folders (default: .)"
    )
    parser.add_argument(
        "--cache-dir", type=path_named, metavar="DIR", help="the cache folder, if it is not in the project"
    )
    options = parser.parse_args(arguments)
    folders = {project_root(present(path)) / FOLDER for path in options.paths}
    if options.cache_dir is not None:
        folders = {absolute(options.cache_dir)}
    for folder in sorted(folders):
        if clean(folder):
            print(f"removed {folder}")
    return 0
