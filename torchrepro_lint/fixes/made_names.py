"""What a call makes, after the names around it: whose loader, split or sampler it is."""

from __future__ import annotations

import keyword
import re

import libcst as cst

from torchrepro_lint.fixes.document import Document

__all__ = ["made_name", "without_sampler"]

#: How names say that they are of loaders, with a number or without: `train_dataloader`, `train_loader_1`.
_MADE = re.compile(r"_?(?:data_?)?(?:loaders?|dl|iter)(?=(?:_?\d+)?$)", re.IGNORECASE)


def made_name(document: Document, call: cst.Call) -> str:
    """What is made by a call, after what it is assigned to: `train` for `self.train_loader = DataLoader(...)`, `split`
    for several at once; "" where that says nothing.
    """
    inner: cst.CSTNode = call
    for outer in document.ancestors(call):
        match outer:
            case cst.DictElement(key=cst.SimpleString() as key) if inner is outer.value:
                return _stem(str(key.evaluated_value))
            case cst.Arg(keyword=cst.Name(value=name)):
                return _stem(name)
            case cst.Assign(targets=(cst.AssignTarget(target=target), *_)):
                return _stem_of(target)
            case cst.AnnAssign(target=target):
                return _stem_of(target)
            case cst.BaseStatement():
                return ""
        inner = outer
    return ""


def _stem_of(target: cst.BaseExpression) -> str:
    match target:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return _stem(name)
        case cst.Subscript(slice=(cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key)),)):
            return _stem(str(key.evaluated_value))
        case cst.Tuple() | cst.List():
            return "split"
    return ""


def _stem(name: str) -> str:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    stem = _MADE.sub("", parted).lower().strip("_")
    return stem if stem.isidentifier() and not keyword.iskeyword(stem) else ""


def without_sampler(stem: str) -> str:
    """What a sampler is for: `train` for `train_sampler`."""
    return re.sub(r"_?(?:batch_?)?samplers?$", "", stem)
