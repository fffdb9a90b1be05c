"""The commands, and the options that do something other than checking: each calls the engine and prints the result.

check.py           `torchrepro-lint [PATH ...]`: check, print, and the exit status
fix.py             `--fix`, `--fix-only`, `--diff`
stdin.py           `torchrepro-lint -`
watch.py           `--watch`
show.py            `--show-files`, `--show-settings`
add_noqa.py        `--add-noqa`
write_baseline.py  `--write-baseline`
hypotheses.py      for `explain`: under which settings a rule would report a line
explain.py, rule.py, report.py, skill.py, clean.py, completion.py: the commands of these names; `verify` and
`server` are the packages verify and lsp
"""
