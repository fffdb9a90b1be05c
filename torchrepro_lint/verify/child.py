"""What a watched process runs: `python child.py --record FILE [--perturb WHAT] [--start-method M] SCRIPT [ARGS]`.

The script runs as `__main__` from its own file, with its own folder first on the path, so that workers which start
with spawn or forkserver find it as they do without an observer.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import types
from importlib.machinery import SourceFileLoader
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchrepro_lint.verify.observer import Observer


def main() -> int:
    """Run the script under the observer; the process ends as the script's own would."""
    parser = argparse.ArgumentParser(prog="child", allow_abbrev=False)
    parser.add_argument("--record", required=True)
    parser.add_argument("--perturb")
    parser.add_argument("--start-method")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    package_root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path[0] = package_root
    from torchrepro_lint.verify import observer as watch

    script = os.path.abspath(options.script)
    sys.path[0] = os.path.dirname(script)
    sys.argv = [options.script, *options.arguments]
    if options.start_method:
        import multiprocessing

        multiprocessing.set_start_method(options.start_method)
    observer = watch.Observer(options.record)
    watch.install(observer, options.perturb)
    status = _run(script, observer)
    observer.write("environment", values=watch.environment())
    observer.write("end", switches=watch.switches())
    return status


def _run(script: str, observer: Observer) -> int:
    main_module = types.ModuleType("__main__")
    main_module.__file__ = script
    main_module.__loader__ = SourceFileLoader("__main__", script)
    sys.modules["__main__"] = main_module
    compiling = True
    try:
        with open(script, "rb") as file:
            code = compile(file.read(), script, "exec", dont_inherit=True)
        compiling = False
        exec(code, main_module.__dict__)
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        observer.write("exit", status=status)
        return status
    except BaseException as error:
        names = [kind.__name__ for kind in type(error).__mro__]
        observer.write("failure", types=names, text=str(error), compiling=compiling)
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
