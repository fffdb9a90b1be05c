"""Constructs that bind names: assignments, scopes and patterns."""

NAMES = """
== written in place
SINK(SOURCE)

== assignment
value = SOURCE
SINK(value)

== assignment of a name to another
first = SOURCE
second = first
SINK(second)

== chained assignment
first = second = SOURCE
SINK(second)

== annotated assignment
value: object = SOURCE
SINK(value)

== tuple unpacking
first, value = 1, SOURCE
SINK(value)

== nested unpacking
(first, (second, value)), third = (1, (2, SOURCE)), 3
SINK(value)

== star unpacking
first, *rest = 1, SOURCE, 3
SINK(rest[0])

== star in the middle
first, *middle, value = 1, 2, 3, SOURCE
SINK(value)

== swap
first, second = SOURCE, 1
first, second = second, first
SINK(second)

== walrus
if (value := SOURCE) is not None:
    SINK(value)

== conditional expression
import sys
value = SOURCE if len(sys.argv) > 1 else SOURCE
SINK(value)

== or
value = None or SOURCE
SINK(value)

== and
value = 1 and SOURCE
SINK(value)

== closure
def outer():
    value = SOURCE
    def inner():
        SINK(value)
    inner()
outer()

== closure that is returned
def outer(value):
    def inner():
        SINK(value)
    return inner
outer(SOURCE)()

== nonlocal
def outer():
    value = None
    def fill():
        nonlocal value
        value = SOURCE
    fill()
    SINK(value)
outer()

== global
VALUE = None
def fill():
    global VALUE
    VALUE = SOURCE
def take():
    SINK(VALUE)
fill()
take()

== global read in a function
VALUE = SOURCE
def take():
    SINK(VALUE)
take()

== match that captures a name
match SOURCE:
    case value:
        SINK(value)

== match of a tuple
match (1, SOURCE):
    case (first, value):
        SINK(value)

== match of a dict
match {"part": SOURCE}:
    case {"part": value}:
        SINK(value)

== match of a class
class Part:
    __match_args__ = ("content",)
    def __init__(self, content):
        self.content = content
match Part(SOURCE):
    case Part(content=value):
        SINK(value)

== match with an alias
match [SOURCE]:
    case [object() as value]:
        SINK(value)

== del of another name
other = value = SOURCE
del other
SINK(value)

== entry of globals()
globals()["VALUE"] = SOURCE
SINK(VALUE)
"""
