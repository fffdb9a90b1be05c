"""Orders and splits: samplers, generators, listings, sets, checkpoints.

Splits and samplers:
splits.py                all that are left to a global generator
samplers.py              those of torch; own_samplers.py: a project's own
numpy_splits.py          those that draw from NumPy
table_names.py           names of rows, by which the rest is told; table_parts.py: rows by position
permutations.py          permutations whose pieces are parts of a data set; permuted_folds.py: folds of it;
                         cut_permutations.py: pieces that are cut elsewhere
fresh_seeds.py           splits right after a seed

Generators:
generators.py            where one is made and seeded, and who draws from it; generator_uses.py: for what
given_generators.py      those that are put into objects of libraries
global_generators.py     the global one, passed as a generator of one's own
sampler_seeds.py         those of samplers that seed them in each pass
distributed_seeds.py     the seed that a DistributedSampler is given

Epochs and checkpoints:
epoch_samplers.py        samplers whose epoch nobody sets
epoch_loops.py           the loop in which a loader is gone through
restarted_iterators.py   iterators that are made again
checkpoints.py           what is in a checkpoint, and what is not
incomplete_checkpoints.py  what of the training is not in one; resumed without it
loaded_checkpoints.py    where a checkpoint that is loaded is read
frameworks.py            frameworks that take care of both

Where an order comes from:
listings.py              listings of directories; kept_listings.py: those whose order something keeps
completions.py           results in the order in which they are done
walks.py                 walks over a tree of folders
set_order.py             sets
element_kinds.py         what is in one; element_annotations.py and element_names.py: by what is written
element_bindings.py      by how a name is bound, and what is put into it; element_nesting.py: collections in another
element_removals.py      the same, by what is taken out of it
element_values.py        the same, where its value is known

Where it goes:
order_flow.py            the walk along the uses; order_carriers.py: what is followed, and how it ends
order_returns.py         from functions to what calls them
order_places.py          uses that still have the order; order_datasets.py: those that are the samples of a data set
order_calls.py           what calls make of it; order_callees.py: what they may run
order_grown.py           lists, tables and texts that a loop makes longer by a new value; order_texts.py: texts
order_loops.py           what loops make of it; order_nested.py: several in one another
order_turns.py           what the turns of a loop name: the element, its position, a counter
order_turn_draws.py      what each turn of a loop draws from one stream of random numbers
order_parts.py           loops that send each element to a part of a split; order_pieces.py: slices that go to parts
order_lookups.py         what a look-up by position makes of it; order_beside.py: in lists that are filled side by side
order_draws.py           positions that are drawn
order_rows.py            tables of the rows of files; order_groups.py: groups of them
order_dicts.py           dicts that a loop fills; order_handed.py: by a method; order_held.py: their lists
order_mappings.py        from dicts of lists to what is taken out of them
order_ties.py            elements that sorting leaves in their order
order_iterators.py       objects that read for a stream
order_jobs.py            shuffles that only say in which order jobs are started
order_sorted.py          lists that are sorted in place, by whatever name
inherited_attributes.py  attributes that a base lists and a subclass reads

From where it decides something back:
order_backward.py        the uses in which it does, and whose order they have
"""
