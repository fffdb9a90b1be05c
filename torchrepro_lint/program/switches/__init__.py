"""Determinism switches that do not do what they seem to, and the environment that they need.

Switches:
open_flags.py        that are given an option
older_torch.py       switches of a torch that lacks an argument
parents_alone.py     switches of a process that only starts others
convolutions.py      whether a program trains a network that holds a convolution

Switches that do not do what they seem to:
dead_switches.py     nothing at all; own_generators.py: generators with a seed that nothing draws from
lost_switches.py     only for a process that starts others

The environment:
environment.py       variables that a program sets
late_environment.py  after what reads them; cuda_use.py and cublas_use.py: when that is
"""
