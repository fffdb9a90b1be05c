"""Whole runs of a program: what it draws and seeds in order, how often, and for whom it is written.

The path of a run:
entry_path.py         what it draws and seeds, in order; run_places.py: which places and loaders it reaches
other_commands.py     whether two things are done in different runs: by two commands, for one
for_others.py         code that is written for programs of others; distributions.py: what metadata says of it
used_copies.py        projects of others of which a project uses a part
folder_origins.py     where a folder comes from, by its licence and README

How often:
frequency.py          how often a place runs in one training; turns.py: what the turns of a loop are
varying.py            what changes from one turn of a loop to the next
several.py            whether one run makes several objects at a place
epoch_loops.py        the loop in which a loader is gone through; restarted_iterators.py: iterators that are made again
frameworks.py         frameworks that take care of epochs and checkpoints

What its draws and seeds are for:
first_weights.py      draws that make a model's first weights
idle_draws.py         draws on which no result hangs; parts_not_made.py: for the parts of a module that has none yet
import_seeds.py       seeds that run as a module is imported; worker_seedings.py: those of workers alone
"""
