"""Operations of torch, the tensors that they work on, and where they run.

Which operations:
operations.py            the calls
held_operations.py       those under another name; inherited_operations.py: those of a class's base
op_arguments.py          their arguments
proven_rows.py           which rows of the table are proven for a call
op_collisions.py         whether anything can meet in one that adds; unique_indices.py: whether an index repeats
made_indices.py          indices that are made with one place in a row

Where they run:
op_runs.py               on which device, with gradients or without, under the flag or not
cpu_devices.py           files in which every device is the CPU
module_runs.py           where a module runs; criterion_runs.py: a loss that is an object
replaced_modules.py      modules that a constructor replaces before they run
network_calls.py         what the call of a model may run
input_forms.py           what form the inputs have in a run
recomputation.py         what is computed again in a backward pass, with other random numbers
dropout_rates.py         with which probability dropout drops
regions.py               blocks under `torch.no_grad` and its like

Whether a gradient comes back:
no_gradient.py           by where the result goes
graph_leaves.py          by where a tensor is made
data_inputs.py           by the inputs being data alone; frozen.py: or what a frozen part makes of data
saved_tensors.py         in a function with a `backward` of its own

What is a tensor, and what is known of it:
tensors.py               the question
tensor_values.py         what values show
tensor_names.py          names
tensor_params.py         parameters
tensor_attributes.py     attributes
tensor_calls.py          calls; tensor_results.py: what becomes of what is known
tensor_arithmetic.py     operators
listed_tensors.py        lists
dimensions.py            how many dimensions it has; single_dimensions.py: which are of one place
distinct_numbers.py      numbers of which none comes twice

Memory that is read before it is written:
fresh_memory.py          where it comes from
memory_uses.py           what one use does with it
uninitialized.py         in one function
unwritten_attributes.py  in an object; joined_tensors.py: read because it is put together with others
"""
