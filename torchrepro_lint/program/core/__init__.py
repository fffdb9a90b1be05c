"""The core of the program model: where values come from, told once for every analysis.

access.py       which part of a value is asked for: an attribute, an item, each element
definitions.py  from a use of a name to the bindings that reach it, in whichever scope they are
queries.py      a question: an expression, in a frame, on a call path, and the part of its value that is meant
origins.py      one step back, from a question to those on which its value depends; by what the expression is:
                origins_of_names.py, origins_of_arguments.py, origins_of_attributes.py, origins_of_calls.py,
                origins_of_containers.py
returns.py      what functions of the project return and yield; passed_on.py: what other calls pass on
contents.py     what is put into a list or a dict after it is made
backward.py     the solver: what a client says about sources and operations, carried along those steps
objects.py      the plainest client: which of some objects a value is

What a construct of Python does to a value is said here and nowhere else; the analyses above say what a source, a
sanitizer and a sink is to them.
"""
