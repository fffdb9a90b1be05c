"""Loaders, what their workers run, and which generators that draws from and seeds.

Loaders:
loaders.py            every call that makes one; maker_names.py: by which names; partials.py: with which partial
given_later.py        what one is given after that
set_before.py         what is assigned to attributes of its data set above it
managers.py           those that a framework takes care of; framework_workers.py: those that Lightning makes
old_releases.py       which release of a library a file is for
global_draws.py       what one takes from torch's global generator
measured_loaders.py   those with which nothing, or something, is trained; training_draws.py: what one for an evaluation
                      does not draw
drawn_items.py        data sets that draw each item, whatever its index
seeding.py            whether the program around it seeds torch
ranks.py              distributed programs; rank_seeds.py: whether all ranks seed alike; rank_draws.py: what they draw
rank_names.py         whether, and where, the rank takes part in an expression

What workers run:
workers.py            the walk, and what it does to generators
worker_frames.py      the frames that run in a worker
worker_info.py        what `get_worker_info` gives there
dataset_paths.py      how it gets at what the dataset holds
main_process.py       what the main process gives it
streams.py            what every worker reads in full; rank_streams.py: what every process does
evaluation_draws.py   what is drawn for a validation
single_worker.py      loaders with one worker, of which a single pass is taken

What they draw from:
held_generators.py    generators that the main process made
library_rngs.py       generators of libraries
item_seeds.py         seeds that are set for every item; index_seeds.py: from its index
worker_reseeding.py   seeds that worker code sets itself
dataset_reseeding.py  seeds that the init function gives to what the dataset holds

Worker init functions:
worker_init.py        what is passed, and what it seeds
init_walk.py          the walk through one
init_shape.py         whether it can be called
init_faults.py        what is wrong with its seeds
chosen_datasets.py    what the data sets draw of which one is chosen out of sight

What a seed in a worker depends on:
worker_seed.py        the question
dependence.py         its answers; seed_arithmetic.py: what operators make of them
seed_sources.py       what outside calls give
fixed_seeds.py        seeds that are the same at every call
"""
