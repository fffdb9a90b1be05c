"""The seed that only another file reads: a function's callers pass it `args`, or the files import the same `cfg`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from torchrepro_lint.facts.scopes import END
from torchrepro_lint.facts.tree import Call, FunctionDef, ImportFrom, Name
from torchrepro_lint.fixes.documents import document_of, function_of
from torchrepro_lint.fixes.parsed_options import is_parsing
from torchrepro_lint.fixes.seed_expression import SEED_WORD, PassedSeed, config_seed, option_seed
from torchrepro_lint.fixes.seed_uses import is_configuration
from torchrepro_lint.program.evaluation.values import UNKNOWN
from torchrepro_lint.program.running.callers import visible_calls

if TYPE_CHECKING:
    from torchrepro_lint.facts.module import ModuleFacts
    from torchrepro_lint.facts.scopes import Scope
    from torchrepro_lint.program.program import Program

__all__ = ["passed_seeds"]

_MAX_CALLERS = 3


def passed_seeds(program: Program, facts: ModuleFacts, scope: Scope) -> tuple[PassedSeed, ...]:
    """The seeds that the parameters of the function around `scope` bring along, where all visible callers agree; then
    those of the configurations that the file imports, where the programs that import the file agree.

    A caller says so by reading the attribute of the same name that it passes: `set_seed(args.seed)` and `build(args)`;
    or by passing what it parses: `main(parser.parse_args())`, with an option `--seed`.
    """
    function = function_of(scope)
    params = _definition(function).params if function is not None else ()
    names = [param.name for param in params if param.kind in ("positional", "keyword") and param.name != "self"]
    found = [_passed(program, facts, function, name, 0) for name in names if function and is_configuration(name)]
    found.extend(_shared(program, facts, name) for name in sorted(facts.scope.bindings) if is_configuration(name))
    return tuple(seed for seed in found if seed is not None)


def _shared(program: Program, facts: ModuleFacts, name: str) -> PassedSeed | None:
    """The seed that a configuration has, which this file imports, as the files read it that load this one."""
    if not _is_imported(facts, name):
        return None
    own = program.ev.name(name, END, program.ev.module_frame(facts))
    if not own or UNKNOWN in own:
        return None
    answers: set[PassedSeed] = set()
    for path in program.imports.above(facts.path) - {facts.path}:
        # Hundreds of files may import a configuration, of which few say a word of seeds.
        loading = program.facts(path) if program.project.holds(path, SEED_WORD) else None
        if loading is None or not _is_imported(loading, name):
            continue
        if program.ev.name(name, END, program.ev.module_frame(loading)) == own:
            document = document_of(program, path)
            last = document.module.body[-1] if document.module.body else None
            answer = config_seed(document, name, last) if isinstance(last, cst.BaseStatement) else None
            if answer is not None:
                answers.add(answer)
    if not answers:
        return _of_its_maker(program, facts, name)
    return answers.pop() if len(answers) == 1 else None


def _of_its_maker(program: Program, facts: ModuleFacts, name: str) -> PassedSeed | None:
    """The seed that a configuration has as the module reads it that makes it, or the function there that returns it."""
    node = facts.scope.bindings[name][-1].node
    if not isinstance(node, ImportFrom):
        return None
    path = program.project.resolve_from(facts.path, node.level, node.module)
    maker = program.facts(path) if path is not None and path.suffix == ".py" else None
    own = next((original for original, alias in node.names if (alias or original) == name), name)
    if maker is None:
        return None
    document = document_of(program, maker.path)
    found = config_seed(document, own, document.module.body[-1]) if document.module.body else None
    if found is not None:
        return found.under(name)
    for binding in maker.scope.bindings.get(own, ()):
        function = _called_function(maker, binding.node)
        for statement, _ in function.returns if function is not None else ():
            at = document.node_at(*program.parsed(maker.path).span(statement.site), cst.Return)
            if at is not None and isinstance(statement.value, Name):
                found = config_seed(document, statement.value.id, document.statement(at))
                return found.under(name) if found is not None else None
    return None


def _called_function(facts: ModuleFacts, node: object) -> Scope | None:
    """The function of a file that an expression calls by its name."""
    match node:
        case Call(func=Name(id=called)):
            return next((scope for scope in facts.scope.children if scope.name == called), None)
    return None


def _is_imported(facts: ModuleFacts, name: str) -> bool:
    bindings = facts.scope.bindings.get(name, ())
    return bool(bindings) and all(binding.kind == "import-from" for binding in bindings)


def _passed(program: Program, facts: ModuleFacts, function: Scope, name: str, depth: int) -> PassedSeed | None:
    calls = visible_calls(program.ev, facts, function)
    answers: set[PassedSeed | None] = set()
    for call, frame in calls:
        document = document_of(program, frame.facts.path)
        node = document.node_at(*program.parsed(frame.facts.path).span(call.site), cst.Call)
        given = _argument(function, node, name) if node is not None else None
        if node is not None and given is not None and is_parsing(given):
            answers.add(option_seed(document, document.statement(node), name))
            continue
        if node is None or not isinstance(given, cst.Name) or not is_configuration(given.value):
            return None
        answer = config_seed(document, given.value, document.statement(node))
        outer = function_of(frame.scope)
        if answer is None and outer is not None and depth < _MAX_CALLERS:
            if any(param.name == given.value for param in _definition(outer).params):
                answer = _passed(program, frame.facts, outer, given.value, depth + 1)
        answers.add(answer.under(name) if answer is not None else None)
    return answers.pop() if len(answers) == 1 else None


def _argument(function: Scope, call: cst.Call, name: str) -> cst.BaseExpression | None:
    """What a call of the function passes to one of its parameters, as far as the call says so."""
    if any(argument.star == "*" for argument in call.args):
        return None
    params: Sequence[str] = [param.name for param in _definition(function).params]
    if params[:1] == ["self"]:
        params = params[1:]
    for index, argument in enumerate(call.args):
        if argument.star:
            continue
        if (argument.keyword.value if argument.keyword else params[index] if index < len(params) else None) == name:
            return argument.value
    return None


def _definition(function: Scope) -> FunctionDef:
    assert isinstance(function.node, FunctionDef)
    return function.node
