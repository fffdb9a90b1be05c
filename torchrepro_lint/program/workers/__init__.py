"""Which generators the workers of a loader draw from and seed, and what of that is wrong.

Loaders:
partials.py           those that are made with a partial
managers.py           those that a framework takes care of; framework_workers.py: those that Lightning makes
old_releases.py       which release of a library a file is for
global_draws.py       what one takes from torch's global generator
measured_loaders.py   those with which nothing, or something, is trained; training_draws.py: what one for an evaluation
                      does not draw
evaluation_classes.py classes of data sets that serve an evaluation alone
loader_uses.py        what is done with one in the end
drawn_items.py        data sets that draw each item, whatever its index
ranks.py              distributed programs
rank_names.py         whether, and where, the rank takes part in an expression

What workers run:
dataset_paths.py      how it gets at what the dataset holds
streams.py            what every worker reads in full; rank_streams.py: what every process does
evaluation_draws.py   what is drawn for a validation
single_worker.py      loaders with one worker, of which a single pass is taken

What they draw from:
held_generators.py    generators that the main process made
library_rngs.py       generators of libraries
batch_orders.py       what only puts the rows of a batch in another order
item_seeds.py         seeds that are set for every item; index_seeds.py: from its index
worker_reseeding.py   seeds that worker code sets itself
dataset_reseeding.py  seeds that the init function gives to what the dataset holds

Worker init functions:
init_shape.py         whether it can be called
init_faults.py        what is wrong with its seeds
chosen_datasets.py    what the data sets draw of which one is chosen out of sight
fixed_seeds.py        seeds that are the same at every call
"""
