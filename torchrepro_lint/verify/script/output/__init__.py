"""The answer about runs, in its forms.

wording.py        the sentences, which all forms share
notes.py          the remarks below them; overhead.py: what watching took
summary.py        one sentence and one table, where something was varied
text.py           the answer for people, on a terminal
json_output.py    the answer for other programs
report_page.py    the contents of the HTML page of --report; html_report.py and report.css lay it out
timeline.py       the steps of all runs, as the page shows them; timeline_svg.py draws them
"""
