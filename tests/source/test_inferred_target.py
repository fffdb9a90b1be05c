"""Which torch a project needs, where its metadata does not name one."""

from __future__ import annotations

import json

import pytest

from torchrepro_lint.settings import Settings
from torchrepro_lint.source.code_floor import code_floor
from torchrepro_lint.source.target import described, find_target


def _notebook(version: str, language: str = "python") -> str:
    modes = {"codemirror_mode": {"name": "ipython", "version": 3}, "file_extension": ".py"}
    cell = {"cell_type": "code", "source": ["import torch"], "metadata": {}, "outputs": []}
    info = {**modes, "name": language, "pygments_lexer": "ipython3", "version": version}
    return json.dumps({"cells": [cell], "metadata": {"language_info": info}, "nbformat": 4, "nbformat_minor": 5})


METADATA = {
    "torchvision is built for one torch": ({"requirements.txt": "torchvision==0.9.1"}, "==1.8.*"),
    "torchaudio too": ({"requirements.txt": "torchaudio==2.1.0"}, "==2.1.*"),
    "a range of torchvision": ({"requirements.txt": "torchvision>=0.10"}, ">=1.9"),
    "any torchvision": ({"requirements.txt": "torchvision"}, None),
    "an upper bound alone": ({"requirements.txt": "torchvision<0.12"}, None),
    "a torchvision to come": ({"requirements.txt": "torchvision==0.99"}, ">=2.13"),
    "an old torchvision": ({"requirements.txt": "torchvision==0.3"}, None),
    "lightning": ({"requirements.txt": "lightning>=2.2,<3"}, ">=1.13"),
    "pytorch-lightning": ({"requirements.txt": "pytorch-lightning==1.7.7"}, ">=1.9"),
    "accelerate": ({"pyproject.toml": '[project]\ndependencies = ["accelerate>=0.30"]'}, ">=1.10"),
    "NumPy 2": ({"requirements.txt": "numpy>=2"}, ">=2.3"),
    "the highest floor counts": ({"requirements.txt": "numpy>=2\nlightning==1.9.0"}, ">=2.3"),
    "two versions in two files": ({"requirements.txt": "lightning>=2.2", "setup.cfg": "[x]\ny = lightning>=1.9"}, None),
    "torch itself speaks first": ({"requirements.txt": "torch>=1.7\ntorchvision==0.15"}, ">=1.7"),
    "requires-python": ({"pyproject.toml": '[project]\nrequires-python = ">=3.10"'}, ">=1.11"),
    "an old requires-python": ({"pyproject.toml": '[project]\nrequires-python = ">=3.6"'}, None),
    "poetry's python": ({"pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.11"'}, ">=1.13"),
    "setup.cfg": ({"setup.cfg": "[options]\npython_requires = >=3.9"}, ">=1.7.1"),
    "setup.py": ({"setup.py": "setup(python_requires='>=3.12, <4')"}, ">=2.2"),
    "conda": ({"environment.yml": "dependencies:\n  - python=3.10\n"}, ">=1.11"),
    "env.yml": ({"env.yml": "dependencies:\n  - python==3.10.4\n"}, ">=1.11"),
    "torch in env.yml": ({"env.yml": "dependencies:\n  - pytorch=1.8\n"}, "==1.8.*"),
    "torch in a conda file": ({"conda_gpu.yml": "dependencies:\n  - pytorch=1.8\n"}, "==1.8.*"),
    ".python-version": ({".python-version": "3.11.4\n"}, ">=1.13"),
    "the lowest Python of several": (
        {"pyproject.toml": '[project]\nrequires-python = ">=3.10"', ".python-version": "3.12"},
        ">=1.11",
    ),
    "a Python without a floor": ({"setup.cfg": "[options]\npython_requires = <3.13"}, None),
    "code": ({"a.py": "import torch\nmodel = torch.compile(model)\n", "b.py": "import torch.func\n"}, ">=2.0"),
    "code above metadata": (
        {"requirements.txt": "lightning>=1.9", "a.py": "import torch\ntorch.compile(f)\n"},
        ">=2.0",
    ),
    "a notebook's Python": ({"a.ipynb": _notebook("3.10.6")}, ">=1.11"),
    "the oldest Python of the notebooks": ({"a.ipynb": _notebook("3.10.3"), "b.ipynb": _notebook("3.12.1")}, ">=1.11"),
    "a notebook of an old Python": ({"a.ipynb": _notebook("3.6.9")}, None),
    "a notebook of another language": ({"a.ipynb": _notebook("3.11.2", "R")}, None),
    "torch before a notebook's Python": (
        {"requirements.txt": "torch>=1.7", "a.ipynb": _notebook("3.11.2")},
        ">=1.7",
    ),
    "nothing": ({"a.py": "import torch\n"}, None),
}

CODE = {
    "a call": ("import torch\n\nmodel = torch.compile(model)\n", ("2.0", 3)),
    "an alias": ("import torch as th\nwith th.inference_mode():\n    pass\n", ("1.9", 2)),
    "a module alias": ("import torch.nn.functional as F\ny = F.scaled_dot_product_attention(q, k, v)\n", ("2.0", 2)),
    "a module from its package": (
        "from torch.nn import functional as F\ny = F.scaled_dot_product_attention(q, k, v)\n",
        ("2.0", 2),
    ),
    "an import of a member": ("from torch import nn, inference_mode\n", ("1.9", 1)),
    "an import in brackets": ("from torch.optim.lr_scheduler import (\n    LRScheduler,\n)\n", ("2.0", 1)),
    "an import of a module": ("from torch.func import vmap, grad\n", ("2.0", 1)),
    "a submodule": ("import torch.distributed.fsdp\n", ("1.11", 1)),
    "a decorator": ("import torch\n@torch.inference_mode()\ndef f(): ...\n", ("1.9", 2)),
    "an argument": ("import torch\nx = torch.load(f(p), map_location='cpu', weights_only=True)\n", ("1.13", 2)),
    "an argument over lines": ("import torch\nx = torch.load(\n    path,\n    weights_only=False,\n)\n", ("1.13", 2)),
    "the highest": ("import torch\ntorch.inference_mode()\ntorch.compile(f)\ntorch.compile(g)\n", ("2.0", 3)),
    "match": ("match x:\n    case 1:\n        pass\n", ("1.11", 1)),
    "except*": ("try:\n    pass\nexcept* ValueError:\n    pass\n", ("1.13", 3)),
    "a type alias": ("type Pair = tuple[int, int]\n", ("2.2", 1)),
    "type parameters": ("class Box[T]:\n    pass\n", ("2.2", 1)),
    "an option decides": ("import torch\nif args.compile:\n    model = torch.compile(model)\n", ("2.0", 3)),
    "the argument of another call": ("import torch\ntorch.load(p)\nload(p, weights_only=True)\n", None),
    "another library's name": ("import jax\nx = jax.vmap(f)\nmodel.compile()\n", None),
    "a name of its own": ("def compile(model): ...\ncompile(model)\n", None),
    "a comment": ("import torch\n# model = torch.compile(model)\n", None),
    "a message": ("import torch\nprint('use torch.compile(model)')\n", None),
    "a docstring": (
        'import torch\ndef f():\n    """\n    torch.compile(f)\n\n    match x:\n        case 1:\n    """\n',
        None,
    ),
    "in a try": ("import torch\ntry:\n    model = torch.compile(model)\nexcept Exception:\n    pass\n", None),
    "an import in a try": (
        "try:\n    from torch.func import vmap\nexcept ImportError:\n    from functorch import vmap\n",
        None,
    ),
    "in the except": ("try:\n    import a\nexcept ImportError:\n    from torch.func import vmap\n", None),
    "hasattr": ("import torch\nif hasattr(torch, 'compile'):\n    model = torch.compile(model)\n", None),
    "the arm of a version": (
        "import torch\nif TORCH_2:\n    a()\nelse:\n    if b:\n        torch.inference_mode()\n",
        None,
    ),
    "a version is compared": (
        "import torch\nnew = torch.__version__ >= '2'\nmodel = torch.compile(model) if new else model\n",
        None,
    ),
    "match as a name": ("import re\nmatch = re.match(a, b)\nif match:\n    pass\n", None),
    "type as a function": ("x = type(y)\ntype = 3\n", None),
}


@pytest.mark.parametrize(("files", "wanted"), METADATA.values(), ids=METADATA)
def test_metadata(write, files, wanted):
    root = write(files)
    target = find_target(root, Settings(), lambda: sorted([*root.glob("*.py"), *root.glob("*.ipynb")]))
    assert target.specifier == wanted


@pytest.mark.parametrize(("text", "wanted"), CODE.values(), ids=CODE)
def test_code(write, text, wanted):
    root = write({"m.py": text})
    floor = code_floor(root / "m.py")
    assert (floor and (floor.torch, floor.row)) == wanted


def test_a_notebook(write):
    cell = '{"cell_type": "code", "source": ["import torch\\n", "torch.compile(f)"], "metadata": {}, "outputs": []}'
    root = write({"n.ipynb": f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'})
    floor = code_floor(root / "n.ipynb")
    assert floor is not None
    assert floor.torch == "2.0"


def test_a_file_that_cannot_be_read(tmp_path):
    assert code_floor(tmp_path / "missing.py") is None


def test_what_it_was_inferred_from_is_said(write):
    root = write({"a.py": "import torch\n\nmodel = torch.compile(model)\n"})
    target = find_target(root, Settings(), lambda: sorted(root.glob("*.py")))
    assert described(target) == ">=2.0 (inferred from `torch.compile`, a.py:3)"
    assert target.inferred
    assert "target-torch" in described(find_target(root, Settings()))


def test_a_project_infers_from_its_files(write):
    from torchrepro_lint.settings import SettingsOverride
    from torchrepro_lint.source.project import Projects

    root = write({"pyproject.toml": "", "pkg/a.py": "import torch\ntorch.compile(f)\n"})
    project = Projects(SettingsOverride()).of(root / "pkg" / "a.py")
    assert project.target.specifier == ">=2.0"
