"""Files: where they are, what they contain, and which comments in them suppress a finding.

Which files, and what a project says about itself:
root.py              where a project begins; imported_folders.py: what imports say of it, connected.py: which
                     files they make one program
import_statements.py the import statements of a text
project.py           which project a file belongs to, with its settings, files and target
discovery.py         the files that a path stands for; ignore.py and git_index.py say what is left out
glob_match.py        whether a path matches a pattern of a .gitignore file
target.py            which versions of torch a project is written for; where it does not say so, inferred_target.py
                     tells it, and code_floor.py which torch the text of a file needs
requirements.py      the torch requirement in its metadata; metadata.py reads these files
package_versions.py  the versions of other libraries that it asks for
line_length.py       how long its lines may be
configurations.py    its YAML files
outside.py           its other files: shell scripts, container files, CI files
commands.py          the commands in them and in READMEs, and their options
beside.py            the files that say something about all its Python files

The text of a file:
text.py              bytes and text, and whether one survives as the other
contents.py          the bytes of the files of a run, each read once
stamps.py            whether a file has changed; git_head.py: which commit is checked out
write.py             replaces a file in one step
lines.py             rows and columns; line_changes.py: which lines stay in another text
depth.py             texts that no parser should be given; left_over.py: those that only define something
prefilter.py         whether a file can contain a finding at all, from its bytes
noqa.py              suppression comments

Notebooks:
notebook.py          the JSON, in which only the source of cells is changed
cells.py             the code cells as one text; broken_cells.py: those that cannot be parsed
magics.py            what IPython adds to Python
"""
