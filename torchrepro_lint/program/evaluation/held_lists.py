"""The lists that pipelines of libraries keep under the names of their arguments: `Compose([...]).transforms`."""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.knowledge.callables import external_callable
from torchrepro_lint.program.evaluation.arguments import external_argument
from torchrepro_lint.program.evaluation.values import Arguments, ExternalObject, SequenceValue, Value, Values

__all__ = ["held_lists", "holding"]


def held_lists(value: Value) -> Iterator[tuple[str, Values]]:
    """The attributes of a pipeline that hold the list of what it runs, with what that can be; none for other values."""
    if not isinstance(value, ExternalObject) or value.arguments is None:
        return
    known = external_callable(value.name)
    if known is None or known.kind != "transform":
        return
    for run in known.runs:
        if run.protocol == "callables" and (run.parameter in known.parameters or run.parameter in known.keyword_only):
            held, _ = external_argument(value.arguments, known.parameters, run.parameter)
            if any(isinstance(one, SequenceValue) for one in held):
                yield run.parameter, held


def holding(value: ExternalObject, attr: str, held: Values) -> ExternalObject:
    """The pipeline with another list under `attr`."""
    known = external_callable(value.name)
    assert known is not None and value.arguments is not None
    given = value.arguments
    positional, keywords = given.positional, given.keywords
    if given.keyword(attr) is not None:
        keywords = tuple((key, held if key == attr else one, sure) for key, one, sure in keywords)
    else:
        at = known.parameters.index(attr)
        positional = (*positional[:at], held, *positional[at + 1 :])
    arguments = Arguments(positional, keywords, given.open_positional, given.open_keywords)
    return ExternalObject(value.name, arguments, value.site)
