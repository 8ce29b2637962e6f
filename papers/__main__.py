"""The papers, one a line, for ``python -m papers``, which needs no library.

A line has number, name, title and why it is left out of ``make reproduce`` (empty if it is not) between tabs.
"""

from papers import found

for paper in found():
    print(paper.number, paper.name, paper.title, paper.apart, sep="\t")
