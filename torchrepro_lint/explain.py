"""Which loaders a line is about: those that are made there, else those whose workers pass through it."""

from __future__ import annotations

from pathlib import Path

from torchrepro_lint.facts import tree
from torchrepro_lint.loader_view import Namer, explain_loader
from torchrepro_lint.program.evaluation.values import Instance, Site
from torchrepro_lint.program.loaders.loaders import Loader
from torchrepro_lint.program.program import Program

__all__ = ["explain_line"]


def explain_line(program: Program, path: Path, row: int, name: Namer) -> list[str]:
    """What is known about the loaders made at a line; else of the loaders whose workers pass through it."""
    groups = [group for group in program.loader_sites if _stands_at(program, group[0].site, path, row)]
    if groups:
        return [line for group in groups for line in (*explain_loader(program, group, name), "")][:-1]
    users = [group[0] for group in program.loader_sites if any(_passes(program, one, path, row) for one in group)]
    if users:
        lines = ["Workers of these loaders run the code at this line; explain the loaders for details:"]
        return [*lines, *(f"  {program.places.shown(loader.site, name)}" for loader in users)]
    return []


def _stands_at(program: Program, site: Site, path: Path, row: int) -> bool:
    if site.path != path:
        return False
    first, last = program.places.statement_rows(site)
    return first <= row <= last


def _passes(program: Program, loader: Loader, path: Path, row: int) -> bool:
    sites = {site for event in program.worker_run(loader).events for site in event.sites}
    values = loader.value("dataset")
    sites |= {value.site for value in values if isinstance(value, Instance) and value.site is not None}
    return any(program.location(site).start.row == row for site in sites if site.path == path) or any(
        _holds(program, site, path, row) for site in sites
    )


def _holds(program: Program, site: Site, path: Path, row: int) -> bool:
    """Whether the row lies in the function whose definition is at `site`."""
    if site.path != path:
        return False
    facts = program.facts(path)
    for scope in facts.walk_scopes() if facts is not None else ():
        if isinstance(scope.node, tree.FunctionDef) and scope.node.site == site.number:
            start, end = program.parsed(path).span(site.number)
            lines = program.parsed(path).lines
            return lines.row(start) <= row <= lines.row(max(start, end - 1))
    return False
