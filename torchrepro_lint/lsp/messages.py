"""Findings as the diagnostics of an editor, and what a rule has to say as a hover."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from torchrepro_lint.diagnostics import Finding, Severity
from torchrepro_lint.lsp.buffers import Buffers
from torchrepro_lint.report.rule_pages import markdown, rule_url
from torchrepro_lint.rule_metadata import RuleMetadata

__all__ = ["SOURCE", "diagnostic", "hover"]

SOURCE = "torchrepro-lint"

_SEVERITY = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
}


def diagnostic(finding: Finding, buffers: Buffers, *, related: bool = True) -> types.Diagnostic:
    """The finding where it is; with `related`, the chain that proves it, for editors that can show it."""
    steps = [types.DiagnosticRelatedInformation(buffers.location(step.location), step.note) for step in finding.trace]
    url = rule_url(finding.code)
    return types.Diagnostic(
        range=buffers.range(finding.location),
        message=finding.message,
        severity=_SEVERITY[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(url) if url is not None else None,
        source=SOURCE,
        related_information=steps if related and steps else None,
    )


def hover(found: Iterable[types.Diagnostic], rules: Iterable[RuleMetadata], at: types.Position) -> types.Hover | None:
    """What the rules say whose diagnostics are at a position; None where there are none."""
    here = [one for one in found if _is_within(at, one.range)]
    by_code = {rule.code: rule for rule in rules}
    texts = [
        markdown(by_code[code], level=3) for code in dict.fromkeys(str(one.code) for one in here) if code in by_code
    ]
    if not texts:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(texts)), here[0].range)


def _is_within(at: types.Position, place: types.Range) -> bool:
    """Whether a position lies in a range; a cursor after its last character does."""
    return (place.start.line, place.start.character) <= (at.line, at.character) <= (place.end.line, place.end.character)
