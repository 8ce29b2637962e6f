"""What must stay true of the source itself: which way imports go, what is light, what it names."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from papers import found

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("lengen", "papers", "reproduce")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
UNIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"}
UNIX_NAMES = {
    "os": {"fork", "geteuid", "getloadavg", "getuid", "killpg", "sched_getaffinity", "sched_setaffinity", "setsid"}
    | {"statvfs", "uname", "wait", "waitpid", "register_at_fork", "mkfifo", "chown", "getpgid", "O_DIRECTORY"},
    "signal": {"SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH"}
    | {"alarm", "pause", "setitimer", "pthread_sigmask"},
}
"""What Windows lacks."""


def imports(path: Path, *, at_load: bool = False) -> set[str]:
    """Names of imported modules; ``at_load``: only those that loading the module imports."""
    found = set()
    todo: list[ast.AST] = [ast.parse(path.read_text())]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            module = node.module or ""
            found |= {module} | {f"{module}.{alias.name}" for alias in node.names}
        later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for_types = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        if not (at_load and (later or for_types)):
            todo += ast.iter_child_nodes(node)
    return found


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def files() -> list[Path]:
    """What a clone would hold: tracked files, and new ones that git does not ignore."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [path for text in listed.stdout.decode().split("\0") if text and (path := ROOT / text).is_file()]


def test_nothing_needs_what_only_unix_has_and_names_a_place_on_one_machine():
    """No module of ours needs it to load, and who uses it asks first whether it is there."""
    for path in SOURCES:
        assert not imports(path, at_load=True) & UNIX_MODULES, name(path)
        source = path.read_text()
        if not re.search(r"\b(?:os|signal)\.", source):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                module, used = node.value.id, node.attr
                asked = used not in UNIX_NAMES.get(module, ()) or f'hasattr({module}, "{used}")' in source
                assert asked, f"{name(path)} needs {module}.{used}"
    places = re.compile(r"(?<![\w./$}~*-])/(?:work|home|root|Users|tmp|mnt|data)/[\w.-]+|\.\./shared")
    for path in files():
        if path == Path(__file__).resolve() or path.suffix in {".png", ".npz", ".safetensors", ".svg", ".lock"}:
            continue
        try:
            found = places.search(path.read_text())
        except UnicodeDecodeError:
            continue
        assert not found, f"{name(path)} names {found.group()}"


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_imports_go_one_way(path):
    """lengen <- papers <- reproduce; papers do not know each other."""
    package, *inner = path.relative_to(ROOT).parts
    allowed = {"lengen": {"lengen"}, "papers": {"lengen", "papers"}, "reproduce": set(PACKAGES)}[package]
    for module in imports(path):
        top, *rest = module.split(".")
        assert top not in (*PACKAGES, "stress", "tests") or top in allowed, f"{name(path)} imports {module}"
        if package == top == "papers" and rest and len(inner) > 1:
            assert rest[0] == inner[0], f"{name(path)} imports {module}: papers do not import each other"


def needed() -> dict[str, set[str]]:
    """Modules -> those that each imports; imports inside functions and for types count, too."""
    modules = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in SOURCES
    }
    found = {}
    for module, path in modules.items():
        used = imports(path)
        # of ``from package import module`` the module is needed; the package is where it lies
        lies = {one.rpartition(".")[0] for one in used if one in modules}
        named = {one.rpartition(".")[0] for one in used if one not in modules}
        found[module] = {one for one in used if one in modules and (one not in lies or one in named)} - {module}
    return found


def folders(below: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same for folders: ``lengen.data`` needs every folder that a module of it imports."""
    found: dict[str, set[str]] = {}
    for module, used in below.items():
        folder = ".".join(module.split(".")[:2])
        found.setdefault(folder, set()).update({".".join(one.split(".")[:2]) for one in used} - {folder})
    return found


@pytest.mark.parametrize("of", [dict, folders])
def test_nothing_imports_itself_in_a_circle(of):
    below = of(needed())
    done: set[str] = set()

    def visit(one: str, way: tuple[str, ...]) -> None:
        assert one not in way, " -> ".join((*way[way.index(one) :], one))
        if one not in done:
            for used in sorted(below[one]):
                visit(used, (*way, one))
            done.add(one)

    for one in below:
        visit(one, ())


def test_one_problem_is_answered_without_lightning():
    """Its import takes longer than all else that ``encode``, ``solve`` and ``probe`` do."""
    heavy = "{'lightning', 'torchmetrics', 'scipy', 'matplotlib'}"
    code = f"import sys, lengen.solve, lengen.model_probing; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_papers_are_numbered_listed_and_known_to_the_catalogue_alone():
    """A paper is one folder: no other file imports papers, or names one."""
    words = re.compile(r"\bpapers\.|(?:import|from) papers\b|" + "|".join(rf"\b{paper.name}\b" for paper in found()))
    for path in sorted((ROOT / "reproduce").rglob("*")):
        if path.suffix in {".py", ".html"} and path.name != "catalogue.py":
            seen = words.search(path.read_text())
            assert not seen, f"{name(path)} names {seen.group()}"
    assert [paper.number for paper in found()] == list(range(1, len(found()) + 1))
    for paper in found():
        assert paper.published == ROOT / "papers" / paper.name / "published.toml" and paper.published.is_file()
        assert {item.paper for item in paper.experiments()} == {paper.name}
        assert paper.title in (ROOT / "papers" / paper.name / "README.md").read_text(encoding="utf-8")
    for paper in found():
        published = any("paper" in item.specs for item in paper.experiments())
        assert bool(paper.apart) is not published, paper.name
    loop = re.search(r"^reproduce:.*?\n\n", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL)
    assert loop and loop[0].count('$$4 == ""') == 1, "its loop leaves them out"
    done = subprocess.run([sys.executable, "-S", "-m", "papers"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = [f"{paper.number}\t{paper.name}\t{paper.title}\t{paper.apart}" for paper in found()]
    assert done.stdout.splitlines() == listed


def test_files_public_functions_and_classes_say_what_they_do():
    """Functions and classes at the top of a module of lengen; of plain specifications the fields speak."""
    texts = {name(path): path.read_text() for path in SOURCES}
    assert not [path for path, text in texts.items() if text.strip() and not ast.get_docstring(ast.parse(text))]
    silent = [
        f"{name(path)}: {node.name}"
        for path in SOURCES
        if path.is_relative_to(ROOT / "lengen")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    plain = ("lengen/settings/sections.py: ", "lengen/experiment.py: ")
    assert [entry for entry in silent if not entry.startswith(plain)] == []
    riddle = re.compile(r"\W*(what|which|whether|where|how)\b", re.IGNORECASE)
    found = [
        f"{name(path)}:{text.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        for text in node.body
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and riddle.match(str(text.value.value))
    ]
    assert found == []
