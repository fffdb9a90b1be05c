"""A program that is kept from one analysis to the next: what its answers rest on, and which of them a change undoes.

programs.py   the programs that are kept
project.py    the files that change
evaluator.py  records what each answer depends on
traces.py     such dependencies as numbers
retired.py    what nobody asks for any more
"""
