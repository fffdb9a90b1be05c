"""From the text of one file to `ModuleFacts`: one parse, one walk, plain data.

From text to nodes. Python's own parser is asked first, and libcst where that cannot, or where something is fixed:
quick_lower.py        the walk over the tree of `ast`; quick_expressions.py has the expressions
lower.py              the same walk over the tree of libcst; lower_expressions.py has the expressions
alike_expressions.py  what both walks do with expressions; capture_steps.py: with the names in patterns
libcst_parser.py      libcst's parser, without two refusals of what Python takes
readable.py           whether a file can be read, if no rule has looked at it

What a file says:
tree.py               the nodes
expressions.py        what one expression says by itself
exits.py              whether what is after a block ever runs
raising.py            which statements surely raise; unbound.py: as they read a name without a value;
                      iterators.py: as they take the length of what has none
scope_builder.py      from statements to scopes
scopes.py             which bindings of a name reach a use of it
growing.py            tables that mostly stay empty, of which there are millions
module.py             `ModuleFacts`

Where it is in the text:
quick_places.py       the places of nodes, by `ast`: for what is reported
positions.py          the places of nodes of libcst: for what is fixed
logical_lines.py      simple statements and headers of compound ones

After an edit:
comments.py           whether two texts differ in comments alone
same.py               whether two texts have the same nodes
memory.py             what is kept as long as a text stays what it is
"""
