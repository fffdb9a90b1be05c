"""A user's own script, unmodified: run it in fresh processes, watch it, and say where two runs first part.

In the watched process, the only part that touches torch and numpy:
child.py            runs the script as `__main__` under the instruments
perturbations.py    what may be varied that must not matter; listing.py, clock.py and loaders.py do it

In the parent, and offline, without torch and numpy:
entries.py          the vocabulary of a record: entries, places, the header
record.py           the file of one run: its writer and its reader
environment.py      what a run ran on, and how two environments differ
"""
