"""The runtime side: run a program in fresh processes, watch it, and compare the runs with each other or with a claim.

A wing of its own. Nothing outside imports it except its front door, and inside it only what runs in the watched process
touches torch or numpy. The parent reads records and compares them without either.

script/       a script of the user's own: where two runs differ, and why

Fixtures, programs that claim something of themselves:
fixtures.py   the programs, their headers and expectations
claims.py     the closed vocabulary of claims
runner.py     one program, one fresh process, one record
child.py      what that process runs; observer.py is its instrument
record.py     the record as a stream of typed events
judge.py      claim + runs -> verdict
suite.py      many fixtures: which runs their claims need, and one row for each claim

For both:
hashing.py, tensor_sums.py   the content of a value as a hash
loader_watch.py              what a DataLoader delivers
after_import.py              hooks that wait until the program imports a module
cli.py                       `torchrepro-lint verify`: which of its forms is asked for
"""
