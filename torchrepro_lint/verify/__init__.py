"""The runtime side: run a program in fresh processes, watch it, and compare the runs with each other or with a claim.

Nothing outside imports this package, except the command line. Inside it, only what runs in the watched process touches
torch or numpy. The parent reads records and compares them without either.

cli.py        `torchrepro-lint verify`: its options, and which of its forms is asked for
script/       a script of the user's own: where two runs differ, and why
repair/       `torchrepro-lint repair`: the linter's fixes for where two runs differ, checked by running
fixtures/     programs that claim something about themselves
operations/   the operations of the table, each run many times

Shared by these:
shared_options.py            options of the commands that run a script
devices.py                   what programs can be run on here
process_group.py             ends a process with everything that it has started, also if this one is told to end
guard.py                     does so where this one is killed, and removes its folders
hashing.py, tensor_sums.py   the content of a value as a hash
loader_watch.py              what a DataLoader delivers
after_import.py              hooks that wait until the program imports a module
"""
