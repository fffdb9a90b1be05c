"""What a program asks for: seeds, determinism, and the options, settings and commands by which it does.

intent.py            the evidence, and the modules for which it holds
intent_at.py         which of it speaks for one place
wishes.py            options that ask for determinism
configured_defaults.py  settings whose only known value is False
configured_seeds.py  seeds that a framework reads from a configuration
configurations.py    what YAML files say; hydra.py puts them together as Hydra does
library_releases.py  what a call switches in the releases of its library that the project asks for
options_left_off.py  options of the command line that no command of the project turns on
given_options.py     options to which a project gives several values
command_lines.py     frameworks that build and seed the program
trainers.py          Lightning Trainers that only test
endings.py           switches that hold only for a region; kept_states.py: functions that put the state back
seed_entropy.py      seeds from the clock or the system; entropy_calls.py: which calls
told_seeds.py        seeds that a program tells
"""
