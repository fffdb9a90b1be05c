"""Edits that fix findings: range edits over the original text, computed on one libcst parse of it.

The fix of a kind of finding, planned from the program, is in a module named `..._fix`. What they are made of:

The file:
document.py           the text, its syntax tree, and where each node is; documents.py gives that of a file
node_index.py         finds the nodes of a kind
scopes.py             which names a file binds; binding_forms.py finds every form of binding
visibility.py         whether a name is bound at a place
brackets.py           the brackets around a call

The canonical seeding code:
seeding.py            plans it for a loader; seeding_request.py is what it is given, seeding_lines.py writes it
worker_init.py        the worker init function; worker_lines.py and worker_targets.py seed more than the global RNGs
importable.py         finds one in another file that can be imported from there
late_imports.py       what it imports itself, in a file that imports torch in its functions alone
init_body.py          edits of a worker init function that exists; init_parameter.py gives it a parameter
generators.py         finds a generator, or a name for one; placement.py says where, generator_lines.py writes it
above_arms.py         where one serves the loaders of several arms
to_be_read.py         what nobody would merge unread; early_samples.py and other_orders.py: what a generator leaves;
                      listings_beside.py: what `sorted` does
default_device.py     whether a generator of the CPU is one that torch takes
unsafe_reasons.py     why a fix is unsafe, in words
offsets.py            by how much the seeds of a file differ; used_up.py: which loaders nothing is used beside
made_names.py         what a call makes, after the names around it
generator_attribute.py the generator that an object keeps, where its loader is made again and again;
                      kept_generators.py: whether it can
inserted_blocks.py    new lines above a statement; tool_comments.py says which comments there are not for people
unseeded_calls.py     the other calls that may need one
written_at.py         the call or the partial that gets the arguments
spread_options.py     the keywords that `**kwargs` may hold already
program_seed.py       the seed: torch's own, or an expression of the program
text_options.py       whether it may be a text or a list: options of the command line that name no type, or take several
seed_expression.py    finds that expression, seed_uses.py where the file has it, passed_seed.py one in another file;
                      optional_seed.py, none_tests.py and parsed_options.py say whether it may be missing;
                      seeding_helpers.py: the functions that seed with it
rank_expression.py    the rank, where it is part of the seed; also rank_terms.py and rank_free.py

The edits:
arguments.py          adds keyword arguments to a call; passed_arguments.py reads those that it passes
imports.py            imports; import_layout.py and import_sections.py place them, unused_imports.py removes them
apply.py              applies edits, and chooses fixes that are compatible
arms.py               which of them belong together; also twins.py (files_alike.py says where a copy may be)
verified.py           whether the resulting text can be trusted
"""
