"""The language server: findings, fixes and documentation in an editor.

command.py     `torchrepro-lint server`
handlers.py    which message of the editor leads to what
server.py      when the analysis runs, and what the server answers
session.py     what is kept between two analyses: open files, projects, facts
open_files.py  the files that are open in the editor
buffers.py     positions in open files as the protocol counts
messages.py    findings as diagnostics, rule documentation as hovers
actions.py     fixes as code actions
ending.py      the end of the process

Only server.py, handlers.py, open_files.py and command.py import pygls; lsprotocol, which comes with it, has the types
of the messages.
"""
