"""The table of operations against the survey that it was made from, and against torch's own documentation."""

from __future__ import annotations

import csv
import platform
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from compare_ops import KNOWN, disagreements, installed_folder
from torch_on_disk import TorchOnDisk

from torchrepro_lint.knowledge import ops
from torchrepro_lint.knowledge.ops import OpRow, newest_release, op_names, op_rows
from torchrepro_lint.knowledge.tables import expand_names, read_table
from torchrepro_lint.knowledge.versions import admits, release

SURVEY = Path(__file__).parent / "data" / "nondeterministic_ops.tsv"
EFFECTS = {
    "throws": "throws",
    "made_deterministic": "made_deterministic",
    "silently_nondeterministic": "silent",
    "fills_memory": "fills_memory",
}

#: Spellings of the survey that are no name of a call, with what the table has instead ("" where it has nothing:
#: a keyword of an operation that has rows of its own, or syntax).
SPELLED_OTHERWISE = {
    "torch.nn.functional.pad(mode='reflect') on 2d/3d input with 2 pads": "torch.nn.functional.pad",
    "torch.nn.functional.pad(mode='reflect') on 3d/4d input with 4 pads": "torch.nn.functional.pad",
    "torch.nn.functional.pad(mode='reflect') on 4d/5d input with 6 pads": "torch.nn.functional.pad",
    "torch.nn.functional.pad(mode='replicate')": "torch.nn.functional.pad",
    "torch.cumprod (backward)": "torch.cumprod",
    "torch.Tensor(n)": "torch.Tensor",
    "torch.FloatTensor(n)": "torch.FloatTensor",
    "torch.empty(out=)": "",
    "torch.compile(flex_attention)": "",
    "torch.nn.attention.sdpa_kernel": "",
    "any out= argument": "",
    "x[idx]": "",
}


def survey() -> list[dict[str, str]]:
    with SURVEY.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def table() -> list[dict[str, str]]:
    return list(read_table("ops.tsv", ops._COLUMNS))


def identity(row: dict[str, str]) -> tuple[str, ...]:
    since, until = row.get("since_torch", row.get("since", "")), row.get("until_torch", row.get("until", ""))
    effect = EFFECTS.get(row.get("category", ""), row.get("effect", ""))
    return row["op"], effect, row["device"], since, until, row["condition"]


def test_every_row_of_the_survey_is_in_the_table_and_no_other() -> None:
    of_torch = {identity(row) for row in table() if "third-party" not in row["flags"]}
    assert of_torch == {identity(row) for row in survey()}


def test_every_spelling_of_the_survey_is_in_the_table() -> None:
    spelled: dict[tuple[str, ...], set[str]] = {}
    for row in table():
        spelled.setdefault(identity(row), set()).update(expand_names(row["spellings"]))
    for row in survey():
        for text in filter(None, re.split(r",(?![^(]*\))", row["all_spellings"])):
            name = SPELLED_OTHERWISE.get(text.strip(), text.strip())
            assert not name or name in spelled[identity(row)], (row["op"], text)
        if row["op"] != "torch.Tensor.copy_":
            assert row["op"] in spelled[identity(row)]


def test_the_survey_says_no_more_of_a_row_than_the_table() -> None:
    said: dict[tuple[object, ...], set[str]] = {}
    for row in table():
        source, _, _ = row["source"].partition("; H100")  # measured since
        said.setdefault((identity(row), source, row["alternative"]), set()).add(row["alert"])
    for row in survey():
        sources = row["source"].strip(), re.sub("[;,] not run on a GPU", "", row["source"].strip())
        places = [(identity(row), source, row["deterministic_alternative"].strip()) for source in sources]
        alerts = set().union(*(said.get(place, set()) for place in places))
        alert = row["alert_name"].strip()
        # The table has the names of the out= forms as well.
        assert any(one == alert or one.startswith(f"{alert} / ") for one in alerts), row["op"]


def test_the_remedy_of_what_can_be_made_deterministic_is_a_sentence() -> None:
    """The messages give it as it is; where an operation is to be replaced, they put "instead:" before it."""
    switches = ("torch.use_deterministic_algorithms(True)", "torch.backends.cudnn.deterministic=True")
    made = [row for row in table() if row["effect"] == "made_deterministic"]
    assert [row["op"] for row in made if not row["alternative"].startswith(switches)] == []


def test_no_spelling_has_the_same_row_twice() -> None:
    keys = Counter(
        (name, row["effect"], row["phase"], row["device"], row["since"], row["until"], row["when"], row["requires"])
        for row in table()
        for name in expand_names(row["spellings"])
    )
    assert not [key for key, count in keys.items() if count > 1]


def test_every_argument_of_a_condition_has_its_place_in_the_signature() -> None:
    keyword_only = {"requires_grad", "deterministic"}
    for name in op_names():
        for row in op_rows(name):
            for condition in row.when:
                if condition.decided_by_arguments and condition.parameter not in keyword_only:
                    assert condition.position is not None, (name, str(condition))


def rows(qualname: str, version: str, effect: str) -> list[OpRow]:
    return [row for row in op_rows(qualname) if row.effect == effect and row.device != "mps" and row.holds_at(version)]


@pytest.mark.parametrize(
    ("qualname", "version", "throws"),
    [
        ("torch.Tensor.scatter_add_", "1.9", True),
        ("torch.Tensor.scatter_add_", "1.13", False),
        ("torch.kthvalue", "2.8", True),
        ("torch.kthvalue", "2.10", False),
        ("torch.nn.functional.grid_sample", "2.13", True),
        ("torch.nn.AdaptiveAvgPool2d", "2.13", True),
        ("torch.Tensor.index_add_", "1.8.1", True),
        ("torch.Tensor.index_add_", "1.9", False),
        ("torch.nn.modules.pooling.AvgPool3d", "2.13", True),
        ("torch.cumsum", "2.13", False),
        ("torchvision.models.detection.fasterrcnn_resnet50_fpn", "2.13", True),
        ("torch.relu", "2.13", False),
    ],
)
def test_releases(qualname: str, version: str, throws: bool) -> None:
    assert bool(rows(qualname, version, "throws")) is throws


def test_the_arguments_decide() -> None:
    def throwing(qualname: str, **arguments: object) -> bool:
        return any(
            all(c.holds(c.parameter in arguments, arguments.get(c.parameter)) for c in row.when)
            for row in rows(qualname, "2.13", "throws")
        )

    assert throwing("torch.nn.functional.interpolate", mode="bicubic")
    assert not throwing("torch.nn.functional.interpolate", mode="bilinear")
    assert throwing("torch.nn.functional.interpolate", mode="bilinear", antialias=True)
    assert not throwing("torch.nn.functional.interpolate")
    assert not throwing("torch.nn.Upsample", mode="nearest")
    assert throwing("torch.nn.Upsample", mode="bicubic")
    assert not throwing("torch.nn.UpsamplingBilinear2d")
    assert throwing("torch.nn.functional.pad", mode="reflect", pad=(1, 1))
    assert not throwing("torch.nn.functional.pad", mode="reflect", pad=(1, 1, 1, 1))
    assert not throwing("torch.nn.functional.pad", pad=(1, 1))
    assert throwing("torch.Tensor.put_")
    assert throwing("torch.Tensor.median", dim=1)
    assert not throwing("torch.Tensor.median")
    assert throwing("torch.bincount", weights="w")
    assert not throwing("torch.bincount")
    assert not throwing("torch.nn.AdaptiveAvgPool2d", output_size=1)
    assert not throwing("torch.nn.AdaptiveAvgPool2d", output_size=(1, 1))
    assert throwing("torch.nn.AdaptiveAvgPool2d", output_size=(7, 7))
    assert throwing("torch.Tensor.scatter_reduce_", reduce="prod")
    assert not throwing("torch.Tensor.scatter_reduce_", reduce="sum")
    assert throwing("torch.nn.MaxPool3d")
    assert not throwing("torch.nn.MaxPool3d", return_indices=True)


def test_positions_are_those_of_the_spelling() -> None:
    def position(qualname: str, parameter: str) -> set[int | None]:
        return {c.position for row in op_rows(qualname) for c in row.when if c.parameter == parameter}

    assert position("torch.nn.functional.interpolate", "mode") == {3}
    assert position("torch.nn.Upsample", "mode") == {2}
    assert position("torch.bincount", "weights") == {1}
    assert position("torch.Tensor.bincount", "weights") == {0}
    assert position("torch.nn.UpsamplingBilinear2d", "mode") == set()


def test_flags_sort_out_what_has_a_switch_of_its_own() -> None:
    assert {flag for row in op_rows("torch.nn.Conv2d") for flag in row.flags} == {"cudnn", "padding"}
    assert {"cublas"} in [set(row.flags) for row in op_rows("torch.nn.Linear")]
    assert all("memory" in row.flags for row in op_rows("torch.empty"))


def installed() -> TorchOnDisk:
    folder = installed_folder()
    if folder is None:
        pytest.skip("torch is not installed")
    return TorchOnDisk(folder)


def test_the_installed_torch_says_nothing_that_the_table_does_not() -> None:
    torch = installed()
    assert len(torch.documented_as_raising) > 20
    assert len(torch.documented_as_deterministic) > 20
    unknown = [text for name, text in disagreements(torch) if not admits(KNOWN.get(name, ("<0",))[0], torch.version)]
    assert unknown == []


def test_the_alerts_are_read_from_the_libraries() -> None:
    torch = installed()
    if sys.platform != "linux" or platform.machine() != "x86_64":
        pytest.skip("reads the machine code of x86-64 in ELF libraries")
    assert {"put_", "max_unpooling2d_forward_out"} <= set(torch.alerts)


def test_the_modes_of_interpolate_that_the_documentation_lists() -> None:
    torch = installed()
    if release(torch.version) != release("2.13"):
        pytest.skip("what the documentation leaves out is that of torch 2.13")
    listed = torch.documentation.partition("one of the following modes is used:")[2]
    modes = set(re.findall(r"^\s*- ``(\w+)``", listed.partition(":class:")[0], re.MULTILINE))
    throwing = {
        value
        for row in rows("torch.nn.functional.interpolate", "2.13", "throws")
        for condition in row.when
        if condition.parameter == "mode"
        for value in condition.values
    }
    # Bilinear (2.1) and trilinear (2.9) have become deterministic under the flag; bilinear raises only with
    # antialias=True. Area is adaptive pooling, and is not listed.
    assert modes - throwing == {"trilinear"}
    assert throwing - modes == {"area"}


def test_the_newest_release_is_known() -> None:
    assert release(newest_release()) >= release("2.13")
