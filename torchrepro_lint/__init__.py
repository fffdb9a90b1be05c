"""Static analysis for PyTorch reproducibility: a checker, a fixer and a flake8 plugin.

Importing the package imports none of its parts: start-up is on every user's path.

Where a run begins:
cli.py              the command: what answers to its arguments, and how it ends; __main__.py calls it
flake8_plugin.py    the plugin, which flake8 asks about one file after another
api.py              what rules of other packages may use; third_party.py finds them

From paths to findings:
engine.py           the order of the steps
project_check.py    the rules run over one project
run_report.py       what comes of a check
interest.py         which files may hold a finding, by their bytes
toolkit.py          the rules, and what makes the program that they ask
selection.py        which rules run; rule_metadata.py is what is known of a rule without asking it
suppression.py      comments and settings that silence a finding
baseline.py         findings that are known already
internal_errors.py  what is said of a fault of the tool itself

From findings to fixed files:
fix_loop.py         the rounds in which fixes are applied, and what is written
halves.py           makes a fix unsafe that would mend one of several findings alike; left_elsewhere.py: one of the
                    loaders of a repository
fix_attempts.py     one attempt: the texts with some fixes, checked again
copies_elsewhere.py the copies of fixed code that the rest of the repository holds
fix_report.py       what came of them

What else can be asked:
explain.py          which loaders a line is about
line_view.py        what is known of the other calls on a line
loader_view.py      how the tool sees one loader
overview.py         what a project controls, and where
verdict.py          that in one table; checklist.py: the items of papers' checklists that code can answer

What all of it uses:
diagnostics.py      findings, traces, edits
console.py          how errors, counts and progress are printed
dotted.py           dotted names as text
quiet.py            Python's parser without its warnings
regular_files.py    how files that are not Python are read, and what is said of those that are not

The folders, from the ground up: `settings`, `knowledge` (what libraries do, as data), `source` (files and their text),
`facts` (what one file says), `program` (all facts linked), `fixes` (edits), `rules` and `housekeeping` (one rule a
file), `report` (output formats), `cache`, and `arguments`, `commands`, `lsp` and `verify`, which people start. Imports
go only downwards; the contracts in pyproject.toml say which order that is.
"""

__version__ = "0.1.0"
