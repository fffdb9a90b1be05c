"""Determinism switches, the intent that they show, and the environment that they need.

What a program intends:
intent.py            the evidence, and the modules for which it holds
intent_at.py         which of it speaks for one place
wishes.py            options that ask for determinism; open_flags.py: switches that are given one
configured_defaults.py  settings whose only known value is False
configured_seeds.py  seeds that a framework reads from a configuration
configurations.py    what YAML files say; hydra.py puts them together as Hydra does
library_releases.py  what a call switches in the releases of its library that the project asks for
older_torch.py       switches of a torch that lacks an argument
parents_alone.py     switches of a process that only starts others
trainers.py          Lightning Trainers that only test
command_lines.py     frameworks that build and seed the program
convolutions.py      whether a program trains a network that holds a convolution

Switches that do not do what they seem to:
dead_switches.py     nothing at all; unread_seeds.py: options
endings.py           only for a region
lost_switches.py     only for a process that starts others

The environment:
environment.py       variables that a program sets
late_environment.py  after what reads them; cuda_use.py and cublas_use.py: when that is
"""
