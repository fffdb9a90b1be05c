"""A user's own script, unmodified: run it in fresh processes, watch it, and say where two runs first differ, and why.

There are two stages. In the first, hashes of batches, losses and parameters are recorded for each step. Where two runs
differ, they are repeated with every operation and draw recorded in the step that differed and the one before it.

In the watched process, the only part that touches torch and numpy:
child.py            runs the script as `__main__` under the instruments
ranks.py            several ranks, as torchrun starts them
overlay.py          a copy-on-write view of the working folder
watch/              the instruments
perturb/            what varies in a perturbed run

In the parent, and offline, without torch and numpy:
cli.py              `torchrepro-lint verify SCRIPT` and `verify compare A B`
bench.py            what all runs of one script have in common, by its options
experiment.py       runs the stages in order
beside.py           runs beside each other, where they do not meet
result.py           what came of the runs
offline.py          the result for two records from files
launch.py           one run: a fresh process under a time limit, and how it ended
plan.py             what is recorded in a run
perturbations.py    what can be varied and should not matter, by name
resume.py           compares training in one go with training in two halves
leftovers.py        files that a run leaves for the next one to find
scratch.py          folders of its own for each run, so that the user's stays as it is
entries.py          the contents of a record: entries, places, the header
record.py           the file of one run: its writer and its reader
recording_names.py  what these files are called
environment.py      the environment of a run, and how two of them differ
compare.py          where two records first differ
window.py           which steps to record fully then
between_ranks.py    what the ranks of a run have in common, and what not
cause.py            why they differ, from two full records; other_ways.py: where it is neither operation nor draw
findings.py         the linter's finding for that place
time_limit.py       limits how long the linter may take
progress.py         shows how far the runs have come
output/             the answer as text, JSON and HTML
"""
