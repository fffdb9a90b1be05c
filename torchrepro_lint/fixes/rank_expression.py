"""Which expression gives the rank of the process where a generator is seeded, and leaves single processes alone."""

from __future__ import annotations

import re

import libcst as cst

from torchrepro_lint.dotted import last_part
from torchrepro_lint.fixes.apply import NAMES_OF_RANKS
from torchrepro_lint.fixes.document import Document, dotted_name
from torchrepro_lint.fixes.imports import ImportPlanner
from torchrepro_lint.fixes.optional_seed import may_be_none
from torchrepro_lint.fixes.seed_expression import as_summand
from torchrepro_lint.fixes.seed_uses import is_configuration, string_key
from torchrepro_lint.fixes.visibility import is_bound_at

__all__ = ["find_rank", "is_choice", "plus_rank", "rank_at", "rank_call"]

_DISTRIBUTED = "torch.distributed"
#: A local rank is none of these: the first process of every node has the local rank 0.
_RANKS = ("rank", "global_rank")
_LOCAL_RANK = "local_rank"
#: What may leave out a part of the code that is in it.
_CHOICES = (
    cst.If, cst.IfExp, cst.BooleanOperation, cst.For, cst.While, cst.Try, cst.TryStar, cst.Match, cst.Lambda,
    cst.FunctionDef, cst.ClassDef, cst.GeneratorExp, cst.ListComp, cst.SetComp, cst.DictComp,
)  # fmt: skip


def find_rank(document: Document, imports: ImportPlanner, at: cst.BaseStatement) -> str | None:
    """An expression of the program for the rank of the process that can be evaluated before the statement `at`."""
    for name in NAMES_OF_RANKS:
        if is_bound_at(document, name, at):
            return f"{name} or 0" if may_be_none(document, name, at) else name
    found: list[tuple[bool, int, str]] = []
    function = document.function(at)
    for node in document.walk():
        if isinstance(node, cst.Call) and not node.args:
            text = dotted_name(node.func) or ""
            wanted = last_part(text) == "get_rank"
        elif isinstance(node, cst.Attribute):
            text = dotted_name(node) or ""
            wanted = node.attr.value in _RANKS
        elif isinstance(node, cst.Subscript) and isinstance(node.value, cst.Name):
            # `opt["rank"]`
            text = document.module.code_for_node(node)
            wanted = string_key(node) in _RANKS and is_configuration(node.value.value)
        else:
            continue
        root = re.split(r"[.\[]", text)[0]
        if not wanted or not is_bound_at(document, root, at) or _is_written_out(document, root, at):
            continue
        here = document.function(node) is function
        if isinstance(node, cst.Call):
            call = _called(document, imports, node, text, at)
            if call is not None:
                found.append((not here, document.start(node), call))
        elif _has_run(document, node, at) or (root != "self" and is_configuration(root)):
            found.append((not here, document.start(node), text))
    if found:
        return min(found)[2]
    return None


def _is_written_out(document: Document, name: str, at: cst.BaseStatement) -> bool:
    """Whether a name holds a dict that is written in the code: its rank is the same in each process."""
    owner = document.scope_of(at).resolve(name)
    parents = [document.parent(binding.node) for binding in owner.bindings[name]] if owner is not None else []
    made = [document.parent(one) if isinstance(one, cst.AssignTarget) else one for one in parents]
    return any(isinstance(one, cst.Assign | cst.AnnAssign) and isinstance(one.value, cst.Dict) for one in made)


def rank_at(document: Document, imports: ImportPlanner, at: cst.BaseStatement, *, has_ranks: bool) -> str | None:
    """The rank of the process before the statement `at`: an expression of the program, or where it surely `has_ranks`
    or knows local ones, the call that gives it.
    """
    rank = find_rank(document, imports, at)
    if rank is None and (has_ranks or _knows_local_rank(document)):
        return rank_call(document, imports, at)
    return rank


def _knows_local_rank(document: Document) -> bool:
    """Whether a file has the rank of the process on its node alone, so that it is one of several."""
    names = (node.value for node in document.nodes(cst.Name))
    return any(name.lower() == _LOCAL_RANK for name in names) or '"LOCAL_RANK"' in document.text


def rank_call(document: Document, imports: ImportPlanner, at: cst.BaseStatement) -> str | None:
    """The call that gives the rank, whatever the program calls it; None where no rank can be known yet."""
    starts = [
        node for node in document.nodes(cst.Call) if (dotted_name(node.func) or "").endswith("init_process_group")
    ]
    has_started = any(_has_run(document, node, at) for node in starts)
    if not has_started and document.function(at) is None:
        return None
    function = imports.find(_DISTRIBUTED, "get_rank", at=at)
    if function is None:
        function = f"{imports.require(_DISTRIBUTED, at=at)}.get_rank"
    return f"{function}()" if has_started else _guarded(imports, function, at)


def is_choice(rank: str) -> bool:
    """Whether an expression for the rank asks first whether there are several processes."""
    return " if " in rank


def plus_rank(seed: str, rank: str) -> str:
    """The text of a seed that is another one for each rank; the seed itself where `rank` is empty."""
    if not rank:
        return seed
    if seed == "0":
        return rank
    return f"{as_summand(seed)} + {as_summand(rank)}"


def _called(document: Document, imports: ImportPlanner, node: cst.Call, text: str, at: cst.BaseStatement) -> str | None:
    """A call of `get_rank` as it can be before `at`. At the top of a file no process has a rank yet."""
    if _has_run(document, node, at):
        return f"{text}()"
    if document.function(at) is None:
        return None
    return _guarded(imports, text, at) if text in _torchs_own(imports, at) else f"{text}()"


def _torchs_own(imports: ImportPlanner, at: cst.BaseStatement) -> set[str | None]:
    """The names by which torch's own `get_rank` can be called; `import torch` alone is enough for the full one."""
    return {imports.find(_DISTRIBUTED, "get_rank", at=at), f"{imports.find('torch', at=at)}.distributed.get_rank"}


def _has_run(document: Document, node: cst.CSTNode, at: cst.BaseStatement) -> bool:
    """Whether an expression has been evaluated wherever `at` is reached, in the same run of the same function."""
    if document.function(node) is not document.function(at) or document.start(node) > document.start(at):
        return False
    around = {id(outer) for outer in document.ancestors(at)}
    inner = node
    for outer in document.ancestors(node):
        if isinstance(outer, _CHOICES) and id(outer) not in around and not _comes_first(outer, inner):
            return False
        inner = outer
    return True


def _comes_first(outer: cst.CSTNode, inner: cst.CSTNode) -> bool:
    """Whether a part is evaluated whatever is chosen: the test of an `if`, what a loop runs over."""
    return any(getattr(outer, name, None) is inner for name in ("test", "iter", "left"))


def _guarded(imports: ImportPlanner, function: str, at: cst.BaseStatement) -> str:
    """The rank, or 0 in a program that was started as a single process: there `get_rank` raises an error. A torch that
    was built without distributed has neither function, but says so; where one is imported by its name, it was not.
    """
    head, dot, _ = function.rpartition(".")
    if not dot:
        return f"{function}() if {imports.require(_DISTRIBUTED, 'is_initialized', at=at)}() else 0"
    return f"{function}() if {head}.is_available() and {head}.is_initialized() else 0"
