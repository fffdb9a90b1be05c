"""Seeds of the main process: which, where from, when, and which are missing.

Missing or late:
unseeded.py         programs that seed nothing
compiled_draws.py   dropout of networks that an option compiles
partial_seeding.py  programs that leave out a generator; seeding_places.py: where the seeds of those stand
first_draws.py      what is drawn first from what is left out; figure_draws.py: what only places samples in a figure
late_seeds.py       seeds after the first draw; earlier_cells.py: parts of a notebook that are over by then
run_seedings.py     which seeds are those of a whole run; seeding.py: whether one of torch is around a loader
unread_seeds.py     options for a seed that nothing reads
rank_seeds.py       whether all ranks seed alike; rank_draws.py: what they draw then
split_seeds.py      which are those of one split; fixed_draws.py: draws with a seed of their own

Different in every run:
seed_faults.py      which seeds
fallback_seeds.py   those where the user gives none
drawn_seeds.py      seeds that are drawn from what nothing has seeded
environment_seeds.py    environments of Gym that nothing seeds, and their spaces
unseeded_searches.py    searches of hyperparameters without a seed; reseeded_searches.py: with one that threads lose
unseeded_streams.py     shuffles and samples of libraries without a seed
hashed_texts.py     what the hash of a text decides
set_texts.py        texts that are put together of a set, and checksums of them
process_classes.py  processes that are objects of the project's own classes
process_draws.py    draws in processes that a program starts, and that nothing seeds there
unseeded_generators.py  generators of one's own without a seed; makers_without_seed.py: where they may be made

Known at a place:
torch_seeds.py      whether torch is seeded on every path to it, and with what; asked_seeds.py: for which seeds
seeded_passes.py    whether it is seeded before each pass over a loader
moved_streams.py    what an option draws of its stream before a pass; deciding_options.py: which option decides a test

The same again and again:
reseeding.py        seeds in the loop of epochs or steps

What does not count:
programs_in_part.py  programs that seed a part, reported or not; only_draws.py: loaders that alone draw after a seed
own_seeds.py        seeds of generators of one's own
reasons_given.py    comments that say why a seed is another one in every run
given_back.py       a constant, a draw, and None: the seed of that draw alone
overridden_seeds.py seeds that another replaces before anything is drawn
kept_draws.py       draws of which nothing is left
loaded_weights.py   first weights that others replace; left_out_weights.py: all but some;
                    reset_weights.py: by a loop over all
trained_models.py   networks and tensors that the program does not train
module_networks.py  networks of an imported module that the program never asks for
measured_models.py  models that are only built to look at their form; asked_form.py: by all their uses
evaluation_mode.py  layers that do not draw in an evaluation
dropout_in_evaluation.py  dropout that `eval` does not switch off; mode_tests.py: what depends on the mode
unswitched_evaluation.py  evaluations in programs that never switch the mode; switched_models.py: or of another model
parts_in_training.py  parts of a model that draw there again; chosen_parts.py: which of them a line is about
shown_draws.py      draws, and numbers by position, that choose what is shown
demonstrations.py   random actions that show an environment, and draws that nothing reads
unused_defaults.py  defaults that no call leaves to be used
"""
