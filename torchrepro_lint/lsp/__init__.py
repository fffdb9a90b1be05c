"""The language server: what an editor is told while a program is written.

command.py   `torchrepro-lint server`
server.py    the protocol: which message of the editor leads to what, and when the analysis runs
session.py   what is known between two analyses: open files, projects, facts
buffers.py   files as the editor has them, and places in them as the protocol counts
messages.py  findings as diagnostics, rules as hovers
actions.py   fixes as code actions

Only server.py and command.py know pygls; lsprotocol, which comes with it, has the types of the messages.
"""
