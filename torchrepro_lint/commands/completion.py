"""`torchrepro-lint completion SHELL`: a script that completes the command line."""

from __future__ import annotations

from collections.abc import Sequence

from torchrepro_lint.arguments import COMMANDS, ArgumentParser, check_parser
from torchrepro_lint.console import PROGRAM
from torchrepro_lint.diagnostics import TorchReproLintError

__all__ = ["SHELLS", "completion"]

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")


def completion(arguments: Sequence[str]) -> int:
    """Print the script for a shell. Exit status 0. TorchReproLintError where `shtab`, which writes it, is missing."""
    parser = ArgumentParser(
        f"{PROGRAM} completion",
        "Print a script that completes the command line.",
        f'in ~/.bashrc: eval "$({PROGRAM} completion bash)"\n',
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    shell = parser.parse_args(arguments).shell
    try:
        import shtab
    except ImportError:
        raise TorchReproLintError('completion needs shtab: pip install "torchrepro-lint[completion]"') from None
    # Typed as a text; it takes one for each shell.
    print(shtab.complete(_whole_command(), shell, preamble=_PREAMBLE))  # type: ignore[arg-type]
    return 0


def _whole_command() -> ArgumentParser:
    """The options, and where a path is taken, a file or the name of a command."""
    import shtab

    parser = check_parser()
    for action in parser._actions:
        if action.dest == "paths":
            action.complete = {**shtab.FILE, "bash": _FUNCTION, "zsh": _FUNCTION}  # type: ignore[attr-defined]
        elif action.dest in ("stdin_filename", "baseline"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser


_FUNCTION = "_torchrepro_lint_path"
_PREAMBLE = {
    "bash": f'{_FUNCTION}() {{ compgen -W "{" ".join(COMMANDS)}" -- "$1"; compgen -f -- "$1"; }}\n',
    "zsh": f"{_FUNCTION}() {{ _alternative 'commands:command:({' '.join(COMMANDS)})' 'files:file:_files' }}\n",
}
