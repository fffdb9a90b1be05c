"""The operations of the table: run each of them many times, and say whether the table is right.

cli.py     `torchrepro-lint verify --ops`
run.py     which operations can be run, and what is seen of each, in words
child.py   the process that runs them, the only part that imports torch
"""
