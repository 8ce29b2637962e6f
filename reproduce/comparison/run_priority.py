"""The order in which runs at the published setting tell most: what is undecided first, then what is missed.

Jobs enter and leave, in another order.
"""

from collections.abc import Sequence

from reproduce.catalogue import CATALOGUE
from reproduce.comparison.compare import compare
from reproduce.comparison.last_comparison import CONTRADICTED, MET, UNDECIDED
from reproduce.runs.costs import cost
from reproduce.runs.plan import Job
from reproduce.store.store import Store


def telling_first(jobs: Sequence[Job], store: Store) -> list[Job]:
    """Return the jobs behind undecided statements first, then those of contradicted ones, of missed values, the others.

    Of equals the first seeds first, then the cheaper.
    """
    ranks: dict[str, int] = {}

    def mark(names: Sequence[str], rank: int) -> None:
        for name in names:
            home = CATALOGUE.home(CATALOGUE.select_one(name), "paper").name
            ranks[home] = min(rank, ranks.get(home, rank))

    for paper in dict.fromkeys(job.experiment.split("/")[0] for job in jobs):
        comparison = compare(paper, [store])
        for answer in comparison.answers:
            for finding in answer.findings:
                if finding.word in (*UNDECIDED, CONTRADICTED):
                    mark(finding.part.names, UNDECIDED.index(finding.word) if finding.word in UNDECIDED else 2)
        for line in comparison.lines:
            if line.beyond and (line.ours is None or line.apart > MET):
                mark(line.value.experiments, 3)
    return sorted(jobs, key=lambda job: (ranks.get(job.experiment, 4), job.seed, cost(job.spec, job.profile).total))
