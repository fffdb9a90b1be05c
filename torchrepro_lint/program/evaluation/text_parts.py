"""Texts that are put together of written letters and of something unknown: `f"block{i}"`, `"crop_" + name`."""

from __future__ import annotations

from torchrepro_lint.facts import tree

__all__ = ["text_around"]


def text_around(text: tree.Expr) -> tuple[str, str]:
    """How a text begins and ends that adds one thing to others, as far as it shows. Of an f-string the end does not."""
    beginning, ending = "", ""
    match text:
        case tree.Binary(op="+", left=tree.Binary(op="+") as left, right=tree.Const(value=str() as ending)):
            beginning, further = text_around(left)
            return "" if further else beginning, ending
        case tree.Binary(op="+", left=tree.Const(value=str() as beginning)):
            pass
        case tree.Binary(op="+", right=tree.Const(value=str() as ending)):
            pass
        case tree.FormatString(values=(_,), beginning=beginning):
            pass
        case tree.Binary(op="%", left=tree.Const(value=str() as whole)):
            beginning, ending = _around_field(whole.replace("%d", "%s").split("%s"))
        case tree.Call(func=tree.Attribute(value=tree.Const(value=str() as whole), attr="format"), args=(_,)):
            beginning, ending = _around_field(whole.split("{}"))
    return beginning, ending


def _around_field(parts: list[str]) -> tuple[str, str]:
    return (parts[0], parts[1]) if len(parts) == 2 else ("", "")
