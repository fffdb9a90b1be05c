"""Constructs that keep a value in a list, a tuple, a dict, or something else that can be stepped through."""

CONTAINERS = """
== element of a list
parts = [1, SOURCE]
SINK(parts[1])

== last element of a list
parts = [1, SOURCE]
SINK(parts[-1])

== element of a tuple
parts = (1, SOURCE)
SINK(parts[1])

== element of a slice
parts = [1, 2, SOURCE]
SINK(parts[1:][1])

== value of a dict
parts = {"part": SOURCE}
SINK(parts["part"])

== value of dict()
parts = dict(part=SOURCE)
SINK(parts["part"])

== dict.get
parts = {"part": SOURCE}
SINK(parts.get("part"))

== dict.pop
parts = {"part": SOURCE}
SINK(parts.pop("part"))

== dict.setdefault
parts = {}
SINK(parts.setdefault("part", SOURCE))

== dict.update
parts = {}
parts.update({"part": SOURCE})
SINK(parts["part"])

== dict.update with keywords
parts = {}
parts.update(part=SOURCE)
SINK(parts["part"])

== entry set in a dict
parts = {}
parts["part"] = SOURCE
SINK(parts["part"])

== dict spread into a dict
first = {"part": SOURCE}
parts = {**first, "other": 1}
SINK(parts["part"])

== dicts joined by |
parts = {"other": 1} | {"part": SOURCE}
SINK(parts["part"])

== list spread into a list
first = [SOURCE]
parts = [1, *first]
SINK(parts[1])

== lists joined by +
parts = [1] + [SOURCE]
SINK(parts[1])

== append
parts = []
parts.append(SOURCE)
SINK(parts[0])

== extend
parts = []
parts.extend([SOURCE])
SINK(parts[0])

== += of a list
parts = []
parts += [SOURCE]
SINK(parts[0])

== insert
parts = [1]
parts.insert(0, SOURCE)
SINK(parts[0])

== pop of a list
parts = [SOURCE]
SINK(parts.pop())

== element set in a list
parts = [None, None]
parts[1] = SOURCE
SINK(parts[1])

== append in a loop
parts = []
for number in range(2):
    parts.append(SOURCE)
for part in parts:
    SINK(part)

== dict filled in a loop
parts = {}
for name in ("train", "other"):
    parts[name] = SOURCE
SINK(parts["train"])

== defaultdict
import collections
parts = collections.defaultdict(list)
parts["part"].append(SOURCE)
SINK(parts["part"][0])

== deque
import collections
parts = collections.deque()
parts.append(SOURCE)
SINK(parts.popleft())

== OrderedDict
import collections
parts = collections.OrderedDict()
parts["part"] = SOURCE
SINK(parts["part"])

== list comprehension
parts = [SOURCE for number in range(2)]
SINK(parts[0])

== comprehension over a list
parts = [part for part in [SOURCE]]
SINK(parts[0])

== dict comprehension
parts = {name: SOURCE for name in ("first", "second")}
SINK(parts["first"])

== dict comprehension over items
first = {"part": SOURCE}
parts = {name: part for name, part in first.items()}
SINK(parts["part"])

== loop over a list
for part in [SOURCE]:
    SINK(part)

== loop over pairs
for name, part in [("first", SOURCE)]:
    SINK(part)

== loop over the items of a dict
for name, part in {"part": SOURCE}.items():
    SINK(part)

== loop over the values of a dict
for part in {"part": SOURCE}.values():
    SINK(part)

== loop over range(len())
parts = [SOURCE]
for index in range(len(parts)):
    SINK(parts[index])

== enumerate
for index, part in enumerate([SOURCE]):
    SINK(part)

== zip
for part, number in zip([SOURCE], [3]):
    SINK(part)

== map
def same(part):
    return part
for part in map(same, [SOURCE]):
    SINK(part)

== map of a function that takes
def take(part):
    SINK(part)
list(map(take, [SOURCE]))

== filter
for part in filter(lambda part: part is not None, [SOURCE]):
    SINK(part)

== functools.reduce
import functools
SINK(functools.reduce(lambda first, second: second, [1, SOURCE]))

== next(iter())
SINK(next(iter([SOURCE])))

== reversed
for part in reversed([SOURCE]):
    SINK(part)

== itertools.chain
import itertools
for part in itertools.chain([SOURCE], []):
    SINK(part)

== operator.itemgetter
import operator
SINK(operator.itemgetter("part")({"part": SOURCE}))

== copy.copy
import copy
SINK(copy.copy(SOURCE))

== copy of a list
parts = [SOURCE]
other = parts.copy()
SINK(other[0])

== copy.deepcopy of a dict
import copy
parts = copy.deepcopy({"part": SOURCE})
SINK(parts["part"])

== list of dicts
parts = [{"name": "first", "part": SOURCE}]
for entry in parts:
    SINK(entry["part"])

== dict of dicts
parts = {"train": {"part": SOURCE}}
SINK(parts["train"]["part"])

== list that is passed and filled
def fill(parts):
    parts.append(SOURCE)
parts = []
fill(parts)
SINK(parts[0])

== dict that is passed and filled
def fill(parts):
    parts["part"] = SOURCE
parts = {}
fill(parts)
SINK(parts["part"])

== key in a variable
NAME = "part"
parts = {NAME: SOURCE}
SINK(parts[NAME])

== in a queue
import queue
parts = queue.Queue()
parts.put(SOURCE)
SINK(parts.get())
"""
