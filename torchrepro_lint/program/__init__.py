"""All facts linked: what names mean across files, what expressions can be, what runs where.

`Program` (program.py) is what rules ask. Below it stand these notions, each a word that the code uses everywhere:

- A *site* is the number of a node in the one walk over its file; a `Site` is such a number with the file. It stands for
  a place until a finding needs its line and column.
- A *value* is one thing that an expression can be, and `Values` a set of them. The member `UNKNOWN` says that it may be
  anything else too; the empty set, that there is nothing that it can be: an attribute which no class has, say. A rule
  calls something proven where it holds for every member.
- A *frame* is one activation of a scope: the scope, with what is known of its parameters. One function that is called
  in two ways has two frames, so `num_workers` may be 0 in the one and 4 in the other.
- The `Evaluator` gives the values of an expression in a frame. It runs nothing, and looks only at what is asked for.
- A *walk* (running/reach.py) goes through what a call runs, in order and across files, and gives *events*: calls of
  torch, NumPy and other packages that draw, seed or switch, each with the *chain* of places that leads to it.
- A *way* (running/ways.py) is the opposite direction: from a statement out through the calls that make it run.
- A *question* is what one rule asks about one place. It has a budget of steps; what is beyond it stays unknown.
- *Asked* are the files whose findings somebody waits for: those of a commit, or the one that is open in an editor. The
  other files of the project are looked at where an answer depends on them, and are not reported.

The folders: `evaluation` values and frames, `running` walks, callers and ways, `workers` loaders and what their workers
run, `ordering` orders, splits and samplers, `ops` operations and tensors, `seeds` and `switches` what a program seeds
and turns on, `kept` a program that outlives an edit.
"""
