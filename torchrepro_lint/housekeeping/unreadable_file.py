"""TRL900 unreadable-file.

What it does
    Finds files that cannot be read as Python: because of a syntax error, bytes that do not match the file's encoding,
    code that is nested too deeply, or because the system refuses to open them. Such a file is left alone, and the other
    files are checked. It is a warning where somebody may have meant it so: in a cell of a notebook, of which the other
    cells are checked, and in code for an older Python (`print` as a statement, `async=` as an argument, a null
    character below the last line), which the message names.

    Code for an older Python, code to be filled in (`loss = # TODO`, a function with nothing but such a comment) and a
    cell of a notebook are reported where the file is named, by the command line, an editor or a hook: whoever wrote
    them knows it, and changes nothing. So are bytes that do not match the encoding in comments alone: Python imports
    such a file, and refuses only to run it.

    Some files are reported where they are named as well, and where a file imports them that can be read and is checked:
    - what is no module of any Python: a template, the text of a notebook, a part of a file;
    - a notebook in a format before Jupyter's;
    - what Python reads and libcst, with which places are found, does not: tabs and spaces mixed, or `(name): int`;
    - what only defines functions and classes;
    - a script of cells (`# %%`), which an editor runs one by one, and a copy that no file can import (`train.bak.py`);
    - what mentions neither torch nor a library that trains with it;
    - a draft: what no script and no README names, where these name other files of the project, or where another file of
      its folder that can be read defines the same functions and classes;
    - one of several scripts, where no README and no script names a file: it lies in one folder with two programs or
      more that can be read, and has no name that programs have (`train.py`).

    A file in which a merge was left unresolved is neither.

    Of others the run says at its end how many there are, and the `strict` profile reports them.

Why is this bad?
    Nothing can be found in the file, and findings in other files may depend on what is in it.

Example
    ```python
    loader = DataLoader(dataset, num_workers=4
    ```

Use instead
    ```python
    loader = DataLoader(dataset, num_workers=4)
    ```

Known limits
    What is no module is told by the line of the syntax error.

    A cell that cannot be read is not reported where nothing in it is missed: it neither draws, seeds, loads, splits or
    lists, nor imports or defines anything.

    A file that mentions nothing that any rule is about is not parsed, so its syntax errors are not seen unless it comes
    from standard input, and neither is the broken JSON of such a notebook. A folder that the system refuses to list is
    not a finding, since it may contain no Python: the command line prints a warning and goes on, with the same exit
    status.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from torchrepro_lint.diagnostics import Finding, Location, Position, Severity
from torchrepro_lint.knowledge.old_syntax import (
    BYTES_IN_COMMENTS,
    is_meant_for_no_module,
    is_of_an_older_python,
    is_to_be_filled_in,
)

__all__ = ["UnreadableFile"]


class UnreadableFile:
    """The rule. It is on unless `ignore` names it."""

    code: ClassVar[str] = "TRL900"
    name: ClassVar[str] = "unreadable-file"
    summary: ClassVar[str] = "a file with a syntax error, or that cannot be decoded; other files go on"
    severity: ClassVar[Severity] = Severity.ERROR
    profile: ClassVar[Literal["default", "strict"]] = "default"

    def finding(
        self,
        path: Path,
        row: int,
        column: int,
        reason: str,
        what: str = "file",
        *,
        is_named: bool = True,
        is_imported: bool = False,
        is_module: bool = True,
    ) -> Finding:
        """The finding at a place, row and column from 1. `what` is what cannot be read, `file` or `cell`.
        `is_named`: somebody has named the file. `is_imported`: a file imports it that can be read. `is_module`: it does
        more than to define what nothing imports, and mentions torch.
        """
        location = Location(path, Position(row, column), Position(row, column + 1))
        is_known = (
            what == "cell"
            or is_of_an_older_python(reason)
            or is_to_be_filled_in(reason)
            or reason.endswith(BYTES_IN_COMMENTS)
        )
        is_meant = is_known or not is_module or is_meant_for_no_module(reason)
        severity = Severity.WARNING if is_meant else self.severity
        left = () if is_meant and not is_named and (is_known or not is_imported) else None
        message = f"this {what} cannot be read: {reason}"
        return Finding(self.code, self.name, message, severity, location, left_to_strict=left)
