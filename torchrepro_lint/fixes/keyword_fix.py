"""The fix that gives one keyword argument of a call a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.diagnostics import Applicability, Fix
from torchrepro_lint.fixes.arguments import add_keyword_arguments
from torchrepro_lint.fixes.documents import document_of
from torchrepro_lint.fixes.passed_arguments import replace_argument

if TYPE_CHECKING:
    from torchrepro_lint.program.evaluation.values import Site
    from torchrepro_lint.program.program import Program

__all__ = ["keyword_fix"]


def keyword_fix(
    program: Program, site: Site, name: str, value: str, position: int = 1
) -> tuple[Fix | None, str | None]:
    """Writes `name=value` in the call at `site`, in the place of another value if there is one. `position`, from 0, is
    the one at which the argument may be without its name: a call with that many may give it.
    """
    document = document_of(program, site.path)
    call = document.node_at(*program.parsed(site.path).span(site.number), cst.Call)
    if call is None:
        return None, "the call could not be located"
    if any(argument.star for argument in call.args):
        return None, f"a `*` argument of the call may already hold `{name}`"
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == name:
            edits = [replace_argument(document, argument, value)]
            break
    else:
        if len([argument for argument in call.args if argument.keyword is None]) > position:
            return None, f"`{name}` is given by its position"
        edits = add_keyword_arguments(document, call, [(name, value)])
    return Fix(Applicability.SAFE, f"Pass {name}={value}", tuple(edits)), None
