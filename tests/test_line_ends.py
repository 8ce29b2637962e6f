"""Files are the same bytes in every clone, whatever git does with line ends on that system."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no checkout of git")
    return git(ROOT, "ls-files", "-z").split("\0")[:-1]


def test_a_clone_that_converts_line_ends_has_the_same_bytes(tracked, tmp_path):
    """The smallest file of every kind, within the results and outside of them."""
    smallest: dict[tuple[bool, str], Path] = {}
    for path in map(Path, tracked):
        if (ROOT / path).is_file():
            kind = (path.parts[0] == "results", path.suffix or path.name)
            smallest[kind] = min(path, smallest.get(kind, path), key=lambda one: (ROOT / one).stat().st_size)
    source = tmp_path / "source"
    for path in {Path(".gitattributes"), *smallest.values()}:
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, source / path)
    (source / "results" / "mixed.csv").write_bytes(b"a\r\nb\n")
    git(source, "init", "-q")
    git(source, "add", "--force", ".")
    git(source, "commit", "-qm", "one of each")
    git(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", "-c", "core.eol=crlf", str(source), "clone")
    different = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and ".git" not in path.parts
        if path.read_bytes() != (tmp_path / "clone" / path.relative_to(source)).read_bytes()
    ]
    assert len(smallest) > 20 and different == []


def test_no_text_is_committed_with_line_ends_of_windows(tracked):
    wrong = [line for line in git(ROOT, "ls-files", "--eol").splitlines() if line.startswith(("i/crlf", "i/mixed"))]
    assert wrong == []
