"""The command ``completion``: what a shell needs to complete commands, options and selectors, by argcomplete.

Nothing of that package is loaded unless this command is given or a shell asks for completions.
"""

import argparse

from reproduce.catalogue import CATALOGUE, SelectorError


def completion_command(options: argparse.Namespace) -> int:
    """Print the script; a shell that evaluates it completes the program ``reproduce``."""
    from argcomplete.shell_integration import shellcode

    print(shellcode(["reproduce"], shell=options.shell))
    return 0


def selectors(prefix: str) -> list[str]:
    """Return the completions of a selector: papers by name and number, then figures of one, then variants of one.

    All but variants end in a slash, after which one can go on.
    """
    head, slash, _last = prefix.rpartition("/")
    if not slash:
        return [f"{name}/" for name in (*CATALOGUE.papers(), *CATALOGUE.aliases())]
    level = head.count("/") + 1
    if level > 2:
        return []
    try:
        chosen = CATALOGUE.select(head)
    except SelectorError:
        return []
    names = dict.fromkeys(item.name.split("/")[level] for item in chosen)
    return [f"{head}/{name}" + "/" * (level < 2) for name in names]
