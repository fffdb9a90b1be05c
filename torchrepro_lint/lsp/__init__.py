"""The language server: findings, fixes and documentation in an editor.

command.py   `torchrepro-lint server`
server.py    the protocol: how each message of the editor is handled, and when the analysis runs
session.py   what is kept between two analyses: open files, projects, facts
buffers.py   files as they are in the editor, and positions in them as the protocol counts
messages.py  findings as diagnostics, rule documentation as hovers
actions.py   fixes as code actions

Only server.py and command.py import pygls; lsprotocol, which comes with it, has the types of the messages.
"""
