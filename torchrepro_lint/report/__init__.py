"""Findings as the user reads them.

formats.py       the output formats by name; report_input.py is what each is given
text.py          full, concise and grouped; frames.py and fix_diff.py show code and fixes, colours.py colours them
json_report.py, sarif.py, github.py, gitlab.py, junit.py, rdjson.py: formats for other programs
summary.py       the sentences at the end, the list of fixes, the statistics
repeated.py      findings that copies of a notebook repeat
next_steps.py    what to do about a finding, in one sentence
places.py        the place of a finding, as every format writes it
at_steps.py      a finding in another file, told at the step in a file at hand
source_links.py  where a line is found on the web, or beside the page
texts.py         the texts and names of the files
fingerprints.py  identifies a finding when lines above it change
rule_pages.py    the documentation of a rule; op_evidence.py and gpu_evidence.py add what was measured
documents.py     headings and tables as Markdown or HTML
progress.py      how far a check has come
"""
