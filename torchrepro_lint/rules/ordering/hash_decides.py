"""TRL214 hash-decides.

What it does
    Finds places where Python's `hash` of a string decides:
    - in which part of a split a sample is (`hash(name) % 100 < 20`);
    - which number stands for a word (`[hash(word) % size for word in words]`);
    - under which name a file is looked for that an earlier run may have left (`f"features_{hash(config)}.pt"`).

    Also finds checksums, and such names, of a text that is made of a set of strings in the order of the set
    (`hashlib.md5(str(set(names)).encode())`, `"_".join(set(names))`).

    It is rare: public repositories had four findings, all of them worth a change.

Why is this bad?
    The hash of a string is another one in every process, unless `PYTHONHASHSEED` is set before Python starts. Each run
    then has another validation set, so that a training that is resumed has trained on its validation data; a network
    that is loaded again gets other numbers for the same words; and a cache is filled anew by every run and never used.
    No seed changes that. The order of a set of strings follows their hashes, and so does what is made of it.

Example
    ```python
    import torch

    def in_validation(name: str) -> bool:
        return hash(name) % 100 < 20

    names = [f"speaker{i}.wav" for i in range(100)]
    print(torch.tensor([in_validation(name) for name in names]).nonzero().flatten())
    ```

Use instead
    ```python
    import zlib

    import torch

    def in_validation(name: str) -> bool:
        return zlib.crc32(name.encode()) % 100 < 20

    names = [f"speaker{i}.wav" for i in range(100)]
    print(torch.tensor([in_validation(name) for name in names]).nonzero().flatten())
    ```

Since
    All versions of Python from 3.3 on.

How it is proven
    `verify` runs each program in two processes, whose output differs.

Fix safety
    No fix: other numbers would stand for what an earlier run has split or stored.

Not reported
    - The hash of a number, of a tuple of numbers, or of what is not known to be a string.
    - Seeds (TRL503), and the hash in `__hash__`.
    - Tables of hashes and names that hold within one run: a place in a list to which something is appended, a part of a
      text such as the id of a run, a port, a colour.
    - A folder that is only made where it is missing.
    - Checksums and names that are made of a set: reported in the `strict` profile only, as none was met in the public
      programs that were read.
    - Sets that are sorted before, or are of numbers; texts of sets of which no checksum is made and that name no file.
    - Projects in which a shell script, a Dockerfile or another file beside the code sets `PYTHONHASHSEED`.

Known limits
    Where nothing shows what a name holds, the name decides: `hash(filename)` is taken for the hash of a string.
    Checksums of objects that only hold a set (`pickle.dumps(config)`) are not found.

References
    https://docs.python.org/3/reference/datamodel.html#object.__hash__
    https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED
    https://github.com/speechbrain/speechbrain/pull/1269
"""

from __future__ import annotations

from collections.abc import Iterator

from torchrepro_lint.diagnostics import Finding
from torchrepro_lint.program.program import Program
from torchrepro_lint.program.running.reach import Link
from torchrepro_lint.program.seeds.hashed_texts import hashed_texts
from torchrepro_lint.rules.base import Rule

_MESSAGES = {
    "split": "the `hash` of a string decides this, and differs in every run of Python: use `zlib.crc32`",
    "number": "this number is the `hash` of a string, which differs in every run of Python: use `zlib.crc32`",
    "file": "the path of this file holds the `hash` of a string, so no later run of Python finds it: use `hashlib`",
    "checksum": "a checksum is made of a set of strings in its order, which differs in every run of Python: sort them",
    "name": "the path of this file holds a set of strings in its order, so no later run of Python finds it: sort them",
}
_NOTES = {"split": "decided here", "number": "stands for the string", "file": "looks for the file"}
_OF_SETS = {"checksum": "makes the checksum", "name": "looks for the file"}
#: Why what is made of sets is of the strict profile.
_UNKNOWN = "too few public programs make such a text of a set to know how often it matters"


class HashDecides(Rule):
    code = "TRL214"
    name = "hash-decides"
    summary = (
        "the hash of a string, or the order of a set, decides a split, a number, a checksum or the name of a kept file"
    )

    def check(self, program: Program) -> Iterator[Finding]:
        for one in hashed_texts(program):
            seldom: str | bool = False
            if one.decides in _OF_SETS:
                trace = [Link(one.site, "strings in the order of a set"), Link(one.use, _OF_SETS[one.decides])]
                seldom = _UNKNOWN
            else:
                trace = [Link(one.site, "the hash of a string"), Link(one.use, _NOTES[one.decides])]
            yield self.finding(program, one.site, _MESSAGES[one.decides], trace, seldom_matters=seldom)
