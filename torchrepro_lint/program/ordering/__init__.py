"""Splits and samplers, the generators that decide them, and checkpoints.

Splits and samplers:
splits.py                all that are left to a global generator
samplers.py              those of torch; own_samplers.py: a project's own
numpy_splits.py          those that draw from NumPy
table_names.py           names of rows, by which the rest is told; table_parts.py: rows by position
fresh_seeds.py           splits right after a seed

Generators:
generators.py            where one is made and seeded, and who draws from it; generator_uses.py: for what
given_generators.py      those that are put into objects of libraries
global_generators.py     the global one, passed as a generator of one's own
sampler_seeds.py         those of samplers that seed them in each pass
distributed_seeds.py     the seed that a DistributedSampler is given

Epochs and checkpoints:
epoch_samplers.py        samplers whose epoch nobody sets
checkpoints.py           what is in a checkpoint, and what is not
incomplete_checkpoints.py  what of the training is not in one; resumed without it
loaded_checkpoints.py    where a checkpoint that is loaded is read
"""
