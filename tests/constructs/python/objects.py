"""Constructs of classes: attributes, methods, records, protocols."""

OBJECTS = """
== attribute set in __init__
class Box:
    def __init__(self, content):
        self.content = content
SINK(Box(SOURCE).content)

== attribute read in a method
class Box:
    def __init__(self, content):
        self.content = content
    def take(self):
        SINK(self.content)
Box(SOURCE).take()

== attribute made in __init__
class Box:
    def __init__(self):
        self.content = SOURCE
    def take(self):
        SINK(self.content)
box = Box()
box.take()

== attribute set in another method
class Box:
    def fill(self):
        self.content = SOURCE
    def take(self):
        SINK(self.content)
box = Box()
box.fill()
box.take()

== attribute set by a helper of a base class
class Base:
    def put(self, content):
        self.content = content
class Box(Base):
    def __init__(self):
        self.put(SOURCE)
    def take(self):
        SINK(self.content)
Box().take()

== attribute set from outside
class Box:
    pass
box = Box()
box.content = SOURCE
SINK(box.content)

== attribute set through a parameter
class Box:
    pass
def fill(box):
    box.content = SOURCE
box = Box()
fill(box)
SINK(box.content)

== setattr and getattr
class Box:
    pass
box = Box()
setattr(box, "content", SOURCE)
SINK(getattr(box, "content"))

== getattr with a default
class Box:
    def __init__(self, content):
        self.content = content
box = Box(SOURCE)
SINK(getattr(box, "content", None))

== setattr in a loop over keywords
class Box:
    def __init__(self, **parts):
        for name, part in parts.items():
            setattr(self, name, part)
SINK(Box(content=SOURCE).content)

== __dict__.update
class Box:
    def __init__(self, **parts):
        self.__dict__.update(parts)
SINK(Box(content=SOURCE).content)

== vars()
class Box:
    def __init__(self, content):
        self.content = content
SINK(vars(Box(SOURCE))["content"])

== argument of a method
class Taker:
    def take(self, value):
        SINK(value)
Taker().take(SOURCE)

== returned by a method
class Maker:
    def make(self):
        return SOURCE
SINK(Maker().make())

== methods that return self
class Box:
    def put(self, content):
        self.content = content
        return self
SINK(Box().put(SOURCE).content)

== class attribute
class Box:
    content = SOURCE
SINK(Box.content)

== class attribute read through self
class Box:
    content = SOURCE
    def take(self):
        SINK(self.content)
Box().take()

== class attribute set later
class Box:
    content = None
Box.content = SOURCE
SINK(Box.content)

== class attribute of a base class
class Base:
    content = SOURCE
class Box(Base):
    pass
SINK(Box().content)

== class attribute that a subclass overrides
class Base:
    content = None
    def take(self):
        SINK(self.content)
class Box(Base):
    content = SOURCE
Box().take()

== super().__init__
class Base:
    def __init__(self, content):
        self.content = content
class Box(Base):
    def __init__(self, content):
        super().__init__(content)
    def take(self):
        SINK(self.content)
Box(SOURCE).take()

== super().__init__ with **kwargs
class Base:
    def __init__(self, content):
        self.content = content
class Box(Base):
    def __init__(self, size, **kwargs):
        super().__init__(**kwargs)
        self.size = size
SINK(Box(1, content=SOURCE).content)

== inherited __init__
class Base:
    def __init__(self, content):
        self.content = content
class Box(Base):
    def take(self):
        SINK(self.content)
Box(SOURCE).take()

== mixin
class Takes:
    def take(self):
        SINK(self.content)
class Box(Takes):
    def __init__(self, content):
        self.content = content
Box(SOURCE).take()

== method that a subclass overrides
class Base:
    def run(self):
        SINK(self.make())
    def make(self):
        return None
class Box(Base):
    def make(self):
        return SOURCE
Box().run()

== abstract method
import abc
class Base(abc.ABC):
    def run(self):
        SINK(self.make())
    @abc.abstractmethod
    def make(self): ...
class Box(Base):
    def make(self):
        return SOURCE
Box().run()

== property
class Box:
    @property
    def content(self):
        return SOURCE
SINK(Box().content)

== property over an attribute
class Box:
    def __init__(self, content):
        self._content = content
    @property
    def content(self):
        return self._content
SINK(Box(SOURCE).content)

== property with a setter
class Box:
    @property
    def content(self):
        return self._content
    @content.setter
    def content(self, content):
        self._content = content
box = Box()
box.content = SOURCE
SINK(box.content)

== cached_property
import functools
class Box:
    @functools.cached_property
    def content(self):
        return SOURCE
SINK(Box().content)

== classmethod
class Box:
    def __init__(self, content):
        self.content = content
    @classmethod
    def make(cls):
        return cls(SOURCE)
SINK(Box.make().content)

== staticmethod
class Maker:
    @staticmethod
    def make():
        return SOURCE
SINK(Maker.make())

== __call__
class Take:
    def __call__(self, value):
        SINK(value)
take = Take()
take(SOURCE)

== __call__ that returns
class Make:
    def __init__(self, value):
        self.value = value
    def __call__(self):
        return self.value
SINK(Make(SOURCE)())

== __getitem__
class Parts:
    def __init__(self, value):
        self.value = value
    def __getitem__(self, index):
        return self.value
SINK(Parts(SOURCE)[0])

== __iter__
class Parts:
    def __iter__(self):
        yield SOURCE
for part in Parts():
    SINK(part)

== __iter__ and __next__
class Parts:
    def __init__(self):
        self.left = 1
    def __iter__(self):
        return self
    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return SOURCE
for part in Parts():
    SINK(part)

== __getattr__
class Parts:
    def __getattr__(self, name):
        return SOURCE
SINK(Parts().content)

== __new__
class Box:
    def __new__(cls, content):
        box = super().__new__(cls)
        box.content = content
        return box
SINK(Box(SOURCE).content)

== descriptor
class Always:
    def __get__(self, owner, kind=None):
        return SOURCE
class Box:
    content = Always()
SINK(Box().content)

== dataclass field
from dataclasses import dataclass
@dataclass
class Box:
    size: int
    content: object
SINK(Box(1, SOURCE).content)

== dataclass field by keyword
from dataclasses import dataclass
@dataclass(frozen=True)
class Box:
    size: int
    content: object = None
SINK(Box(1, content=SOURCE).content)

== dataclass default_factory
from dataclasses import dataclass, field
@dataclass
class Box:
    content: object = field(default_factory=lambda: SOURCE)
SINK(Box().content)

== dataclass __post_init__
from dataclasses import dataclass, field
@dataclass
class Box:
    size: int
    content: object = field(init=False)
    def __post_init__(self):
        self.content = SOURCE
SINK(Box(1).content)

== dataclasses.replace
import dataclasses
@dataclasses.dataclass
class Box:
    content: object = None
box = dataclasses.replace(Box(), content=SOURCE)
SINK(box.content)

== dataclass that inherits
from dataclasses import dataclass
@dataclass
class Base:
    content: object
@dataclass
class Box(Base):
    size: int = 1
SINK(Box(SOURCE).content)

== NamedTuple
from typing import NamedTuple
class Box(NamedTuple):
    size: int
    content: object
SINK(Box(1, SOURCE).content)

== NamedTuple unpacked
from typing import NamedTuple
class Box(NamedTuple):
    size: int
    content: object
size, content = Box(1, SOURCE)
SINK(content)

== namedtuple
import collections
Box = collections.namedtuple("Box", "size content")
SINK(Box(1, SOURCE).content)

== SimpleNamespace
from types import SimpleNamespace
box = SimpleNamespace(content=SOURCE)
SINK(box.content)

== TypedDict
from typing import TypedDict
class Box(TypedDict):
    content: object
box = Box(content=SOURCE)
SINK(box["content"])

== enum of functions
import enum
class Kind(enum.Enum):
    FIRST = "first"
    def make(self):
        return SOURCE
SINK(Kind.FIRST.make())

== attribute of an attribute
class Inner:
    def __init__(self, content):
        self.content = content
class Outer:
    def __init__(self, inner):
        self.inner = inner
SINK(Outer(Inner(SOURCE)).inner.content)

== list in an attribute
class Box:
    def __init__(self):
        self.parts = []
    def put(self, part):
        self.parts.append(part)
    def take(self):
        for part in self.parts:
            SINK(part)
box = Box()
box.put(SOURCE)
box.take()

== dict in an attribute
class Box:
    def __init__(self):
        self.parts = {}
    def put(self, name, part):
        self.parts[name] = part
box = Box()
box.put("part", SOURCE)
SINK(box.parts["part"])

== subclass of dict with attributes
class Config(dict):
    def __getattr__(self, name):
        return self[name]
SINK(Config(content=SOURCE).content)

== class made in a function
def make(content):
    class Box:
        def take(self):
            SINK(content)
    return Box
make(SOURCE)().take()

== class in a dict
class Box:
    def __init__(self, content):
        self.content = content
    def take(self):
        SINK(self.content)
KINDS = {"box": Box}
KINDS["box"](SOURCE).take()

== getattr of a method
class Box:
    def take(self, value):
        SINK(value)
getattr(Box(), "take")(SOURCE)
"""
