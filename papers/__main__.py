"""The papers, one a line: number, name, title and why it is left out of ``make reproduce`` (empty if it is not)
between tabs; ``python -m papers`` needs no library."""

from papers import found

for paper in found():
    print(paper.number, paper.name, paper.title, paper.apart, sep="\t")
