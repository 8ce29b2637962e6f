"""The papers, one a line: number, name and title between tabs; ``python -m papers`` needs no library."""

from papers import found

for paper in found():
    print(paper.number, paper.name, paper.title, sep="\t")
