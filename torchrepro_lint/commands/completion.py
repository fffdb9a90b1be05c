"""`torchrepro-lint completion SHELL`: a script that completes the command line."""

from __future__ import annotations

from collections.abc import Sequence

from torchrepro_lint.arguments import COMMANDS, ArgumentParser, check_parser
from torchrepro_lint.console import PROGRAM
from torchrepro_lint.diagnostics import TorchReproLintError
from torchrepro_lint.toolkit import Toolkit

__all__ = ["SHELLS", "completion"]

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")


def completion(arguments: Sequence[str]) -> int:
    """Print the script for a shell. Exit status 0. TorchReproLintError where `shtab`, which writes it, is missing."""
    parser = ArgumentParser(
        f"{PROGRAM} completion",
        "Print a script that makes a shell complete this command line.",
        f'in ~/.bashrc: eval "$({PROGRAM} completion bash)"\n',
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    shell = parser.parse_args(arguments).shell
    try:
        import shtab
    except ImportError:
        raise TorchReproLintError('completion needs shtab: pip install "torchrepro-lint[completion]"') from None
    # Typed as a text; it takes one for each shell.
    print(shtab.complete(_whole_command(), shell, preamble=_preamble()))  # type: ignore[arg-type]
    return 0


def _whole_command() -> ArgumentParser:
    """The options, and where a path is taken, a file or the name of a command."""
    import shtab

    parser = check_parser()
    for action in parser._actions:
        if action.dest == "paths":
            action.complete = {**shtab.FILE, "bash": _FUNCTION, "zsh": _FUNCTION}  # type: ignore[attr-defined]
        elif action.metavar == "RULE,...":
            action.complete = {"bash": _RULE, "zsh": _RULE}  # type: ignore[attr-defined]
        elif action.dest == "cache_dir":
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.dest in ("stdin_filename", "baseline", "config", "output_file"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser


_FUNCTION = "_torchrepro_lint_path"
_RULE = "_torchrepro_lint_rule"


def _preamble() -> dict[str, str]:
    commands = " ".join(COMMANDS)
    rules = " ".join(word for rule in Toolkit().all_rules() for word in (rule.code, rule.name))
    return {
        "bash": f'{_FUNCTION}() {{ compgen -W "{commands}" -- "$1"; compgen -f -- "$1"; }}\n'
        f'{_RULE}() {{ compgen -W "ALL {rules}" -- "$1"; }}\n',
        "zsh": f"{_FUNCTION}() {{ _alternative 'commands:command:({commands})' 'files:file:_files' }}\n"
        f"{_RULE}() {{ _values -s , rule ALL {rules} }}\n",
    }
