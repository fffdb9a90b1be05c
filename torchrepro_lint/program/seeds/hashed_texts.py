"""What Python's hash of a text decides: a part of a split, a number that stands for the text, the name of a kept file.

The hash of a text is another one in every run of Python, unless PYTHONHASHSEED is set before it starts. Of seeds that
are hashes TRL503 speaks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from torchrepro_lint.facts import tree
from torchrepro_lint.facts.expressions import walk
from torchrepro_lint.facts.scopes import Scope
from torchrepro_lint.knowledge.function_words import function_words
from torchrepro_lint.knowledge.method_words import method_words
from torchrepro_lint.knowledge.program_words import program_words
from torchrepro_lint.program.evaluation.values import External, Site
from torchrepro_lint.program.intent.entropy_calls import is_entropy
from torchrepro_lint.program.intent.seed_entropy import hashed_of
from torchrepro_lint.program.orders.element_kinds import Reader
from torchrepro_lint.program.running.call_index import NamedCall, called_name, calls_in
from torchrepro_lint.program.running.callers import contexts
from torchrepro_lint.program.running.parents import Parents, parents_of
from torchrepro_lint.program.seeds.set_texts import checksums_of_sets, has_texts_of_sets, text_of_a_set
from torchrepro_lint.program.switches.environment import is_set_outside
from torchrepro_lint.program.word_index import any_word

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.program.program import Program

__all__ = ["HashedText", "hashed_texts"]

#: Outside functions that keep what a number tells apart.
_KEEPS: Final = frozenset({"abs", "int", "float", "round"})
#: How many expressions within others are read for what a text is made of.
_DEPTH: Final = 8
#: How many questions are answered to find out whether a path holds a hash.
MAX_STEPS_OF_A_PATH: Final = 6_000
#: By their names, numbers of which another one is no loss.
_NO_LOSS: Final = function_words("any_will_do")


@dataclass(frozen=True, slots=True)
class HashedText:
    """The call of `hash` and the place where the number decides something.

    `split`: it is compared, modulo a number; `number`: the rest of such a division is given to a network in the place
    of the text; `file`: it is a part of a path at which a program looks for a file. Of `checksum` and `name`, the first
    place is where a set of texts becomes a text, of which a checksum is made, or such a path.
    """

    site: Site
    use: Site
    decides: Literal["split", "number", "file", "checksum", "name"]


def hashed_texts(program: Program) -> Iterator[HashedText]:
    """All of them in the files whose findings somebody waits for, in the order of files and text."""
    if is_set_outside(program, "PYTHONHASHSEED"):
        return
    found: dict[Site, HashedText] = {}
    for one in (*_files(program), *_remainders(program), *_of_sets(program)):
        found.setdefault(one.site, one)
    yield from (found[site] for site in sorted(found, key=lambda site: (str(site.path), site.number)))


def _of_sets(program: Program) -> Iterator[HashedText]:
    for made, use in checksums_of_sets(program):
        yield HashedText(made, use, "checksum")


# --- the rest of a division ---------------------------------------------------------------------------------------


def _remainders(program: Program) -> Iterator[HashedText]:
    for path in program.asked_with(program_words("hashes")):
        for facts, scope, call in _calls_of_hash(program, path):
            program.ev.begin_question()
            found = _of_call(program, facts, scope, call)
            if found is not None:
                yield found


def _calls_of_hash(program: Program, path: Path) -> Iterator[tuple[ModuleFacts, Scope, tree.Call]]:
    """The calls of `hash` in a file, each with the function that it is in."""
    facts = program.facts(path)
    if facts is not None:
        for scope in facts.walk_scopes():
            for call, _ in scope.calls:
                if isinstance(call.func, tree.Name) and call.func.id == "hash":
                    yield facts, scope, call


def _of_call(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> HashedText | None:
    parents = parents_of(program.ev, facts)
    rest = _outermost(parents, call)
    if rest is None or _is_no_loss(parents, rest, scope):
        return None
    compared = _comparison(parents, rest, scope)
    use: tree.Expr | None = compared if compared is not None else rest if _is_a_feature(parents, rest, scope) else None
    if use is None or not _is_of_a_text(program, facts, scope, call):
        return None
    decides: Literal["split", "number"] = "split" if compared is not None else "number"
    return HashedText(Site(facts.path, call.site), Site(facts.path, use.site), decides)


def _is_of_a_text(program: Program, facts: ModuleFacts, scope: Scope, call: tree.Call) -> bool:
    """Whether the call is Python's hash, and its argument a text, as far as the code shows."""
    if len(call.args) != 1 or call.args[0].star:
        return False
    for frame in contexts(program.ev, facts, scope):
        values = program.ev.values(call.func, frame)
        if not values or not all(isinstance(one, External) and one.name == "builtins.hash" for one in values):
            return False
        if is_entropy("builtins.hash", call, program.ev, frame):
            return True
    return Reader(program, facts, scope).kind(call.args[0].value, _DEPTH) in ("text", "named")


def _outermost(parents: Parents, call: tree.Call) -> tree.Expr | None:
    """The number that is made of a hash alone, where a rest of a division by it is taken on the way."""
    node: tree.Expr = call
    is_rest = False
    while True:
        match parents.of(node):
            case tree.Arg() as arg:
                above = parents.of(arg)
                if not isinstance(above, tree.Call) or called_name(above.func) not in _KEEPS:
                    return node if is_rest else None
                node = above
            case tree.Binary(op="%", left=left) as above if left is node:
                node, is_rest = above, True
            case tree.Binary(op="/" | "//" | "&" | ">>" | "^", left=left) as above if left is node:
                node = above
            case _:
                return node if is_rest else None


def _comparison(parents: Parents, rest: tree.Expr, scope: Scope) -> tree.Compare | None:
    """The comparison that decides by the number, at once or by a name that is given nothing else. A table of hashes
    that looks for its next free place gives its name another number.
    """
    above = parents.of(rest)
    if isinstance(above, tree.Compare):
        return above
    name = _name_of(parents, rest, scope)
    uses = parents.names_in(name, parents.function(rest)) if name is not None else ()
    return next((of for use in uses if isinstance(of := parents.of(use), tree.Compare)), None)


def _name_of(parents: Parents, rest: tree.Expr, scope: Scope) -> str | None:
    """The name that the number is given, where it is bound only once."""
    target = parents.target_of(rest)
    return target.id if isinstance(target, tree.Name) and len(scope.bindings.get(target.id, ())) == 1 else None


def _is_a_feature(parents: Parents, rest: tree.Expr, scope: Scope) -> bool:
    """Whether the number is one of many in a list, `[hash(word) % size for word in words]`, or a place in a vector at
    which something is added, `vector[hash(word) % size] += 1`: a network is given what it stands for.
    """
    above = parents.of(rest)
    if isinstance(above, tree.Comprehension):
        return above.element is rest and above.key is None
    name = _name_of(parents, rest, scope)
    uses: Sequence[tree.Expr] = parents.names_in(name, parents.function(rest)) if name is not None else (rest,)
    places = (parents.of(use) for use in uses)
    return any(
        isinstance(place, tree.Subscript) and place.index in uses and isinstance(parents.of(place), tree.AugAssign)
        for place in places
    )


def _is_no_loss(parents: Parents, rest: tree.Expr, scope: Scope) -> bool:
    """Whether names say that the number is a seed, of which TRL503 speaks, or one that need not be the same."""
    names = [*scope.given_to(rest)] if isinstance(rest, tree.Call) else []
    if (target := parents.target_of(rest)) is not None:
        names.extend(
            one.id if isinstance(one, tree.Name) else one.attr
            for one in walk([target])
            if isinstance(one, (tree.Name, tree.Attribute))
        )
    for above in parents.around(rest):
        match above:
            case tree.Arg(keyword=str() as keyword):
                names.append(keyword)
            case tree.Call(func=func):
                names.append(called_name(func) or "")
            case tree.FunctionDef(name=name):
                names.append(name)
                break
            case tree.ClassDef():
                break
    return any(_NO_LOSS.search(name) or name == "__hash__" for name in names)


# --- names of files -----------------------------------------------------------------------------------------------


def _files(program: Program) -> Iterator[HashedText]:
    words = method_words("asks_for_a_file")
    asked = program.asked_with(any_word(words))
    if not asked:
        return
    hashes = any(_hashes_a_text(program, path) for path in program.project.matching(program_words("hashes")))
    sets = has_texts_of_sets(program)
    for path in asked if hashes or sets else ():
        facts = program.facts(path)
        for word in sorted(words) if facts is not None else ():
            assert facts is not None
            for one in calls_in(program.ev, facts, word):
                found = _of_a_file(program, one)
                if found is not None:
                    yield found


def _hashes_a_text(program: Program, path: Path) -> bool:
    """Whether a file calls `hash` with a text, and not only with an object or a number: few do, and to follow each path
    of a project back to where it comes from is dear.
    """
    for facts, scope, call in _calls_of_hash(program, path):
        if scope.name != "__hash__":
            program.ev.begin_question()
            frames = contexts(program.ev, facts, scope)
            if any(is_entropy("builtins.hash", call, program.ev, frame) for frame in frames):
                return True
    return False


def _of_a_file(program: Program, one: NamedCall) -> HashedText | None:
    asked = one.call.args[0].value if one.call.args else None
    if asked is None and isinstance(one.call.func, tree.Attribute):
        asked = one.call.func.value
    if asked is None or _only_makes_a_folder(program, one):
        return None
    program.ev.begin_question(MAX_STEPS_OF_A_PATH)
    use = Site(one.facts.path, one.call.site)
    for frame in contexts(program.ev, one.facts, one.scope):
        found = hashed_of(program.ev, asked, frame)
        if found is not None:
            return HashedText(found.site, use, "file")
        made = text_of_a_set(program, asked, frame) if has_texts_of_sets(program) else None
        if made is not None:
            return HashedText(made, use, "name")
    return None


def _only_makes_a_folder(program: Program, one: NamedCall) -> bool:
    """Whether nothing is looked for but a folder that is to be made: `if not exists(path): makedirs(path)`."""
    statement = parents_of(program.ev, one.facts).statement(one.call)
    match statement:
        case tree.If(body=(tree.ExprStmt(value=tree.Call(func=func)), *_)):
            return function_words("makes_folders").fullmatch(called_name(func) or "") is not None
    return False
