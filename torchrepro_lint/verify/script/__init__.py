"""A user's own script, unmodified: run it in fresh processes, watch it, and say where two runs first differ, and why.

There are two stages. In the first, hashes of batches, losses and parameters are recorded for each step. Where two runs
differ, they are repeated with every operation and draw recorded in the step that differed and the one before it.

In the watched process, the only part that touches torch and numpy:
child.py            runs the script as `__main__` under the instruments
watch/              the instruments
perturbations.py    what may be varied that must not matter, by name; clock.py, listing.py and loaders.py do it

In the parent, and offline, without torch and numpy:
entries.py          the vocabulary of a record: entries, places, the header
record.py           the file of one run: its writer and its reader
plan.py             what is recorded in a run
environment.py      what a run ran on, and how two environments differ
launch.py           one run: a fresh process under a time limit, and how it ended
compare.py          where two records first differ
window.py           what to look at closely then
cause.py            why they differ, from two close records
ladder.py           all of it in order: runs in, a result out
offline.py          two records from files instead
findings.py         what the linter says of the place
wording.py          the sentences; text.py and json_output.py put them together, progress.py says how far it is
cli.py              `torchrepro-lint verify train.py` and `verify compare A B`
"""
