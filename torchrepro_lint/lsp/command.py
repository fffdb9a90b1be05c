"""`torchrepro-lint server`: speak the language server protocol on standard input and output."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from pathlib import Path

from torchrepro_lint.arguments import ArgumentParser
from torchrepro_lint.console import PROGRAM, printable
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.lsp.ending import end_process

__all__ = ["serve"]

_PACKAGE = str(Path(__file__).parent.parent)
# pygls logs a message that it cannot read twice: this line comes first, and the next one has the exception.
_SAID_AGAIN = "Unable to deserialize message"
_LONGEST = 300


def serve(arguments: Sequence[str]) -> int:
    """Serve until the editor says that it is enough. Exit status 0.

    TorchReproLintError where pygls is not installed.
    """
    parser = ArgumentParser(
        f"{PROGRAM} server",
        "Run the language server on standard input and output: findings as you type, fixes, and rule documentation.",
    )
    parser.add_argument(
        "--stdio", action="store_true", help="accepted because many editors pass it; this is the default"
    )
    parser.parse_args(arguments)
    try:
        from torchrepro_lint.lsp.handlers import make_server
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise TorchReproLintError('the server needs pygls 2: pip install "torchrepro-lint[server]"') from None
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine())
    handler.addFilter(lambda record: not record.getMessage().startswith(_SAID_AGAIN))
    logging.getLogger().addHandler(handler)
    try:
        make_server().start_io()
    except (MemoryError, OverflowError, ValueError) as error:
        # The length that a message is said to have is a number that nobody can read so many bytes of.
        raise TorchReproLintError(f"a message of the editor cannot be read: {_said(error)}") from None
    end_process(0)


class _OneLine(logging.Formatter):
    """A line for each record: a log in which each odd message leaves a traceback is read by nobody."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        text = record.getMessage()
        text = printable(" ".join(text.split())[:_LONGEST])
        return text if error is None else f"{text}: {_said(error)}"


def _said(error: BaseException) -> str:
    """An exception in one line: what it came from, and where in this package that was."""
    while (inner := _cause(error)) is not None:
        error = inner
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(_PACKAGE)]
    place = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
    return printable(f"{type(error).__name__}: {' '.join(str(error).split())[:_LONGEST]}{place}")


def _cause(error: BaseException) -> BaseException | None:
    """What an exception was raised from; of a group, the first of those that it holds."""
    inner = next(iter(getattr(error, "exceptions", ())), None) or error.__cause__
    return inner if isinstance(inner, BaseException) else None
