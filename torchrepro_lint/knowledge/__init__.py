"""What PyTorch and its ecosystem do: data files beside typed loaders. No library of them is imported.

Names and versions:
names.py            folds old and private homes of a name into its public one
old_names.py        which releases still have a name
old_syntax.py       forms of the code that only an older Python reads
known.py            whether a name is spoken of anywhere
versions.py         versions of packages; torch_releases.py has those of torch
torch_floors.py     what needs at least a certain torch

Random numbers:
rng.py              what draws, seeds, saves and restores; generators.py has the generators
intervals.py        draws whose interval is known
searches.py         searches of hyperparameters, and what seeds them
processes.py        what starts functions of the program in other processes
library_chances.py  transforms that run with a chance
dropout_calls.py    functions that apply dropout whatever the mode is
reseeding.py        how a generator gets a seed of its own in a worker

Loaders and orders:
loaders.py          loaders, their factories, and frameworks that seed workers
callables.py        datasets over datasets, transforms, collate functions
plain_classes.py    bases that only make a kind
ordering.py         what decides, keeps and loses an order

Operations:
ops.py              which are nondeterministic, by release and by arguments
op_cases.py         a call for each row of that table; op_measurements.py and gpu_evidence.py have
                    what was seen
tensors.py          what gives a tensor
contents.py         what a use does with the contents of a tensor

Switches and frameworks:
switches.py         determinism switches and seeding calls
dead_switches.py    assignments that only look like one
environment.py      environment variables that decide whether runs agree
command_lines.py    command lines that seed the program which they build
training_hooks.py   what frameworks call in each epoch or step
stepped_states.py   objects whose state a checkpoint has to hold
copied_libraries.py libraries of which projects keep a copy

Words:
calls.py            what calls do, as far as no other table says it; passing.py: what they pass on of their arguments
applying.py         calls that call the function that they are given
method_words.py     methods that are known by their plain names
function_words.py   what names of functions, classes and files say
program_words.py    words that say something of a whole program
magics.py           IPython's magics

Reading the files:
tables.py           tables, lists of names, and look-up by name or pattern
conditions.py       conditions on the arguments of a call
"""
