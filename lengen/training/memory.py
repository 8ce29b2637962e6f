"""Keep the memory that tensors give back: the next step needs the same sizes again."""

import ctypes
import sys

LARGEST_KEPT = 32 << 20
"""Bytes; glibc accepts no higher bound for what it takes from the heap."""
TRIM, PADDING, MAPPED = -1, -2, -3
"""Numbers of glibc's M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD."""


def keep_freed_memory() -> bool:
    """Let the C library hand freed blocks out again instead of returning them to the system; False if it cannot.

    A page that is asked for anew is faulted in and cleared, which for tensors of some megabytes costs more than the
    arithmetic on them: 5,000 faults and an eighth of a training step at 3,000 tokens of width 128, up to ten times
    that on virtual machines. The process stays as large as it ever was.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # another C library
        return False
    wanted = ((MAPPED, LARGEST_KEPT), (TRIM, 2**31 - 1), (PADDING, 256 << 20))
    return sum(bool(mallopt(number, value)) for number, value in wanted) == len(wanted)
