"""The comparison of the table of operations with a torch that is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from compare_ops import disagreements, main
from torch_on_disk import TorchOnDisk

DOCSTRING = '''\
def use_deterministic_algorithms(mode):
    r"""Sets the flag.

    The following normally-nondeterministic operations will act
    deterministically when ``mode=True``:

        * :func:`torch.index_add` when called on CUDA tensor

    The following normally-nondeterministic operations will throw a
    :class:`RuntimeError` when ``mode=True``:

        * :class:`torch.nn.AvgPool3d` when attempting to differentiate a CUDA tensor
        * :func:`torch.invented` when called on a CUDA tensor

    In addition, several operations fill uninitialized memory.
    """
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    package = tmp_path / "torch"
    (package / "lib").mkdir(parents=True)
    (package / "version.py").write_text("__version__ = '2.12.0+cu130'\n")
    (package / "__init__.py").write_text(DOCSTRING)
    (package / "_decomp.py").write_text(
        'utils.alert_not_deterministic("put_")\nutils.alert_not_deterministic(f"max_unpooling{dim}d_forward_out")\n'
        'utils.alert_not_deterministic("invented_cuda")\n'
    )
    (package / "lib" / "libtorch_cpu.so").write_bytes(b"not a library")
    return tmp_path


def test_what_the_table_lacks_is_said(folder: Path) -> None:
    torch = TorchOnDisk(folder)
    assert torch.version == "2.12.0"
    assert torch.documented_as_deterministic == {"torch.index_add"}
    assert [name for name, _ in disagreements(torch)] == ["torch.invented", "invented_cuda"]


def test_the_program_says_it_and_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder)]) == 1
    output = capsys.readouterr().out
    assert "torch.invented is documented as raising, and has no such row" in output
    assert output.endswith("2 disagreements that are not known\n")


def test_a_folder_without_torch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "name the folder" in capsys.readouterr().err
