"""What an import means, and who imports whom."""

from __future__ import annotations

from pathlib import Path

import pytest
from program.asking import named, program_of

from torchrepro_lint.program.import_folders import MAX_FOLDER_DEPTH, MAX_FOLDER_TEXTS
from torchrepro_lint.settings import Settings

CASES = {
    "a module": ({"main.py": "import a\nx = a.v", "a.py": "v = 1"}, "1"),
    "a module in a package": ({"main.py": "import p.a\nx = p.a.v", "p/__init__.py": "", "p/a.py": "v = 1"}, "1"),
    "an alias": ({"main.py": "import p.a as q\nx = q.v", "p/__init__.py": "", "p/a.py": "v = 1"}, "1"),
    "a name": ({"main.py": "from a import v as x", "a.py": "v = 1"}, "1"),
    "a submodule by from": ({"main.py": "from p import a\nx = a.v", "p/__init__.py": "", "p/a.py": "v = 1"}, "1"),
    "a namespace package": ({"main.py": "from p.q import a\nx = a.v", "p/q/a.py": "v = 1"}, "1"),
    "relative": (
        {"main.py": "from p.a import v as x", "p/__init__.py": "", "p/a.py": "from .b import v", "p/b.py": "v = 1"},
        "1",
    ),
    "relative to the package": (
        {"main.py": "from p.a import x", "p/__init__.py": "v = 2", "p/a.py": "from . import v\nx = v"},
        "2",
    ),
    "two dots": (
        {
            "main.py": "from p.q.a import x",
            "p/__init__.py": "",
            "p/b.py": "v = 3",
            "p/q/__init__.py": "",
            "p/q/a.py": "from ..b import v as x",
        },
        "3",
    ),
    "a re-export": (
        {"main.py": "from p import v as x", "p/__init__.py": "from .a import v", "p/a.py": "v = 1"},
        "1",
    ),
    "a neighbour through the folder that has the module's own name": (
        {"main.py": "from p.p import x", "p/p.py": "from p import q\nx = q.v", "p/q.py": "v = 1"},
        "1",
    ),
    "a star": ({"main.py": "from a import *\nx = v", "a.py": "v = 1"}, "1"),
    "a star of a star": ({"main.py": "from a import *\nx = v", "a.py": "from b import *", "b.py": "v = 1"}, "1"),
    "a star gives what is listed": (
        {"main.py": "from a import *\nfrom b import *\nx = v", "a.py": "__all__ = ['w']\nv, w = 2, 3", "b.py": "v = 1"},
        "1",
    ),
    "a star gives what is added to the list": (
        {"main.py": "from a import *\nx = v", "a.py": "__all__ = ['w']\n__all__ += other.__all__\nv, w = 1, 3"},
        "1",
    ),
    "a star leaves out what is private": ({"main.py": "from a import *\nx = _v", "a.py": "_v = 1"}, "?"),
    "a star of a known library": (
        {"main.py": "from torch.utils.data import *\nx = DataLoader"},
        "torch.utils.data.DataLoader",
    ),
    "a star under an own binding": ({"main.py": "v = 2\nfrom a import *\nx = v", "a.py": "w = 1"}, "2"),
    "the src layout": ({"main.py": "from p.a import v as x", "src/p/__init__.py": "", "src/p/a.py": "v = 1"}, "1"),
    "a folder put on sys.path": (
        {"main.py": "import sys\nsys.path.insert(0, 'tools')\nfrom a import v as x", "tools/a.py": "v = 1"},
        "1",
    ),
    "within a function": ({"main.py": "def f():\n    from a import v\n    return v\nx = f()", "a.py": "v = 1"}, "1"),
    "a fallback": (
        {"main.py": "try:\n    from a import v as x\nexcept ImportError:\n    x = 2", "a.py": "v = 1"},
        "1 | 2",
    ),
    "two modules that import each other": (
        {"main.py": "from a import x", "a.py": "from b import v\nx = v\nw = 1", "b.py": "from a import w\nv = w"},
        "1",
    ),
    "a name that two modules hand back and forth": (
        {"main.py": "from a import x", "a.py": "from b import x", "b.py": "from a import x"},
        "nothing",
    ),
    "stars in a circle": (
        {"main.py": "from a import *\nx = v", "a.py": "from b import *", "b.py": "from a import *\nv = 1"},
        "1",
    ),
    "a module that imports itself": ({"main.py": "from main import y as x\ny = 1"}, "1"),
    "a library": ({"main.py": "from lib.a import b as x"}, "lib.a.b"),
    "torch in the project": (
        {"main.py": "import torch\nx = torch.utils.data.DataLoader", "torch.py": "utils = None"},
        "None.data.DataLoader",
    ),
    "torch beside a module of a package that has its name": (
        {
            "main.py": "from p.a import x",
            "p/__init__.py": "",
            "p/a.py": "import torch\nx = torch.ones",
            "p/torch.py": "import torch\nzeros = torch.zeros",
        },
        "torch.ones",
    ),
    "torch in the module that has its name": (
        {"main.py": "from p.torch import x", "p/__init__.py": "", "p/torch.py": "import torch\nx = torch.ones"},
        "torch.ones",
    ),
    "torch in the module of a folder that has its name": (
        {"main.py": "from util.torch import x", "util/torch.py": "import torch\nx = torch.ones"},
        "torch.ones",
    ),
    "torch beside a module of a folder that has its name": (
        {
            "main.py": "from util.a import x",
            "util/a.py": "import torch\nx = torch.ones",
            "util/torch.py": "import torch\nzeros = torch.zeros",
        },
        "torch.ones",
    ),
    "a neighbour in a folder that stands for a library": (
        {"main.py": "from util.a import x", "util/a.py": "import torch\nx = torch.ones", "util/torch.py": "ones = 1"},
        "1",
    ),
    "the standard library beside a module of a package that has its name": (
        {"main.py": "from p.a import x", "p/__init__.py": "", "p/a.py": "import random as x", "p/random.py": "v = 1"},
        "random",
    ),
    "a neighbour in a package, as a script there would": (
        {"main.py": "from p.a import x", "p/__init__.py": "", "p/a.py": "from b import v as x", "p/b.py": "v = 1"},
        "1",
    ),
    "a neighbour that is a package, as it names itself there": (
        {
            "main.py": "from p.a import x",
            "p/__init__.py": "",
            "p/a.py": "from q import v as x",
            "p/q/__init__.py": "from q.b import v",
            "p/q/b.py": "v = 1",
        },
        "1",
    ),
    "a star from a submodule gives its own name": (
        {"main.py": "from p import *\nx = b", "p/__init__.py": "from p.b import *", "p/b.py": "b = 1"},
        "1",
    ),
    "a submodule that no star loads": (
        {"main.py": "from p import b\nx = b.v", "p/__init__.py": "from p.a import *", "p/a.py": "", "p/b.py": "v = 1"},
        "1",
    ),
    "a module's own __getattr__": ({"main.py": "import a\nx = a.b", "a.py": "def __getattr__(n): return 1"}, "1"),
    "a module's own __getattr__ that is from elsewhere": (
        {"main.py": "import a\nx = a.b", "a.py": "from lazy import attach\n__getattr__ = attach(__name__)"},
        "?",
    ),
    "a name that a module's __getattr__ does not give": (
        {"main.py": "import a\nx = a.b", "a.py": "def __getattr__(n):\n if n == 'c': return 1\n raise AttributeError(n)"},
        "?",
    ),
    "a submodule that __getattr__ imports by name": (
        {
            "main.py": "import p\nx = p.b",
            "p/__init__.py": "from importlib import import_module\n"
            "def __getattr__(n): return import_module('.' + {'b': 'a'}[n], __name__).v",
            "p/a.py": "v = 1",
        },
        "1",
    ),
    "what a replaced module tells type checkers": (
        {
            "main.py": "from p import v as x",
            "p/__init__.py": "import sys\nfrom typing import TYPE_CHECKING\nfrom lazy import Lazy\nif TYPE_CHECKING:\n"
            " from .a import v\nelse:\n sys.modules[__name__] = Lazy(__name__)",
            "p/a.py": "v = 1",
        },
        "1",
    ),
    "a class of it that a text names": (
        {"main.py": "import a\nx = getattr(a, unknown())", "a.py": "class B: pass\nclass _C: pass\ndef d(): pass\ne = 1"},
        "? | class B",
    ),
    "a class of a package that a text names": (
        {
            "main.py": "import p.q\nx = eval('p.q.' + unknown())",
            "p/__init__.py": "",
            "p/q/__init__.py": "from .r import *\nfrom .s import S as T\nfrom numpy import T as U",
            "p/q/r.py": "from .s import S as V\nclass R: pass",
            "p/q/s.py": "class S: pass\nclass Q: pass",
        },
        "? | class R | class S",
    ),
    "a text that names it": ({"main.py": "import a\nx = eval('a.v')", "a.py": "v = 1"}, "1"),
    "a text that says more than a name": ({"main.py": "import a\nx = eval('a.v + ' + unknown())", "a.py": "v = 1"}, "?"),
    "a text of which nothing is known": ({"main.py": "import a\nx = eval(unknown())", "a.py": "v = 1"}, "?"),
    "a module of a package that a text names": (
        {
            "main.py": "from importlib import import_module\nx = import_module('p.' + unknown()).v",
            "p/__init__.py": "v = 3",
            "p/a.py": "v = 1",
            "p/b.py": "v = 2",
            "p/q/c.py": "v = 4",
        },
        "1 | 2 | ?",
    ),
    "a module that an f-string names": (
        {"main.py": "import importlib\nx = importlib.import_module(f'p.{unknown()}').v", "p/a.py": "v = 1"},
        "1 | ?",
    ),
    "a module that only the end of a text names": (
        {"main.py": "import importlib\nx = importlib.import_module(f'{unknown()}.a').v", "p/a.py": "v = 1"},
        "?",
    ),
    "a class of a module of many, for which the first stand": (
        {"main.py": "import a\nx = getattr(a, unknown())", "a.py": "\n".join(f"class C{n}: pass" for n in range(25))},
        "? | " + " | ".join(f"class C{n}" for n in range(8)),
    ),
    "by its name": ({"main.py": "import importlib\nx = importlib.import_module('a').v", "a.py": "v = 1"}, "1"),
    "when it is needed": ({"main.py": "import lazy_loader as lazy\nx = lazy.load('a').v", "a.py": "v = 1"}, "1"),
    "a file that does not parse": ({"main.py": "from a import v as x", "a.py": "v = ("}, "?"),
    "a name that a module lacks": ({"main.py": "from a import v as x", "a.py": ""}, "nothing"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_an_import_means(tmp_path: Path, case: str) -> None:
    files, expected = CASES[case]
    assert named(program_of(tmp_path, files), "x") == expected


def test_configured_source_folders(tmp_path: Path) -> None:
    files = {"main.py": "from a import v as x", "python/a.py": "v = 1"}
    assert named(program_of(tmp_path, files), "x") == "a.v"
    assert named(program_of(tmp_path, files, Settings(src=(tmp_path / "python",))), "x") == "1"


def test_only_what_a_question_needs_is_parsed(tmp_path: Path) -> None:
    program = program_of(tmp_path, {"main.py": "from a import v as x", "a.py": "v = 1", "b.py": "import a"})
    named(program, "x")
    assert [path.name for path in program.project.files if program.project.is_parsed(path)] == ["a.py", "main.py"]


def test_who_imports_whom(tmp_path: Path) -> None:
    files = {
        "main.py": "import p.a\n",
        "p/__init__.py": "",
        "p/a.py": "from . import (\n    b,  # the other\n)\n",
        "p/b.py": "",
        "other.py": "def f():\n    from p.b import x\n",
        "apart.py": "import torch\n",
    }
    program = program_of(tmp_path, files)

    def names(paths: frozenset[Path]) -> list[str]:
        return sorted(path.relative_to(tmp_path).as_posix() for path in paths)

    assert names(program.imports.imported_by_file(tmp_path / "p/a.py")) == ["p/__init__.py", "p/b.py"]
    assert names(program.imports.above(tmp_path / "p/b.py")) == ["main.py", "other.py", "p/a.py", "p/b.py"]
    assert names(program.imports.above(tmp_path / "apart.py")) == ["apart.py"]
    assert names(program.imports.below(tmp_path / "apart.py")) == ["apart.py"]
    for above in program.imports.above(tmp_path / "p/b.py"):
        assert tmp_path / "p/b.py" in program.imports.below(above)
    assert names(program.runs_with([tmp_path / "apart.py", tmp_path / "main.py"])) == ["apart.py", "main.py"]


def many_texts(number: int) -> str:
    """An expression with so many texts, and `other`."""
    return "".join(f"'{one}' if a else " for one in range(number)) + "'other'"


HERE = "os.path.dirname(os.path.abspath(__file__))"


@pytest.mark.parametrize(
    "lines",
    [
        f"sys.path.append({HERE} + '/../../other/deep')",
        f"here = {HERE}\nbase = os.path.dirname(os.path.dirname(here))\nsys.path.insert(0, os.path.join(base, 'other', 'deep'))",
        "from os.path import join, dirname\nsys.path.insert(0, join(dirname(__file__), os.pardir, '..', 'other', 'deep'))",
        "sys.path.append(str(Path(__file__).resolve().parents[2] / 'other' / 'deep'))",
        "ROOT = Path(__file__).parent.parent.parent\nsys.path.append(str(ROOT / 'other' / 'deep'))",
        "sys.path.append(str(Path(__file__).parent.joinpath('..', '..', 'other/deep')))",
        "sys.path[:] = [os.path.join(sys.path[0], '../../other/deep')] + sys.path",
        "sys.path += ['../../other/deep']",
        "sys.path.extend(['tools', '../../other/deep'])",
        "for part in ('a', 'other/deep'):\n    sys.path.append(part)",
        "sys.path.append('other/deep')",
        "sys.path.append(os.path.join(os.getcwd(), 'other', 'deep'))",
        "sys.path.append(os.path.join(os.path.dirname(os.getcwd()), 'other', 'deep'))",
        "def add(folder):\n    if folder not in sys.path:\n        sys.path.insert(0, folder)\n"
        "add(os.path.join(os.path.dirname(__file__), '../../other', 'deep'))",
        "if True:\n    where = os.path.join('..', '..', 'other', 'deep')\nelse:\n    where = sys.argv[1]\nsys.path.append(where)",
        "import site\nsite.addsitedir('../../other/deep')",
        "import _paths",
        "sys.path.append(os.environ['CODE'])",
        "sys.path.append('/home/somebody/code/other/deep')",
    ],
)
def test_folders_that_a_file_puts_on_sys_path(tmp_path: Path, lines: str) -> None:
    files = {
        "apps/run/main.py": f"import os\nimport sys\nfrom pathlib import Path\n{lines}\nfrom helper import v as x\n",
        "apps/run/_paths.py": "import sys\nsys.path.insert(0, '../../other/deep')\n",
        "other/deep/helper.py": "from second import v\n",
        "other/deep/second.py": "v = 1\n",
    }
    assert named(program_of(tmp_path, files), "x", "apps/run/main.py") == "1"


@pytest.mark.parametrize(
    "besides",
    [
        {"more/helper.py": "v = 2"},  # which of two is not known
        {"other/deep/__init__.py": ""},  # a part of a package, which is imported by the package's name
        {"other/deep/helper.py": "import helper.part\nv = 1"},  # named after a library
    ],
)
def test_an_unknown_folder_on_sys_path_may_hold_another_module(tmp_path: Path, besides: dict[str, str]) -> None:
    files = {
        "apps/run/main.py": "import os\nimport sys\nsys.path.append(os.environ['CODE'])\nfrom helper import v as x\n",
        "other/deep/helper.py": "v = 1\n",
    }
    assert named(program_of(tmp_path, {**files, **besides}), "x", "apps/run/main.py") == "helper.v"


@pytest.mark.parametrize(
    ("folder", "meant"),
    [
        ("'../../other'" + " + ''" * (MAX_FOLDER_DEPTH - 3) + " + '/deep'", "1"),
        ("'../../other'" + " + ''" * MAX_FOLDER_DEPTH + " + '/deep'", "helper.v"),
        (f"os.path.join('../..', {many_texts(MAX_FOLDER_TEXTS - 1)}, 'deep')", "1"),
        (f"os.path.join('../..', {many_texts(MAX_FOLDER_TEXTS)}, 'deep')", "helper.v"),
    ],
)
def test_what_is_too_long_to_read_is_an_unknown_folder(tmp_path: Path, folder: str, meant: str) -> None:
    files = {
        "apps/run/main.py": f"import os\nimport sys\nsys.path.append({folder})\nfrom helper import v as x\n",
        "other/deep/helper.py": "v = 1\n",
        "more/helper.py": "v = 2\n",
    }
    assert named(program_of(tmp_path, files), "x", "apps/run/main.py") == meant


def test_a_module_from_a_folder_on_sys_path_sees_what_is_beside_that(tmp_path: Path) -> None:
    files = {
        "run/a.py": "import sys\nsys.path += ['../lib', '../more']\nimport helper\n",
        "lib/helper.py": "import other\nx = other.v\n",
        "more/other.py": "v = 1\n",
    }
    assert named(program_of(tmp_path, files), "x", "lib/helper.py") == "1"


@pytest.mark.parametrize("first", ["a", "b"])
def test_a_folder_on_sys_path_is_that_file_s_alone(first: str, tmp_path: Path) -> None:
    files = {
        "run/a.py": "import sys\nsys.path.append('../lib/x')\nimport helper\n",
        "run/b.py": "import helper\n",
        "lib/x/helper.py": "v = 1\n",
    }
    project = program_of(tmp_path, files).project
    order = [first, "b" if first == "a" else "a"]
    meant = {name: project.resolve(tmp_path / "run" / f"{name}.py", "helper") for name in order}
    assert meant == {"a": tmp_path / "lib" / "x" / "helper.py", "b": None}


@pytest.mark.parametrize(
    ("folder", "imports", "meant"),
    [
        ("pkg", "from pkg.data.sets import v as x", "1"),
        ("pkg", "import pkg.data.sets\nx = pkg.data.sets.v", "1"),
        ("pkg", "from pkg import data\nfrom pkg.data.sets import v as x", "1"),
        ("pkg", "from pkg import (\n    data,  # what to learn, from\n)\nfrom pkg.data.sets import v as x", "1"),
        ("pkg", "from pkg import data, \\\n    training\nfrom pkg.data.sets import v as x", "1"),
        ("other", "from pkg.data.sets import v as x", "pkg.data.sets.v"),
        ("torch", "import torch\nfrom torch.data.sets import v as x", "torch.data.sets.v"),
        ("torch", "from torch import nn\nfrom torch.data.sets import v as x", "torch.data.sets.v"),
        ("torch", "import torch.utils.data\nfrom torch.data.sets import v as x", "torch.data.sets.v"),
    ],
)
def test_a_project_that_is_a_namespace_package_knows_its_own_name(
    tmp_path: Path, folder: str, imports: str, meant: str
) -> None:
    program = program_of(tmp_path / folder, {"training/main.py": imports, "data/sets.py": "v = 1"})
    assert named(program, "x", "training/main.py") == meant
