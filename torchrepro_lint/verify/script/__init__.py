"""A user's own script, unmodified: run it in fresh processes, watch it, and say where two runs first differ, and why.

There are two stages. In the first, hashes of batches, losses and parameters are recorded for each step. Where two runs
differ, they are repeated with every operation and draw recorded in the step that differed and the one before it.

In the watched process, the only part that touches torch and numpy:
child.py            runs the script as `__main__` under the instruments
watch/              the instruments
perturbations.py    what can be varied and should not matter, by name; clock.py, listing.py and loaders.py implement it

In the parent, and offline, without torch and numpy:
entries.py          the contents of a record: entries, places, the header
record.py           the file of one run: its writer and its reader
plan.py             what is recorded in a run
environment.py      the environment of a run, and how two of them differ
launch.py           one run: a fresh process under a time limit, and how it ended
compare.py          where two records first differ
window.py           which steps to record fully then
cause.py            why they differ, from two full records
experiment.py       runs the stages in order, and gives the result
result.py           what came of the runs
offline.py          does the same for two records from files
findings.py         the linter's finding for that place
wording.py          the sentences of the output; text.py and json_output.py assemble them, progress.py shows progress
cli.py              `torchrepro-lint verify train.py` and `verify compare A B`
"""
