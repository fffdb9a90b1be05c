"""What a torch says of its nondeterministic operations, read from its files: it need not run, nor be of this machine."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from pathlib import Path

from elf_calls import NotReadable, texts_passed_to

__all__ = ["TorchOnDisk"]


class TorchOnDisk:
    """The torch in a folder that has `torch/` in it, such as `site-packages` or a wheel that was unpacked.

    FileNotFoundError where there is none.
    """

    def __init__(self, folder: Path) -> None:
        self.package = folder / "torch"
        version = (self.package / "version.py").read_text(encoding="utf-8")
        self.version = re.findall(r"^__version__ = '([^'+]+)", version, re.MULTILINE)[0]

    @cached_property
    def documentation(self) -> str:
        """The docstring of `torch.use_deterministic_algorithms`."""
        tree = ast.parse((self.package / "__init__.py").read_text(encoding="utf-8"))
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        named = next(node for node in functions if node.name == "use_deterministic_algorithms")
        return ast.get_docstring(named, clean=False) or ""

    def documented(self, heading: str) -> set[str]:
        """The operations in the list below the heading that matches the expression `heading`."""
        section = re.split(heading, self.documentation, maxsplit=1)[-1]
        lines = section.partition("\n    The following")[0].partition("\n    In addition")[0]
        return set(re.findall(r"^\s*\* :(?:func|class):`([\w.]+)`", lines, re.MULTILINE))

    @property
    def documented_as_deterministic(self) -> set[str]:
        return self.documented(r"deterministically when ``\w+=True``:")

    @property
    def documented_as_raising(self) -> set[str]:
        return self.documented(r":class:`RuntimeError` when ``\w+=True``:")

    @cached_property
    def has_cuda(self) -> bool:
        """Whether the alerts of the CUDA kernels can be read."""
        return (self.package / "lib" / "libtorch_cuda.so").exists()

    @cached_property
    def alerts(self) -> dict[str, str]:
        """The names that torch gives to its alerts, each with the file that raises it.

        A name that Python puts together has `{}` where it varies.
        """
        found: dict[str, str] = {}
        for path in sorted((self.package / "lib").glob("libtorch_*.so")):
            try:
                found.update(dict.fromkeys(texts_passed_to(path, "alertNotDeterministic"), path.name))
            except NotReadable:
                continue
        for path in sorted(self.package.rglob("*.py")):
            source = path.read_bytes()
            if b"alert_not_deterministic(" in source:
                for name in _alerts_in_python(ast.parse(source)):
                    found.setdefault(name, path.relative_to(self.package).as_posix())
        return found


def _alerts_in_python(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="alert_not_deterministic") | ast.Name(id="alert_not_deterministic"),
                args=[ast.Constant(value=str() as name)],
            ):
                found.append(name)
            case ast.Call(func=ast.Attribute(attr="alert_not_deterministic"), args=[ast.JoinedStr(values=parts)]):
                found.append("".join(part.value if isinstance(part, ast.Constant) else "{}" for part in parts))
    return found
