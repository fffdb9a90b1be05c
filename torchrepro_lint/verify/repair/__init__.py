"""`torchrepro-lint repair`: fix what makes two runs of a script differ, one cause after another, checked by running.

Nothing here touches torch. The script is run as `verify` runs it, in scratch folders that hold the fixed files.

cli.py           the command
session.py       the rounds: run, take the fix for the first cause, run again, keep the fix or refuse it
fixer.py         the linter's fixes for a cause, tried on texts in memory, and written at the end
contract.py      what a fix may not change, held against recordings of before and after
streams.py       what a recording tells of each order, each epoch and each generator
other_seed.py    how the script is given another seed
result.py        what came of it
output.py        the answer as text and JSON
page.py          the answer as an HTML page
"""
