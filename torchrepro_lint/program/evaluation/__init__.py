"""What expressions can be: values, names, attributes, calls and conditions.

The core:
evaluator.py         the values of an expression in a frame
values.py            what an expression can evaluate to; value_text.py shows it to a person, order.py sorts it
frames.py            activations of scopes
memory.py            every question is answered once; reliance.py says what of a frame an answer depends on

Expressions:
expressions.py       what each form evaluates to
arithmetic.py        operators
names.py             names: bindings, builtins; scoping.py: in which scopes; rebinding.py: what `exec` and
                     `globals()` may bind
imported.py          what import statements give, also those of a star
narrowing.py         what a test says of a name in its arms; told_constants.py: where it says what the name is
conditions.py        which conditions are proven; chances.py and kinds.py: comparisons with a draw, `isinstance`;
                     inner_tests.py: inside an expression

Calls:
calls.py             what calls give
arguments.py         arguments, bound to parameters
python_calls.py      those of Python's own functions
builtin_calls.py     those of everything else outside the project

Classes and their objects:
classes.py           bases, bodies, binding
construction.py      the `__init__`s that run; signatures.py: which of several classes can take the arguments
attributes.py        what `value.attr` is
instances.py         the attributes of objects; own_attributes.py: what a method has assigned itself;
                     open_attributes.py: what is set by names that the text does not show
class_stores.py      what is assigned to a class outside of its body
outside_stores.py    what is assigned to attributes of objects, and to global names of modules, from outside
descriptors.py       methods that a call makes, such as `partialmethod`
dataclass_fields.py  fields of dataclasses; named_tuples.py: items of named tuples
enumerations.py      members of enumerations
dict_subclasses.py   objects that are dicts
records.py           objects of libraries that are what they were made of; torch_devices.py: devices by their names

Lists and dicts:
containers.py        what is in them, and what is taken out
changes.py           what is done to them after they were made; aliases.py: under another name
container_methods.py    what each method does: append, insert, update, pop
class_changes.py     what is put into those of a class; method_changes.py: into those of an object
handed_lists.py      what functions do to those that they are passed
held_lists.py        lists that pipelines of libraries keep
module_containers.py     what `nn.ModuleList` and its like hold
joining.py           what many calls have changed, as one

Chosen by name:
named_by_text.py     `getattr(module, name)` and its like; text_parts.py: how such a name begins and ends
registries.py        registries of libraries
instantiation.py     configurations with a `_target_`
command_line.py      options with choices
"""
