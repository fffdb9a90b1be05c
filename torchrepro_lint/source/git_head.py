"""Which commit is checked out, and where its repository is on the web: read from git's files, without running git."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from torchrepro_lint.regular_files import read_if_there
from torchrepro_lint.source.ignore import git_top

__all__ = ["GitHead", "git_head"]

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ORIGIN = re.compile(r'^\[remote "origin"\]\s*\n((?:[ \t]+.*\n?)*)', re.MULTILINE)
_URL = re.compile(r"^[ \t]*url[ \t]*=[ \t]*(\S+)", re.MULTILINE)
# git@host:owner/name.git, ssh://git@host/owner/name.git, https://user@host/owner/name.git
_ADDRESS = re.compile(r"(?:https?://|ssh://)?(?:[^@/\s]+@)?([\w.-]+)[:/](?:\d+/)?([\w.~/-]+?)(?:\.git)?/?")


@dataclass(frozen=True, slots=True)
class GitHead:
    """The commit that is checked out in the work tree `top`. `web` is the address of its repository, None where it has
    no remote, or one that is no web address.
    """

    top: Path
    commit: str
    web: str | None


def git_head(folder: Path) -> GitHead | None:
    """The commit of the work tree that a folder lies in; None where it is in none, or nothing is committed."""
    top = git_top(folder)
    if top is None:
        return None
    git = _git_folder(top)
    common = git / (_text(git / "commondir").strip() or ".")
    commit = _resolved(_text(git / "HEAD").strip(), git, common)
    return GitHead(top, commit, _web(_text(common / "config"))) if commit is not None else None


def _git_folder(top: Path) -> Path:
    """The folder of git's files: that of a further work tree is named in a file."""
    named = re.match(r"gitdir: (.+)", _text(top / ".git"))
    return top / named[1].strip() if named else top / ".git"


def _resolved(head: str, git: Path, common: Path) -> str | None:
    if _COMMIT.fullmatch(head):
        return head
    name = head.removeprefix("ref: ")
    if not re.fullmatch(r"refs/[\w./-]+", name) or ".." in name:
        return None
    for folder in (git, common):
        if _COMMIT.fullmatch(commit := _text(folder / name).strip()):
            return commit
    packed = re.search(rf"^([0-9a-f]+) {re.escape(name)}$", _text(common / "packed-refs"), re.MULTILINE)
    return packed[1] if packed and _COMMIT.fullmatch(packed[1]) else None


def _web(config: str) -> str | None:
    origin = _ORIGIN.search(config)
    url = _URL.search(origin[1]) if origin else None
    address = _ADDRESS.fullmatch(url[1]) if url else None
    return f"https://{address[1]}/{address[2]}" if address and "." in address[1] and "/" in address[2] else None


def _text(file: Path) -> str:
    return read_if_there(file).decode("utf-8", "replace")
