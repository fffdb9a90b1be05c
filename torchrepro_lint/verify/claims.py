"""What a program may claim about its run: a closed vocabulary, parsed into types.

A claim is one line of a fixture's header, `# claim: [device] [start method] observation`. The labels are optional: a
claim without a device holds on every device, one without a start method under the platform's own. A line with several
start methods is one claim for each of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

Device: TypeAlias = Literal["cpu", "cuda"]
StartMethod: TypeAlias = Literal["fork", "spawn", "forkserver"]
Stream: TypeAlias = Literal["batches", "order", "output"]
Seeder: TypeAlias = Literal["random.seed", "np.random.seed", "torch.manual_seed"]

DEVICES: tuple[Device, ...] = get_args(Device)
START_METHODS: tuple[StartMethod, ...] = get_args(StartMethod)
SEEDERS: tuple[Seeder, ...] = get_args(Seeder)


class ClaimError(ValueError):
    """A line that is not in the vocabulary. The text names the line."""


@dataclass(frozen=True, slots=True)
class RunsAgree:
    """Fresh processes give the same `stream` (`agree`), or at least two of them do not."""

    stream: Stream
    agree: bool


@dataclass(frozen=True, slots=True)
class WorkersRepeat:
    """Two workers of one loader deliver the same batches in the same order within an epoch."""

    repeat: bool


@dataclass(frozen=True, slots=True)
class EpochsRepeat:
    """An epoch of a loader delivers the batches of the epoch before."""

    repeat: bool


@dataclass(frozen=True, slots=True)
class WorkerRepeatsItself:
    """All batches that one worker delivers in one epoch are the same."""

    repeat: bool


@dataclass(frozen=True, slots=True)
class SamplesCome:
    """Every batch of an epoch is delivered `times` times."""

    times: int


@dataclass(frozen=True, slots=True)
class Raises:
    """The program ends with this exception, its text containing `text`."""

    exception: str
    text: str


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """The program does not compile."""

    text: str


@dataclass(frozen=True, slots=True)
class SwitchIs:
    """When the program ends, this switch has this value."""

    switch: str
    value: bool


@dataclass(frozen=True, slots=True)
class Prints:
    """The program prints this text, within one line."""

    text: str


@dataclass(frozen=True, slots=True)
class DrawsFollow:
    """Runs agree, and another seed given to `seeder` in the main process changes the batches (`follow`) or does not."""

    seeder: Seeder
    follow: bool


@dataclass(frozen=True, slots=True)
class Alerts:
    """With deterministic algorithms turned on from outside, torch says of an operation that it has none.

    `text` is a part of the alert; None claims that there is no alert at all.
    """

    text: str | None


@dataclass(frozen=True, slots=True)
class NotShown:
    """Nothing is run for this; `why` says why it cannot be shown."""

    why: str


Observation: TypeAlias = (
    RunsAgree
    | WorkersRepeat
    | EpochsRepeat
    | WorkerRepeatsItself
    | SamplesCome
    | Raises
    | SyntaxFault
    | SwitchIs
    | Prints
    | DrawsFollow
    | Alerts
    | NotShown
)

SWITCHES = (
    "torch.backends.cudnn.benchmark",
    "torch.backends.cudnn.deterministic",
    "torch.backends.cudnn.enabled",
    "torch.are_deterministic_algorithms_enabled()",
    "torch.is_deterministic_algorithms_warn_only_enabled()",
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: the observation, as typed data and as written, and where it is to hold."""

    text: str
    observation: Observation
    device: Device | None = None
    start_method: StartMethod | None = None


_FIXED: dict[str, Observation] = {
    "batches agree between runs": RunsAgree("batches", True),
    "batches differ between runs": RunsAgree("batches", False),
    "order agrees between runs": RunsAgree("order", True),
    "order differs between runs": RunsAgree("order", False),
    "output agrees between runs": RunsAgree("output", True),
    "output differs between runs": RunsAgree("output", False),
    "workers repeat each other": WorkersRepeat(True),
    "workers differ": WorkersRepeat(False),
    "epochs repeat": EpochsRepeat(True),
    "epochs differ": EpochsRepeat(False),
    "batches repeat within a worker": WorkerRepeatsItself(True),
    "batches differ within a worker": WorkerRepeatsItself(False),
    "samples come once": SamplesCome(1),
    "no alerts under determinism": Alerts(None),
    "syntax error": SyntaxFault(""),
}
_LABEL = re.compile(r"\[([a-z]+)\]\s*")


def parse_claims(line: str) -> tuple[Claim, ...]:
    """Read what follows `# claim:`: one claim for each start method that the line names, or one without.

    Raises:
        ClaimError: the line is not in the vocabulary.
    """
    rest = line.strip()
    devices: list[Device] = []
    methods: list[StartMethod] = []
    while label := _LABEL.match(rest):
        device = next((known for known in DEVICES if known == label[1]), None)
        method = next((known for known in START_METHODS if known == label[1]), None)
        if device is not None and not devices:
            devices.append(device)
        elif method is not None and method not in methods:
            methods.append(method)
        else:
            raise ClaimError(f"unknown or repeated label [{label[1]}] in claim: {line.strip()}")
        rest = rest[label.end() :]
    observation = _observation(rest)
    plain = Claim(rest, observation, devices[0] if devices else None)
    return tuple(replace(plain, start_method=method) for method in methods) or (plain,)


def _observation(text: str) -> Observation:
    if (fixed := _FIXED.get(text)) is not None:
        return fixed
    if match := re.fullmatch(r"samples come (\d+) times", text):
        return SamplesCome(int(match[1]))
    if match := re.fullmatch(r"raises ([A-Za-z_][\w.]*)(?:: (\S.*))?", text):
        return Raises(match[1], match[2] or "")
    if match := re.fullmatch(r"syntax error: (\S.*)", text):
        return SyntaxFault(match[1])
    if (match := re.fullmatch(r"switch (\S+) is (True|False)", text)) and match[1] in SWITCHES:
        return SwitchIs(match[1], match[2] == "True")
    if match := re.fullmatch(r"draws (follow|ignore) (\S+)", text):
        for seeder in SEEDERS:
            if match[2] == seeder:
                return DrawsFollow(seeder, match[1] == "follow")
    if match := re.fullmatch(r"prints (\S.*)", text):
        return Prints(match[1])
    if match := re.fullmatch(r"alerts under determinism: (\S.*)", text):
        return Alerts(match[1])
    if match := re.fullmatch(r"not shown: (\S.*)", text):
        return NotShown(match[1])
    raise ClaimError(f"not a known claim: {text}")
