"""Models that a program only builds to look at their form: to count their parameters, to see the shape of a result, to
read their name or configuration.

`print(count_parameters(Net()))`, `size = Net()(torch.randn(1, 3, 32, 32)).shape[1]`, `folder = Net().name`: no
result hangs on what is drawn for them, nor on what they draw themselves and are given.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from torchrepro_lint.program.evaluation.values import Site
from torchrepro_lint.program.programs.first_weights import building_calls, draws_weights
from torchrepro_lint.program.running.calls_at import call_at
from torchrepro_lint.program.running.reach import Event
from torchrepro_lint.program.seeds.asked_form import Thing, asks_form_alone, runs_to_measure

if TYPE_CHECKING:
    from torchrepro_lint.program.program import Program

__all__ = ["is_only_measured"]


def is_only_measured(program: Program, event: Event) -> bool:
    """Whether a draw makes a model, or goes into one or takes place in one, of which nothing but the form is used."""
    if draws_weights(event):
        return _is_made_to_measure(program, building_calls(program, event))
    if event.name.startswith("torch.") and _is_made_to_measure(program, (event.site,)):
        return True
    return any(
        program.once(("runs to measure", link.site), partial(_runs_to_measure, program, link.site))
        for link in event.chain
    )


def _is_made_to_measure(program: Program, sites: tuple[Site, ...]) -> bool:
    """Whether nothing but the form is asked of what the last of the calls makes; the others, from the outside in, lead
    to it, and may get it in turn.
    """
    return program.once(("made to measure", sites), partial(_asks_form_alone, program, sites))


def _asks_form_alone(program: Program, sites: tuple[Site, ...]) -> bool:
    made: Thing | None = None
    for site in sites:
        returned_to = (made, *made.returned_to) if made is not None else ()
        made = _called(program, site, returned_to)
    return made is not None and asks_form_alone(program, made)


def _runs_to_measure(program: Program, site: Site) -> bool:
    called = _called(program, site)
    return called is not None and runs_to_measure(program, called)


def _called(program: Program, site: Site, returned_to: tuple[Thing, ...] = ()) -> Thing | None:
    """What the call at a site makes; None if there is no call."""
    found = call_at(program.ev, site)
    return Thing(found.call, found.facts, found.scope, returned_to) if found is not None else None
