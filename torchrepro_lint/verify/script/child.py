"""What a watched process runs: `python child.py PLAN`, the plan being JSON.

The script, or the module, runs as `__main__` as Python itself would run it: the same `sys.argv`, `sys.path[0]` and
working directory.
"""

from __future__ import annotations

import atexit
import faulthandler
import json
import os
import runpy
import sys
import types
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchrepro_lint.verify.script.ranks import OtherRanks
    from torchrepro_lint.verify.script.watch.recorder import Recorder

_OURS = (__file__, runpy.__file__, "<frozen runpy>")  # what is around a script in its tracebacks


def main() -> None:
    """Run the script under the instruments; the process ends as the script's own would."""
    job: dict[str, Any] = json.loads(sys.argv[1])
    if job.get("view") is not None:
        _enter_view(job["view"])
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    sys.path[0] = root
    from torchrepro_lint.verify.script.entries import Header
    from torchrepro_lint.verify.script.environment import before_start
    from torchrepro_lint.verify.script.plan import Plan
    from torchrepro_lint.verify.script.ranks import OtherRanks, free_port, rank_name, variables
    from torchrepro_lint.verify.script.watch.install import install
    from torchrepro_lint.verify.script.watch.places import NOWHERE
    from torchrepro_lint.verify.script.watch.recorder import Identity

    # When the process is aborted, or crashes, this says where it stood.
    faulthandler.enable(open(job["trace"], "w"), all_threads=True)  # noqa: SIM115
    header = Header(**{**job["header"], "command": tuple(job["header"]["command"])})
    plan, rank = Plan.from_json(job["plan"]), job.get("rank", 0)
    recorder = install(plan, header) if rank == 0 else install(plan, identity=Identity(rank_name(rank)))
    others: OtherRanks | None = None
    if plan.ranks and rank == 0:
        environments = [
            {**os.environ, **variables(one, plan.ranks, port)} for port in [free_port()] for one in range(plan.ranks)
        ]
        jobs = [{**job, "view": None, "rank": one, "trace": f"{job['trace']}-{one}"} for one in range(1, plan.ranks)]
        commands = [[sys.executable, os.path.abspath(__file__), json.dumps(one)] for one in jobs]
        others = OtherRanks(commands, environments[1:])
        os.environ.update(environments[0])
    recorder.record("environment", detail=before_start(), places=NOWHERE)
    if recorder.plan.ticking:
        from torchrepro_lint.verify.script.perturb.clock import tick

        tick()
    if header.perturbation is not None:
        from torchrepro_lint.verify.script.perturb.apply import apply
        from torchrepro_lint.verify.script.watch.effects import Effects

        apply(header.perturbation, 1, Effects(recorder, header.perturbation))
    del sys.path[0]
    if root not in sys.path:
        # At the end, where it hides nothing: processes that the script spawns look for the instruments.
        sys.path.append(root)
    _run(header.command, recorder, others)


def _enter_view(arguments: dict[str, Any]) -> None:
    # Its module needs nothing of ours, and this process must not have a thread yet.
    view = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "overlay.py"), run_name="overlay")
    view["enter_view"](**arguments)


def _run(command: tuple[str, ...], recorder: Recorder, others: OtherRanks | None) -> None:
    status = 0
    ended = "exit"

    def end() -> None:
        recorder.end(ended, status)

    # What is registered first is called last.
    atexit.register(end)
    if others is not None:
        atexit.register(others.wait)
    try:
        if command[0] == "-m":
            sys.path.insert(0, os.getcwd())
            sys.argv = ["-m", *command[2:]]
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        else:
            _run_file(command[0], list(command))
    except SystemExit as stop:
        ended = "sys.exit"
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        raise
    except BaseException as error:
        if type(error).__name__ == "Stopped" and type(error).__module__.startswith("torchrepro_lint.verify."):
            ended = "stopped"  # in a pool of this process
            return
        from torchrepro_lint.verify.script.watch.places import innermost

        ended, status = "exception", 1
        traceback = _without_us(error.__traceback__)
        recorder.record("failure", type(error).__name__, shown=str(error), places=(innermost(traceback), None))
        # As Python ends: by the hook, which the script may have set.
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        sys.exit(1)


def _without_us(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback from where the script begins; None where it never began, as Python shows a syntax error."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename in _OURS:
        traceback = traceback.tb_next
    return traceback


def _run_file(script: str, argv: list[str]) -> None:
    sys.path.insert(0, os.path.dirname(os.path.realpath(script)))
    sys.argv = argv
    # As Python itself does: the script may change its folder, and then ask for its own file.
    script = os.path.abspath(script)
    module = types.ModuleType("__main__")
    module.__file__ = script
    module.__loader__ = SourceFileLoader("__main__", script)
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec", dont_inherit=True)
    exec(code, module.__dict__)


if __name__ == "__main__":
    main()
