"""Settings of sorting with hints whose speed two checkouts are compared by."""

from lengen.timing import Workload

WORKLOADS = (Workload("sorting-with-hints", "task_hinting/fig3.6/successor"),)
