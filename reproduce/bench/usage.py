"""What the system says that a process used: memory and processor time; Windows has no such module."""

from types import ModuleType


class UsageError(ValueError):
    """This system does not say what a process used; one sentence."""


def usage() -> ModuleType:
    """The module ``resource``, loaded where it is asked for; raises `UsageError` where there is none."""
    try:
        import resource
    except ImportError:
        raise UsageError(
            "this system does not say what memory and processor time a process used, as Linux and macOS do"
        ) from None
    return resource
