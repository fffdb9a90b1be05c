"""What runs, from where, how often and under which conditions.

Forwards, from a call to what it runs:
reach.py              the walk along the call graph; bodies.py is its part within a function
events.py             what it yields: draws, seeds and switches, each with its chain
chains.py             chains as one trace
unresolved.py         why a call could not be followed

Backwards, from a place to what runs it:
ways.py               the ways in which a statement comes to run
alternatives.py       which name of several, bound in arms of an `if`, leads there
chosen_functions.py   functions in a table, of which a run takes one
handed_functions.py   the places on a way; which calls hand over the function that it leads through
partings.py           where the ways to two events part
callers.py            the frames in which a scope runs; classes_around.py: the class of a method
way_frames.py         whether the calls of a way come to where it leads
call_index.py         calls by name: where to look for callers
indirect_calls.py     calls through a parameter, an element, an attribute or a result that holds a function
held_names.py         under which names a file holds what others stand for; named_definitions.py: what a callee names
calls_at.py           the call at a place; callees.py: whether it is one of a certain function
calling_places.py     where functions are called, without the frames
references.py         where functions are handed to something that calls them
properties.py         functions that run where an attribute is read
decorator_uses.py     functions that are used as decorators; compiled_functions.py: that one compiles
started_by_scripts.py functions that the body of a module runs for what they do
started_uses.py       functions that processes and threads are started with, or that a library calls here
started_arguments.py  whether they can take what they are given
applied_calls.py      those calls, as they would be written; property_sets.py: calls of the setters of properties

What a call hands over:
handed_over.py        the argument for a parameter, as it is written
handed_parameters.py  a quick look at what the calls of a name hand over
written_arguments.py  which parameter each argument in the text of a call is for, whosever the function is

Where values may go, by names alone, before anything is evaluated:
name_flow.py          whether a value may come from one of some expressions
flow_edges.py         the edges of one file; flow_expressions.py: of its expressions
flow_transfers.py     what an edge does: into a container, out of one; flow_names.py: the names that decide

Programs:
entry_points.py       where they start; project_tests.py: which are tests
offered_commands.py   what their command lines offer
entry_walk.py         the walk along a whole program
named_uses.py         which modules reach a function by name; mentions.py: what a definition mentions;
                      unused_methods.py: methods that nothing names
reached_names.py      the definitions that a program reaches by name from where it starts
never_read.py         whether what is made gets a name that nothing reads, or an exception is raised below
worker_names.py       functions that are there for the workers of a loader

Conditions and loops:
guards.py             the arms around a place, and what their tests depend on; if_tests.py: what they say of a name
option_tests.py       what tests on a way say of options of the command line
undecisive.py         draws that decide nothing
epochs.py             loops over epochs; made_once.py: what they reach only once
runs_once.py          places that a whole run reaches only once
training_hooks.py     functions that a framework calls in each epoch or step
put_away.py           whether what a turn makes is kept beside others
saved_models.py       loops over the saved models of a training
set_apart.py          code that has a state of the generators to itself
library_chances.py    transforms that run always or never

Calls of libraries:
external_calls.py     by qualified name
known_calls.py        in every frame in which they run
fallbacks.py          those for an older release
foreign_seeding.py    seeding helpers of which nothing is known

The text:
parents.py            what is around a node
binding_uses.py       where a name has what one binding gives it
blocks.py             what a block holds; statements.py: the blocks of a statement
"""
