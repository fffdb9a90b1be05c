"""Results of earlier runs, kept on the disk under the contents of all that they depend on.

run.py           one run: whether its result is known, and what is kept of it
key.py           what the result depends on, as one digest
dependencies.py  what it depends on beside the texts of the project's files
record.py        whether a result still holds after a few files have changed
codec.py         findings as plain data, and back
store.py         the folder and its files; entries.py is the format of a file, and secret.py what signs it
stats.py         digests of files that have not changed
installed.py     whether rules of other packages are installed
"""
