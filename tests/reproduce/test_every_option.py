"""Every option of every command, read off the parser itself, with wrong, hostile and unicode values: code 2 and one
sentence."""

import argparse

import pytest

from reproduce import cli
from reproduce.catalogue import CATALOGUE
from reproduce.cli import main
from tests.fixtures.toy_paper import install_toy

HOSTILE = (
    "", " ", "\0", "\n", "a\nb", "\x1b[2J", "\x9b31m", "٣", "½", "\udcff", "\u202egnp", "-1", "--", "-", "0x10", "1e9",
    "NaN", "1_000", "9" * 12, "9" * 5000, "..", "../../etc/passwd", "/", "//", "~", "$(id)", "`id`", "; rm -rf /", "{}",
    "[", "[[[", "[!", "toy/[", "toy/fig1/[!", "toy/../toy", "%s%n%", "{0}", "a=b", "=", ",", "0..", "x" * 5000, "true",
    "null", "<script>", "\\", "con", "日本",
)  # fmt: skip
"""What somebody could type where a value is expected; none of it is one."""
VALID = {"selector": ["toy/fig1/alpha"], "operands": ["1", "2"], "run": ["toy/fig1/alpha"], "task": ["copy"]}
VALID["predictions"] = ["none.jsonl"]
"""A value for every positional argument; a new one belongs here, or its command cannot be tried."""
FREE = {"selector", "operands", "run", "overrides", "task", "tricks", "out", "address", "sbatch_args", "lengths"}
FREE |= {"source", "predictions", "function", "hf", "on", "problems", "beside", "picture", "scores", "name"}
"""Values that only the command itself can judge: some of the hostile ones may be right, a file name for one."""
COMMANDS = cli.parser()._subparsers._group_actions[0].choices  # type: ignore[union-attr]
CASES = [
    pytest.param(name, action, id=f"{name}-{action.dest}")
    for name, command in COMMANDS.items()
    for action in command._actions
    if not isinstance(action, argparse._HelpAction)
]


@pytest.fixture(scope="module", autouse=True)
def results(tmp_path_factory):
    place = tmp_path_factory.mktemp("options")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        results = install_toy(patch, place)
        assert main(["run", "toy/fig1/alpha", "--jobs", "1"]) == 0
        parser = cli.parser()
        patch.setattr(cli, "parser", lambda: parser)
        yield results
    CATALOGUE.fill()


def needed(name: str, but: argparse.Action) -> list[str]:
    given = [action for action in COMMANDS[name]._actions if not action.option_strings and action is not but]
    dry = ["--dry-run"] if name == "run" and but.dest != "dry_run" else []
    return [name, *dry, *(word for action in given if action.nargs != "?" for word in VALID[action.dest])]


def refused(capsys, arguments: list[str]) -> None:
    """The command ends with code 2, and with one sentence that a terminal shows as it is."""
    code, shown = main(arguments), capsys.readouterr()
    assert code == 2, arguments
    assert shown.out == "" and shown.err.endswith("\n"), arguments
    sentence = shown.err[:-1]
    assert sentence.isprintable() and 10 < len(sentence) < 1200, (arguments, sentence[:300])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "action"), CASES)
def test_a_hostile_value_ends_in_one_sentence(name, action, capsys):
    base = needed(name, action)
    for value in HOSTILE:
        more = VALID.get(action.dest, [])[1:]
        given = [f"{action.option_strings[0]}={value}"] if action.option_strings else ["--", value, *more]
        if action.dest in FREE and main([*base, *given]) == 0:
            capsys.readouterr()
            continue
        capsys.readouterr()
        refused(capsys, [*base, *given])


@pytest.mark.parametrize(("name", "action"), [case for case in CASES if case.values[1].option_strings])
def test_an_option_without_its_value_ends_in_one_sentence(name, action, capsys):
    if action.nargs != 0:
        refused(capsys, [*needed(name, action), action.option_strings[0]])


@pytest.mark.parametrize("name", COMMANDS)
def test_what_no_command_knows_ends_in_one_sentence(name, capsys):
    base = needed(name, argparse.Action([], "none"))
    for word in ("--nosuch", "--nosuch=1", "-x", "--\x1b[31m", "--sed\n", "--\udcff"):
        refused(capsys, [*base, word])


def test_every_option_is_tried():
    assert len(COMMANDS) > 10 and len(CASES) > 40
    for name, command in COMMANDS.items():
        typed = [action for action in command._actions if action.option_strings and action.nargs != 0]
        loose = {action.dest for action in typed if action.type is None and action.choices is None}
        assert loose <= FREE, f"{name}: say of {loose - FREE} which values are right, by type= or choices="
