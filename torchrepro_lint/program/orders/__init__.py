"""The order of what is listed, of sets, and of permutations: where it comes from, and what it decides.

Where it comes from:
listings.py              listings of directories; kept_listings.py: those whose order something keeps
completions.py           results in the order in which they are done; unordered_results.py: added up or trained on so
queued_results.py        the same, out of a queue that several workers fill
walks.py                 walks over a tree of folders
set_order.py             sets
element_kinds.py         what is in one; element_annotations.py and element_names.py: by what is written
element_bindings.py      by how a name is bound, and what is put into it; element_nesting.py: collections in another
element_removals.py      the same, by what is taken out of it
element_values.py        the same, where its value is known; element_uses.py: where a tensor is made of it

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

Permutations:
permutations.py          whose pieces are parts of a data set; permuted_folds.py: folds of it;
                         cut_permutations.py: pieces that are cut elsewhere

From where it decides something back:
order_backward.py        the uses in which it does, and whose order they have
"""
