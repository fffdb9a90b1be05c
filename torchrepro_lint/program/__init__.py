"""All facts linked: what names mean across files, what values expressions can have, and what runs where.

`Program` (program.py) is what rules query. These notions are used everywhere below it:

- A *site* is the number of a node in the one walk over its file; a `Site` is such a number together with the file. It
  identifies a place until a finding needs its line and column.
- A *value* is one thing that an expression can evaluate to, and `Values` is a set of them. The member `UNKNOWN` means
  that it may be anything else as well. The empty set means that it cannot have a value: an attribute that no class has,
  for example. A rule considers something proven if it holds for every member.
- A *frame* is one activation of a scope: the scope, with what is known about its parameters. A function that is called
  in two ways has two frames, so `num_workers` may be 0 in one and 4 in the other.
- The `Evaluator` gives the values of an expression in a frame. It runs nothing, and looks only at what is asked for.
- A *walk* (running/reach.py) goes through what a call runs, in order and across files, and yields *events*: calls of
  torch, NumPy and other packages that draw, seed or switch, each with the *chain* of places that leads to it.
- A *way* (running/ways.py) goes in the opposite direction: from a statement outwards through the calls that make it
  run.
- A *question* is what one rule asks about one place. It has a budget of steps; what lies beyond it stays unknown.
- The *asked* files are those whose findings are wanted: those of a commit, or the one that is open in an editor. Other
  files of the project are looked at if an answer depends on them, but nothing in them is reported.

The folders, each of which imports only those before it: `evaluation` has values and frames, `running` walks, callers
and ways, `core` where a value comes from, `loaders` the loaders, `intent` what a program asks for, `ops` operations and
tensors, `worker_seeds` what seeds a worker, `programs` whole runs and how often a place runs in one, `workers` what
workers draw, `orders` listings, sets and permutations, `ordering` splits, samplers and checkpoints, `switches` and
`seeds` what a program turns on and seeds, and `kept` a program that outlives an edit.
"""
