"""Constructs that pass a value to a function, or get one back from it."""

CALLS = """
== positional argument
def take(value):
    SINK(value)
take(SOURCE)

== keyword argument
def take(first=None, value=None):
    SINK(value)
take(value=SOURCE)

== keyword-only argument
def take(first, *, value):
    SINK(value)
take(1, value=SOURCE)

== default argument
def take(value=SOURCE):
    SINK(value)
take()

== argument through two functions
def take(value):
    SINK(value)
def pass_on(part):
    take(part)
pass_on(SOURCE)

== *args
def take(*parts):
    SINK(parts[0])
take(SOURCE, 3)

== loop over *args
def take(*parts):
    for part in parts:
        SINK(part)
take(SOURCE)

== **kwargs
def take(**parts):
    SINK(parts["value"])
take(value=SOURCE)

== *args passed on
def take(first, value):
    SINK(value)
def pass_on(*parts):
    take(*parts)
pass_on(1, SOURCE)

== **kwargs passed on
def take(value):
    SINK(value)
def pass_on(**parts):
    take(**parts)
pass_on(value=SOURCE)

== list spread into arguments
def take(first, value):
    SINK(value)
parts = [1, SOURCE]
take(*parts)

== dict spread into arguments
def take(value):
    SINK(value)
parts = {"value": SOURCE}
take(**parts)

== lambda that returns
make = lambda: SOURCE
SINK(make())

== lambda that takes
take = lambda value: SINK(value)
take(SOURCE)

== returned value
def make():
    return SOURCE
SINK(make())

== returned argument
def same(value):
    return value
SINK(same(SOURCE))

== returned local
def make():
    value = SOURCE
    other = 1
    return value
SINK(make())

== returned tuple
def make():
    return 1, SOURCE
first, value = make()
SINK(value)

== element of a returned tuple
def make():
    return 1, SOURCE
SINK(make()[1])

== returned dict
def make():
    return {"part": SOURCE}
SINK(make()["part"])

== early return
def make(wanted):
    if wanted is None:
        return None
    return SOURCE
SINK(make(1))

== return in both branches
import sys
def make():
    if len(sys.argv) > 1:
        return SOURCE
    else:
        return SOURCE
SINK(make())

== recursion
def make(depth, value):
    if depth == 0:
        return value
    return make(depth - 1, value)
SINK(make(2, SOURCE))

== partial with a positional argument
import functools
def take(value, count):
    SINK(value)
go = functools.partial(take, SOURCE)
go(3)

== partial with a keyword argument
import functools
def take(count, value):
    SINK(value)
go = functools.partial(take, value=SOURCE)
go(3)

== partial of a function that returns
import functools
def make(value, count):
    return value
go = functools.partial(make, SOURCE)
SINK(go(3))

== callback parameter
def take(value):
    SINK(value)
def run(call):
    call(SOURCE)
run(take)

== callback that returns
def make():
    return SOURCE
def run(call):
    SINK(call())
run(make)

== decorator that wraps
import functools
def plain(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner
@plain
def take(value):
    SINK(value)
take(SOURCE)

== decorated function that returns
import functools
def plain(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner
@plain
def make():
    return SOURCE
SINK(make())

== decorator with arguments
def given(value):
    def decorate(function):
        def inner():
            return function(value)
        return inner
    return decorate
@given(SOURCE)
def take(value):
    SINK(value)
take()

== lru_cache
import functools
@functools.lru_cache(maxsize=None)
def make():
    return SOURCE
SINK(make())

== inner function
def outer(value):
    def take(part):
        SINK(part)
    take(value)
outer(SOURCE)

== function in a variable
def take(value):
    SINK(value)
go = take
go(SOURCE)

== function in a dict
def take(value):
    SINK(value)
TAKERS = {"first": take}
TAKERS["first"](SOURCE)

== bound method in a variable
class Taker:
    def take(self, value):
        SINK(value)
go = Taker().take
go(SOURCE)

== thread
import threading
def take(value):
    SINK(value)
thread = threading.Thread(target=take, args=(SOURCE,))
thread.start()
thread.join()

== submit to an executor
from concurrent.futures import ThreadPoolExecutor
def make():
    return SOURCE
with ThreadPoolExecutor() as pool:
    SINK(pool.submit(make).result())

== singledispatch
import functools
@functools.singledispatch
def take(value):
    SINK(value)
take(SOURCE)

== overload by a conditional definition
import sys
if sys.version_info >= (3, 8):
    def make():
        return SOURCE
else:
    def make():
        return SOURCE
SINK(make())
"""
