"""Constructs that carry a value from module to module, or from what the user writes to the program."""

MODULES = """
== import of a module
import lib
SINK(lib.VALUE)
--- lib.py
VALUE = SOURCE

== import as
import lib as other
SINK(other.VALUE)
--- lib.py
VALUE = SOURCE

== from-import
from lib import VALUE
SINK(VALUE)
--- lib.py
VALUE = SOURCE

== from-import as
from lib import VALUE as value
SINK(value)
--- lib.py
VALUE = SOURCE

== import in a function
def main():
    from lib import make
    SINK(make())
main()
--- lib.py
def make():
    return SOURCE

== function of another module that returns
from lib import make
SINK(make())
--- lib.py
def make():
    return SOURCE

== function of another module that takes
from lib import take
take(SOURCE)
--- lib.py
def take(value):
    SINK(value)

== class of another module
from lib import Box
Box(SOURCE).take()
--- lib.py
class Box:
    def __init__(self, content):
        self.content = content
    def take(self):
        SINK(self.content)

== base class of another module
from lib import Base
class Box(Base):
    def make(self):
        return SOURCE
Box().run()
--- lib.py
class Base:
    def run(self):
        SINK(self.make())
    def make(self):
        raise NotImplementedError

== re-export by the __init__ of a package
from pkg import make
SINK(make())
--- pkg/__init__.py
from .parts import make
--- pkg/parts.py
def make():
    return SOURCE

== submodule of a package
import pkg.parts
SINK(pkg.parts.make())
--- pkg/__init__.py
--- pkg/parts.py
def make():
    return SOURCE

== relative import
from pkg.main import run
run()
--- pkg/__init__.py
--- pkg/main.py
from .parts import make
def run():
    SINK(make())
--- pkg/parts.py
def make():
    return SOURCE

== star import
from lib import *
SINK(VALUE)
--- lib.py
VALUE = SOURCE

== star import with __all__
from lib import *
SINK(make())
--- lib.py
__all__ = ["make"]
def make():
    return SOURCE

== attribute of a module set from outside
import lib
lib.VALUE = SOURCE
lib.take()
--- lib.py
VALUE = None
def take():
    SINK(VALUE)

== importlib.import_module
import importlib
SINK(importlib.import_module("lib").VALUE)
--- lib.py
VALUE = SOURCE

== __getattr__ of a module
import lib
SINK(lib.VALUE)
--- lib.py
def __getattr__(name):
    if name == "VALUE":
        return SOURCE
    raise AttributeError(name)

== import in a try
try:
    from lib import make
except ImportError:
    make = None
SINK(make())
--- lib.py
def make():
    return SOURCE

== argument through two modules
from first import pass_on
pass_on(SOURCE)
--- first.py
from second import take
def pass_on(part):
    take(part)
--- second.py
def take(value):
    SINK(value)

== registry dict of functions
from lib import BUILDERS
SINK(BUILDERS["first"]())
--- lib.py
def make():
    return SOURCE
BUILDERS = {"first": make}

== registry filled by a decorator
from lib import BUILDERS
SINK(BUILDERS["first"]())
--- lib.py
BUILDERS = {}
def register(name):
    def add(function):
        BUILDERS[name] = function
        return function
    return add
@register("first")
def make():
    return SOURCE

== registry class with a decorator
from lib import BUILDERS
SINK(BUILDERS.get("first")())
--- lib.py
class Registry:
    def __init__(self):
        self.entries = {}
    def register(self, name):
        def add(function):
            self.entries[name] = function
            return function
        return add
    def get(self, name):
        return self.entries[name]
BUILDERS = Registry()
@BUILDERS.register("first")
def make():
    return SOURCE

== registry of subclasses by __init_subclass__
class Base:
    kinds = {}
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        Base.kinds[cls.__name__] = cls
class Box(Base):
    def make(self):
        return SOURCE
SINK(Base.kinds["Box"]().make())

== function found by getattr on a module
import lib
SINK(getattr(lib, "make")())
--- lib.py
def make():
    return SOURCE

== function found in globals()
def make():
    return SOURCE
SINK(globals()["make"]())

== function chosen by an if
from lib import choose
SINK(choose("first")())
--- lib.py
def make():
    return SOURCE
def choose(name):
    if name == "first":
        return make
    raise ValueError(name)

== argparse default
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--part", default=SOURCE)
args = parser.parse_args([])
SINK(args.part)

== argparse namespace passed on
import argparse
def take(args):
    SINK(args.part)
args = argparse.Namespace(part=SOURCE)
take(args)

== config object passed through
from lib import run
class Config:
    part = SOURCE
run(Config())
--- lib.py
def run(config):
    step(config)
def step(config):
    SINK(config.part)

== config module
import config
def run():
    SINK(config.PARTS["first"])
run()
--- config.py
PARTS = {"first": SOURCE}

== singleton of another module
from lib import get
get().fill(SOURCE)
get().take()
--- lib.py
class State:
    def __init__(self):
        self.content = None
    def fill(self, content):
        self.content = content
    def take(self):
        SINK(self.content)
_state = None
def get():
    global _state
    if _state is None:
        _state = State()
    return _state
"""
