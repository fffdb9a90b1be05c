"""`torchrepro-lint server`: speak the language server protocol on standard input and output."""

from __future__ import annotations

from collections.abc import Sequence

from torchrepro_lint.arguments import ArgumentParser
from torchrepro_lint.console import PROGRAM
from torchrepro_lint.diagnostics import TorchReproLintError

__all__ = ["serve"]


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
    make_server().start_io()
    return 0
