"""Constructs of control flow: branches, loops, generators, context managers, coroutines."""

FLOW = """
== if with two branches
import sys
if len(sys.argv) > 1:
    value = SOURCE
else:
    value = SOURCE
SINK(value)

== if not set yet
value = None
if value is None:
    value = SOURCE
SINK(value)

== argument that defaults to None
def take(value=None):
    if value is None:
        value = SOURCE
    SINK(value)
take()

== try with except
try:
    value = SOURCE
except OSError:
    raise
SINK(value)

== try with else
try:
    import json
except ImportError:
    raise
else:
    value = SOURCE
SINK(value)

== try with finally
value = None
try:
    value = SOURCE
finally:
    SINK(value)

== return within try and finally
def make():
    try:
        return SOURCE
    finally:
        print("done")
SINK(make())

== exception that carries it
class Found(Exception):
    def __init__(self, content):
        self.content = content
try:
    raise Found(SOURCE)
except Found as found:
    SINK(found.content)

== while loop
value = None
while value is None:
    value = SOURCE
SINK(value)

== while True with break
while True:
    value = SOURCE
    break
SINK(value)

== for with else
for number in range(2):
    pass
else:
    value = SOURCE
SINK(value)

== value of the last turn
value = None
for number in range(2):
    value = SOURCE
SINK(value)

== value carried from turn to turn
value = SOURCE
for number in range(3):
    other = value
    value = other
SINK(value)

== generator function
def parts():
    yield SOURCE
for part in parts():
    SINK(part)

== next of a generator
def parts():
    yield SOURCE
SINK(next(parts()))

== list of a generator
def parts():
    yield 1
    yield SOURCE
SINK(list(parts())[1])

== generator that yields pairs
def parts():
    yield "first", SOURCE
for name, part in parts():
    SINK(part)

== yield from
def inner():
    yield SOURCE
def outer():
    yield from inner()
for part in outer():
    SINK(part)

== yield from a list
def parts(listed):
    yield from listed
for part in parts([SOURCE]):
    SINK(part)

== generator expression
for part in (SOURCE for number in range(2)):
    SINK(part)

== value sent to a generator
def receive():
    value = yield
    SINK(value)
    yield
sink = receive()
next(sink)
sink.send(SOURCE)

== generator over a parameter
def each(parts):
    for part in parts:
        yield part
for part in each([SOURCE]):
    SINK(part)

== context manager class
class Opened:
    def __init__(self, content):
        self.content = content
    def __enter__(self):
        return self.content
    def __exit__(self, *raised):
        return None
with Opened(SOURCE) as value:
    SINK(value)

== context manager that returns itself
class Opened:
    def __init__(self, content):
        self.content = content
    def __enter__(self):
        return self
    def __exit__(self, *raised):
        return None
with Opened(SOURCE) as opened:
    SINK(opened.content)

== @contextmanager
import contextlib
@contextlib.contextmanager
def opened():
    yield SOURCE
with opened() as value:
    SINK(value)

== contextlib.nullcontext
import contextlib
with contextlib.nullcontext(SOURCE) as value:
    SINK(value)

== within a with block
import contextlib
with contextlib.suppress(OSError):
    value = SOURCE
    SINK(value)

== async function
import asyncio
async def make():
    return SOURCE
async def main():
    SINK(await make())
asyncio.run(main())

== asyncio.gather
import asyncio
async def make():
    return SOURCE
async def main():
    first, second = await asyncio.gather(make(), make())
    SINK(first)
asyncio.run(main())

== async generator
import asyncio
async def parts():
    yield SOURCE
async def main():
    async for part in parts():
        SINK(part)
asyncio.run(main())

== async with
import asyncio, contextlib
@contextlib.asynccontextmanager
async def opened():
    yield SOURCE
async def main():
    async with opened() as value:
        SINK(value)
asyncio.run(main())

== function called in a loop
def take(value):
    SINK(value)
for number in range(2):
    take(SOURCE)

== main guard
def main():
    value = SOURCE
    SINK(value)
if __name__ == "__main__":
    main()

== assert before
value = SOURCE
assert value is not None
SINK(value)
"""
