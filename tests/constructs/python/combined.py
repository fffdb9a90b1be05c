"""Constructs that are made of several."""

COMBINED = """
== partial in a dict in a dataclass
import functools
from dataclasses import dataclass
def make(value, count):
    return value
@dataclass
class Box:
    makers: dict
box = Box({"first": functools.partial(make, SOURCE)})
SINK(box.makers["first"](3))

== partial in a list
import functools
def take(value, count):
    SINK(value)
for go in [functools.partial(take, SOURCE)]:
    go(3)

== lambda in a dict in an attribute
class Box:
    def __init__(self):
        self.makers = {"first": lambda: SOURCE}
    def take(self):
        SINK(self.makers["first"]())
Box().take()

== generator through two modules
from first import pass_on
for part in pass_on():
    SINK(part)
--- first.py
from second import parts
def pass_on():
    return parts()
--- second.py
def parts():
    yield SOURCE

== generator wrapped in another module
from first import each
from second import parts
for part in each(parts()):
    SINK(part)
--- first.py
def each(parts):
    for index, part in enumerate(parts):
        yield part
--- second.py
def parts():
    yield SOURCE

== attribute set by a base class of another module
from lib import Base
class Box(Base):
    def __init__(self):
        super().__init__()
        self.setup(SOURCE)
    def take(self):
        SINK(self.content)
Box().take()
--- lib.py
class Base:
    def __init__(self):
        self.content = None
    def setup(self, content):
        self.content = content

== attribute set by a helper function of another module
from lib import fill
class Box:
    def __init__(self):
        fill(self)
    def take(self):
        SINK(self.content)
Box().take()
--- lib.py
def fill(box):
    box.content = SOURCE

== decorated method of a registered class
import functools
KINDS = {}
def register(cls):
    KINDS[cls.__name__] = cls
    return cls
def plain(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner
@register
class Box:
    @plain
    def make(self):
        return SOURCE
SINK(KINDS["Box"]().make())

== dataclass in a dict in a config
from dataclasses import dataclass
@dataclass
class Part:
    content: object
CONFIG = {"train": Part(SOURCE), "other": Part(None)}
def run(config):
    part = config["train"]
    SINK(part.content)
run(CONFIG)

== list of tuples built in a loop
parts = []
for name in ("first", "second"):
    parts.append((name, SOURCE))
for name, part in parts:
    SINK(part)

== dict of lists
parts = {"train": [], "other": []}
parts["train"].append(SOURCE)
for part in parts["train"]:
    SINK(part)

== factory that returns a closure
def build(config):
    value = config["part"]
    def make():
        return value
    return make
SINK(build({"part": SOURCE})())

== object whose attribute is called
class Runner:
    def __init__(self, call):
        self.call = call
    def run(self):
        return self.call()
def make():
    return SOURCE
SINK(Runner(make).run())

== chain of callables
class Chain:
    def __init__(self, calls):
        self.calls = calls
    def __call__(self, value):
        for call in self.calls:
            value = call(value)
        return value
def same(value):
    return value
SINK(Chain([same, same])(SOURCE))

== tuple of a context manager in a method
import contextlib
class Session:
    def __init__(self, content):
        self.content = content
    @contextlib.contextmanager
    def opened(self):
        yield self, self.content
with Session(SOURCE).opened() as (session, value):
    SINK(value)

== comprehension over calls of a method
class Maker:
    def __init__(self, value):
        self.value = value
    def make(self, index):
        return self.value
maker = Maker(SOURCE)
parts = [maker.make(index) for index in range(2)]
SINK(parts[0])

== kwargs through a class and its base
class Base:
    def __init__(self, *args, **kwargs):
        self.content = kwargs.pop("content", None)
class Box(Base):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
    def take(self):
        SINK(self.content)
Box(content=SOURCE).take()

== argument with a fallback to an attribute
class Box:
    def __init__(self, content):
        self.content = content
    def take(self, value=None):
        value = value if value is not None else self.content
        SINK(value)
Box(SOURCE).take()
"""
