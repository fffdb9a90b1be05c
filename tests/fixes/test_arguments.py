"""Keyword arguments join a call in the layout that it has."""

from __future__ import annotations

import libcst as cst
import pytest
from fixes.helpers import applied, document, lines, loaders
from hypothesis import given
from hypothesis import strategies as st

from torchrepro_lint.fixes.arguments import add_keyword_arguments
from torchrepro_lint.fixes.passed_arguments import replace_argument

BOTH = [("worker_init_fn", "seed_worker"), ("generator", "g")]


def add(text: str, pairs: list[tuple[str, str]] = BOTH) -> str:
    parsed = document(text)
    return applied(text, add_keyword_arguments(parsed, loaders(parsed)[0], pairs))


ONE_LINE = [
    ("DataLoader()", "DataLoader(worker_init_fn=seed_worker, generator=g)"),
    ("DataLoader(ds)", "DataLoader(ds, worker_init_fn=seed_worker, generator=g)"),
    ("DataLoader(ds,)", "DataLoader(ds, worker_init_fn=seed_worker, generator=g,)"),
    ("DataLoader( ds )", "DataLoader( ds, worker_init_fn=seed_worker, generator=g )"),
    ("DataLoader((ds))", "DataLoader((ds), worker_init_fn=seed_worker, generator=g)"),
    ("(DataLoader)(ds)", "(DataLoader)(ds, worker_init_fn=seed_worker, generator=g)"),
    ("(DataLoader(ds))", "(DataLoader(ds, worker_init_fn=seed_worker, generator=g))"),
    ("DataLoader(**kw)", "DataLoader(worker_init_fn=seed_worker, generator=g, **kw)"),
    ("DataLoader(ds, **kw)", "DataLoader(ds, worker_init_fn=seed_worker, generator=g, **kw)"),
    ("DataLoader(ds,**kw)", "DataLoader(ds, worker_init_fn=seed_worker, generator=g, **kw)"),
    ("DataLoader(*args)", "DataLoader(*args, worker_init_fn=seed_worker, generator=g)"),
    ("DataLoader(*args, **kw)", "DataLoader(*args, worker_init_fn=seed_worker, generator=g, **kw)"),
    ("DataLoader(i for i in x)", "DataLoader((i for i in x), worker_init_fn=seed_worker, generator=g)"),
    ("DataLoader((i for i in x))", "DataLoader((i for i in x), worker_init_fn=seed_worker, generator=g)"),
]


@pytest.mark.parametrize(("call", "expected"), ONE_LINE)
def test_one_line(call: str, expected: str) -> None:
    assert add(f"loader = {call}  # why\n") == f"loader = {expected}  # why\n"


LAYOUTS = {
    "one per line": (
        """
        x = DataLoader(
            ds,
            batch_size=4,
        )
        """,
        """
        x = DataLoader(
            ds,
            batch_size=4,
            worker_init_fn=seed_worker,
            generator=g,
        )
        """,
    ),
    "one per line, no trailing comma": (
        """
        x = DataLoader(
            ds,
            batch_size=4
        )
        """,
        """
        x = DataLoader(
            ds,
            batch_size=4,
            worker_init_fn=seed_worker,
            generator=g
        )
        """,
    ),
    "comments, trailing comma": (
        """
        x = DataLoader(
            ds,  # data
            batch_size=4,  # size
            # num_workers=4,
        )
        """,
        """
        x = DataLoader(
            ds,  # data
            batch_size=4,  # size
            worker_init_fn=seed_worker,
            generator=g,
            # num_workers=4,
        )
        """,
    ),
    "comments, no trailing comma": (
        """
        x = DataLoader(
            ds,  # data
            batch_size=4  # size
        )
        """,
        """
        x = DataLoader(
            ds,  # data
            batch_size=4,  # size
            worker_init_fn=seed_worker,
            generator=g
        )
        """,
    ),
    "kwargs last, with a comment": (
        """
        x = DataLoader(
            ds,
            batch_size=4,  # size
            # the rest
            **kw,
        )
        """,
        """
        x = DataLoader(
            ds,
            batch_size=4,  # size
            worker_init_fn=seed_worker,
            generator=g,
            # the rest
            **kw,
        )
        """,
    ),
    "kwargs alone": (
        """
        x = DataLoader(
            **kw
        )
        """,
        """
        x = DataLoader(
            worker_init_fn=seed_worker,
            generator=g,
            **kw
        )
        """,
    ),
    "visual indent, one per line": (
        """
        x = DataLoader(ds,
                       batch_size=4,
                       shuffle=True)
        """,
        """
        x = DataLoader(ds,
                       batch_size=4,
                       shuffle=True,
                       worker_init_fn=seed_worker,
                       generator=g)
        """,
    ),
    "visual indent, packed, fits": (
        """
        x = DataLoader(ds, batch_size=4,
                       shuffle=True)
        """,
        """
        x = DataLoader(ds, batch_size=4,
                       shuffle=True, worker_init_fn=seed_worker, generator=g)
        """,
    ),
    "visual indent, a comment behind the parenthesis": (
        """
        x = DataLoader(ds,
                       batch_size=4,
                       shuffle=True)  # in no order
        """,
        """
        x = DataLoader(ds,
                       batch_size=4,
                       shuffle=True,  # in no order
                       worker_init_fn=seed_worker,
                       generator=g)
        """,
    ),
    "visual indent, a comment for a tool behind the parenthesis": (
        """
        x = DataLoader(ds,
                       batch_size=4,
                       shuffle=True)  # type: ignore
        """,
        """
        x = DataLoader(ds,
                       batch_size=4,
                       shuffle=True,
                       worker_init_fn=seed_worker,
                       generator=g)  # type: ignore
        """,
    ),
    "visual indent, packed, does not fit": (
        """
        x = DataLoader(ds, batch_size=4,
                       shuffle=True, num_workers=workers, pin_memory=True)
        """,
        """
        x = DataLoader(ds, batch_size=4,
                       shuffle=True, num_workers=workers, pin_memory=True,
                       worker_init_fn=seed_worker, generator=g)
        """,
    ),
    "hanging indent, packed, parenthesis on the last line": (
        """
        x = DataLoader(
            ds, batch_size=4, shuffle=True,
            num_workers=workers, pin_memory=True, sampler=sampler)
        """,
        """
        x = DataLoader(
            ds, batch_size=4, shuffle=True,
            num_workers=workers, pin_memory=True, sampler=sampler,
            worker_init_fn=seed_worker, generator=g)
        """,
    ),
    "packed, with a comment at the end": (
        """
        x = DataLoader(ds, batch_size=4,
                       shuffle=True, num_workers=2  # two
                       )
        """,
        """
        x = DataLoader(ds, batch_size=4,
                       shuffle=True, num_workers=2,  # two
                       worker_init_fn=seed_worker, generator=g
                       )
        """,
    ),
    "all on one inner line, fits": (
        """
        x = DataLoader(
            ds, batch_size=4, shuffle=True
        )
        """,
        """
        x = DataLoader(
            ds, batch_size=4, shuffle=True, worker_init_fn=seed_worker, generator=g
        )
        """,
    ),
    "all on one inner line, does not fit": (
        """
        x = DataLoader(
            train_set, batch_size=4, shuffle=True, num_workers=2
        )
        """,
        """
        x = DataLoader(
            train_set,
            batch_size=4,
            shuffle=True,
            num_workers=2,
            worker_init_fn=seed_worker,
            generator=g,
        )
        """,
    ),
    "an argument over several lines": (
        """
        x = DataLoader(MyDataset(
            root,
        ), batch_size=4)
        """,
        """
        x = DataLoader(MyDataset(
            root,
        ), batch_size=4, worker_init_fn=seed_worker, generator=g)
        """,
    ),
    "commas first": (
        """
        x = DataLoader(dataset=ds
                       , batch_size=4  # four
                       )
        """,
        """
        x = DataLoader(dataset=ds
                       , batch_size=4  # four
                       , worker_init_fn=seed_worker
                       , generator=g
                       )
        """,
    ),
    "too long, wrapped on one line": (
        """
        if x:
            loader = DataLoader(train_set, batch_size=4, shuffle=True)
        """,
        """
        if x:
            loader = DataLoader(
                train_set, batch_size=4, shuffle=True, worker_init_fn=seed_worker, generator=g
            )
        """,
    ),
    "too long, aligned in a file of longer lines than a formatter leaves": (
        """
        if x:
            return_value = DataLoader(train_set, batch_size=4, shuffle=True, num_workers=2, **kw)  # why
        """,
        """
        if x:
            return_value = DataLoader(train_set, batch_size=4, shuffle=True, num_workers=2,
                                      worker_init_fn=seed_worker, generator=g, **kw)  # why
        """,
    ),
    "too long, within other calls": (
        """
        def run():
            return list(enumerate(DataLoader(train_set, shuffle=True)))
        """,
        """
        def run():
            return list(
                enumerate(
                    DataLoader(train_set, shuffle=True, worker_init_fn=seed_worker, generator=g)
                )
            )
        """,
    ),
    "too long for one line within another call": (
        """
        for batch in tqdm(DataLoader(train_set, batch_size=4, shuffle=True, num_workers=2)):  # why
            pass
        """,
        """
        for batch in tqdm(
            DataLoader(
                train_set,
                batch_size=4,
                shuffle=True,
                num_workers=2,
                worker_init_fn=seed_worker,
                generator=g,
            )
        ):  # why
            pass
        """,
    ),
    "too long, in a list": (
        """
        loaders += [DataLoader(train_set, shuffle=True, num_workers=2)]
        """,
        """
        loaders += [
            DataLoader(
                train_set, shuffle=True, num_workers=2, worker_init_fn=seed_worker, generator=g
            )
        ]
        """,
    ),
    "too long, within a call on a line that goes on": (
        """
        pairs = zip(list(DataLoader(train_set, shuffle=True, num_workers=2)), targets).__iter__()
        """,
        """
        pairs = zip(list(DataLoader(
            train_set, shuffle=True, num_workers=2, worker_init_fn=seed_worker, generator=g
        )), targets).__iter__()
        """,
    ),
    "too long, one of several arguments": (
        """
        pairs = zip(list(DataLoader(train_set, shuffle=True, num_workers=2)), targets)
        """,
        """
        pairs = zip(
            list(
                DataLoader(
                    train_set,
                    shuffle=True,
                    num_workers=2,
                    worker_init_fn=seed_worker,
                    generator=g,
                )
            ),
            targets,
        )
        """,
    ),
    "too long, and a part is taken": (
        """
        batches = list(DataLoader(train_set, batch_size=4, shuffle=True, num_workers=2))[:3]
        """,
        """
        batches = list(
            DataLoader(
                train_set,
                batch_size=4,
                shuffle=True,
                num_workers=2,
                worker_init_fn=seed_worker,
                generator=g,
            )
        )[:3]
        """,
    ),
    "too long, in comprehensions": (
        """
        loaders = {name: DataLoader(data[name], shuffle=True) for name in data if name}
        """,
        """
        loaders = {
            name: DataLoader(data[name], shuffle=True, worker_init_fn=seed_worker, generator=g)
            for name in data
            if name
        }
        """,
    ),
    "too long, in a clause of a comprehension": (
        """
        print([batch.tolist() for batch in DataLoader(data, 4, num_workers=2)])
        """,
        """
        print(
            [
                batch.tolist()
                for batch in DataLoader(
                    data, 4, num_workers=2, worker_init_fn=seed_worker, generator=g
                )
            ]
        )
        """,
    ),
    "too long, the values of a dict": (
        """
        return_value = {"train": DataLoader(train, shuffle=True), "val": DataLoader(val)}
        """,
        """
        return_value = {
            "train": DataLoader(train, shuffle=True, worker_init_fn=seed_worker, generator=g),
            "val": DataLoader(val),
        }
        """,
    ),
    "too long, on the one inner line of another call": (
        """
        batches = prefetched(
            DataLoader(train_set, shuffle=True, num_workers=2), the_device, depth=2
        )
        """,
        """
        batches = prefetched(
            DataLoader(
                train_set, shuffle=True, num_workers=2, worker_init_fn=seed_worker, generator=g
            ),
            the_device,
            depth=2,
        )
        """,
    ),
    "too long, the values of an aligned dict": (
        """
        loaders = {"train": DataLoader(train_set, shuffle=True, num_workers=2),
                   "val": DataLoader(val_set)}
        """,
        """
        loaders = {"train": DataLoader(train_set, shuffle=True, num_workers=2,
                                       worker_init_fn=seed_worker, generator=g),
                   "val": DataLoader(val_set)}
        """,
    ),
    "too long, between aligned arguments": (
        """
        batches = prefetched(device, DataLoader(train_set),
                             depth=2)
        """,
        """
        batches = prefetched(device,
                             DataLoader(train_set, worker_init_fn=seed_worker, generator=g),
                             depth=2)
        """,
    ),
    "too long, aligned and within another call": (
        """
        batches = prefetched(device, first_of(everything_there_is, DataLoader(train_set), depth=2, and_more=True),
                             depth=2)
        """,
        """
        batches = prefetched(device, first_of(everything_there_is, DataLoader(train_set, worker_init_fn=seed_worker, generator=g), depth=2, and_more=True),
                             depth=2)
        """,
    ),
    "spaces around the equals signs": (
        """
        loader = DataLoader(data, shuffle = True)
        """,
        """
        loader = DataLoader(data, shuffle = True, worker_init_fn = seed_worker, generator = g)
        """,
    ),
    "too long, in a dictionary": (
        """
        loaders = {
            "train": DataLoader(train_set, batch_size=4, shuffle=True, num_workers=2),
        }
        """,
        """
        loaders = {
            "train": DataLoader(
                train_set,
                batch_size=4,
                shuffle=True,
                num_workers=2,
                worker_init_fn=seed_worker,
                generator=g,
            ),
        }
        """,
    ),
}


@pytest.mark.parametrize(("text", "expected"), LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_layouts(text: str, expected: str, newline: str) -> None:
    assert add(lines(text).replace("\n", newline)) == lines(expected).replace("\n", newline)


ALIGNED = """
    model = Model(layers, width=4,
                  depth=3)
    """
BROKEN = """
    model = Model(
        layers, width=4, depth=3
    )
    """
LONG = "loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True, num_workers=4)\n"


@pytest.mark.parametrize(
    ("others", "call", "expected"),
    [
        pytest.param(
            ALIGNED, LONG, LONG.replace(")\n", ",\n                    worker_init_fn=seed_worker, generator=g)\n"),
            id="aligned",
        ),
        pytest.param(
            ALIGNED, LONG.replace(")\n", ", **rest)\n"),
            LONG.replace(")\n", ",\n                    worker_init_fn=seed_worker, generator=g, **rest)\n"), id="before kwargs",
        ),
        pytest.param(
            ALIGNED, "something_with_a_long_name.and_another_attribute.loader_of_the_run = DataLoader(train_set)\n",
            "something_with_a_long_name.and_another_attribute.loader_of_the_run = DataLoader(\n"
            "    train_set, worker_init_fn=seed_worker, generator=g\n)\n", id="no room",
        ),
        pytest.param(
            ALIGNED + BROKEN, LONG,
            "loader = DataLoader(\n    train_set,\n    batch_size=args.batch_size,\n    shuffle=True,\n    num_workers=4,\n"
            "    worker_init_fn=seed_worker,\n    generator=g,\n)\n", id="as often broken",
        ),
        pytest.param(
            ALIGNED, "loader = DataLoader(train_set)\n",
            "loader = DataLoader(train_set, worker_init_fn=seed_worker, generator=g)\n", id="it fits",
        ),
        pytest.param(
            f"scheduler = optim.lr_scheduler.MultiStepLR(optimizer, gamma=0.1, milestones={'[' * 3}10, 20, 30{']' * 3})\n",
            LONG.replace(")\n", ", drop_last=True)\n"),
            LONG.replace(")\n", ", drop_last=True,\n                    worker_init_fn=seed_worker, generator=g)\n"),
            id="lines that no formatter leaves",
        ),
        pytest.param(
            BROKEN, "loader = DataLoader(train_set, batch_size=options.batch_size, shuffle=True, num_workers=4)\n",
            "loader = DataLoader(\n    train_set, batch_size=options.batch_size, shuffle=True, num_workers=4, "
            "worker_init_fn=seed_worker, generator=g\n)\n", id="a line that formatters would break",
        ),
    ],
)  # fmt: skip
def test_a_call_is_wrapped_as_others_of_the_file_are(others: str, call: str, expected: str) -> None:
    assert add(lines(others) + call) == lines(others) + expected


LONGER = LONG.replace("train_set", "the_part_of_the_samples_that_the_training_gets_to_see")
SEEDED = ", worker_init_fn=seed_worker, generator=g)\n"


@pytest.mark.parametrize(
    ("others", "call", "expected"),
    [
        pytest.param("", LONGER, LONGER.replace(")\n", SEEDED), id="its own"),
        pytest.param(LONGER, LONG, LONG.replace(")\n", SEEDED), id="others"),
        pytest.param(
            LONGER + lines(BROKEN) + lines(BROKEN), LONG, LONG.replace(")\n", SEEDED), id="others of the function",
        ),
        pytest.param(
            LONGER.replace("DataLoader", "Loader") + lines(BROKEN) + lines(BROKEN), LONG,
            "loader = DataLoader(\n    train_set,\n    batch_size=args.batch_size,\n    shuffle=True,\n    num_workers=4,\n"
            "    worker_init_fn=seed_worker,\n    generator=g,\n)\n", id="fewer than are broken",
        ),
        pytest.param(
            lines(ALIGNED), LONGER, LONGER.replace(")\n", SEEDED), id="aligned",
        ),
    ],
)  # fmt: skip
def test_a_call_stays_as_long_as_its_author_leaves_it(others: str, call: str, expected: str) -> None:
    assert len(LONGER) > 120
    text = others + call
    parsed = document(text)
    parsed._line_length = 88
    edits = add_keyword_arguments(parsed, loaders(parsed)[-1], [("worker_init_fn", "seed_worker"), ("generator", "g")])
    assert applied(text, edits) == others + expected


def test_tabs() -> None:
    text = "if x:\n\tif y:\n\t\tx = DataLoader(\n\t\t\tds,\n\t\t\tbatch_size=4\n\t\t\t)\n"
    assert add(text, [("generator", "g")]) == text.replace("size=4\n", "size=4,\n\t\t\tgenerator=g\n")


def test_the_configured_line_length_counts() -> None:
    text = "loader = DataLoader(train_set, batch_size=4)\n"
    parsed = document(text)
    parsed._line_length = 50
    edits = add_keyword_arguments(parsed, loaders(parsed)[0], [("generator", "g")])
    assert applied(text, edits) == "loader = DataLoader(\n    train_set, batch_size=4, generator=g\n)\n"


def test_replace() -> None:
    text = "x = DataLoader(ds, generator=(None), shuffle=(y))  # z\n"
    parsed = document(text)
    call = loaders(parsed)[0]
    edits = [replace_argument(parsed, call.args[1], "g"), replace_argument(parsed, call.args[2], "True")]
    assert applied(text, edits) == "x = DataLoader(ds, generator=g, shuffle=True)  # z\n"


SPACE = st.sampled_from(["", "", " ", "\n", "\n    ", "  # c\n", "  # c\n\n        ", "\r\n\t", "\\\n "])
VALUE = st.sampled_from(["ds", "(ds)", "f(a,\n  b)", "[i for i in x]", "lambda: 0", "'a#b'", '"""t\n"""', "*more"])
KEYWORD = st.sampled_from(["batch_size=4", "shuffle = True", "drop_last=(yes\n)", "sampler=f(**kw)"])


@given(
    st.lists(VALUE, max_size=3),
    st.lists(KEYWORD, max_size=4, unique=True),
    st.booleans(),
    st.booleans(),
    st.lists(SPACE, min_size=20, max_size=20),
    st.sampled_from(["", "\t", "    "]),
)
def test_any_call(
    values: list[str], keywords: list[str], kwargs: bool, comma: bool, spaces: list[str], indent: str
) -> None:
    parts = [*values, *keywords, *(["**kw"] if kwargs else [])]
    space = iter(spaces)
    body = ",".join(next(space) + part + next(space) for part in parts) + ("," if comma and parts else "")
    head = f"if x:\n{indent}" if indent else ""
    text = f"{head}loader = DataLoader({body}{next(space)})  # end\n"
    try:
        compile(text, "call", "exec")
        parsed = document(text)
    except (SyntaxError, ValueError, cst.ParserSyntaxError):
        return
    call = loaders(parsed)[0]
    result = add(text)
    again = loaders(document(result))[0]
    given_keywords = [argument.keyword.value for argument in call.args if argument.keyword is not None]
    new_keywords = [argument.keyword.value for argument in again.args if argument.keyword is not None]
    assert new_keywords == [*given_keywords, "worker_init_fn", "generator"]
    assert len(again.args) == len(call.args) + 2
    assert result.count("#") == text.count("#")
    assert result.endswith(")  # end\n")
