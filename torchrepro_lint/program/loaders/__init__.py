"""The loaders of a program, and what one is made with.

loaders.py            every call that makes one; maker_names.py: by which names
given_later.py        what one is given after that
configured_workers.py the number of workers that configurations give to the constructor around it
set_before.py         what is assigned to attributes of its data set above it
worker_runs.py        the walk through what its workers run, and what that does to generators
"""
