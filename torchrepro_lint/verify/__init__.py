"""The runtime side: run a program in fresh processes, watch what it draws, and compare that with what it claims.

A wing of its own. Nothing outside imports it except its front door, and inside it only what runs in the watched process
(`observer`, `hashing`) touches torch or numpy. The parent reads records and compares them without either.

fixtures.py   the programs, their headers and expectations
claims.py     the closed vocabulary of claims
runner.py     one program, one fresh process, one record
child.py      what that process runs; observer.py, hashing.py are its instruments
record.py     the record as a stream of typed events
judge.py      claim + runs -> verdict
suite.py      many fixtures: which runs their claims need, and one row for each claim
cli.py        `torchrepro-lint verify`
"""
