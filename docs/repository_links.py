"""A hook of the documentation: links that leave docs/ lead to files of the repository, which become part of the site.

So the same relative links work in a checkout and in the built site. Markdown becomes a page, anything else is copied;
what a linked page links to follows. A link to a folder becomes its text. The pages of the report, if they have been
written, become a part of the site and of its contents. A notebook is a page, too, with what its cells print and draw.
"""

import json
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
PLACE = "repository"
"""Folder of the site for what lies outside of docs/."""
REPORT = "results/local/report"
"""The folder of the pages of `make report`, which are ``report`` in the site."""
ASSETS = ("tables.js", "charts.js", "charts.css")
"""Files of reproduce/pages that its pages share with the site."""
ONLINE = re.compile(r"\[!\[[^]]*\]\(\.\./\.\./[^)]*\)\]\([^)]*\)\n|\[site\]\(\.\./\.\./[^)]*\),? or ")
"""What the front page shows of its repository's host: a badge, and a link to this site."""
LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)#\s:]+)(?P<after>(?:#[^)]*)?\))")


def on_config(config: "MkDocsConfig") -> "MkDocsConfig":
    """Add the report to the contents."""
    pages = sorted((ROOT / REPORT).glob("*.md"), key=lambda path: (path.stem != "index", path.stem))
    if pages and config.nav:
        config.nav.insert(1, {"Every statement with its runs": [f"report/{page.name}" for page in pages]})
    return config


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the report, and what pages link to, and what those link to, until nothing is new."""
    from mkdocs.structure.files import File

    for name in ASSETS:
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(ROOT / "reproduce" / "pages" / name)))
    for path in sorted((ROOT / REPORT).rglob("*.md")):
        uri = in_site(path.relative_to(ROOT).as_posix())
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        shown = page_of(json.loads(path.read_text(encoding="utf-8")))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=shown))
    todo = [file for file in files if file.is_documentation_page()]
    while todo:
        page = todo.pop()
        for target in linked(page.content_string, in_repository(page.src_uri)):
            uri = in_site(target)
            if files.get_file_from_path(uri) is None:
                found = File.generated(config, uri, abs_src_path=str(ROOT / target))
                files.append(found)
                todo += [found] if found.is_documentation_page() else []
    return files


def on_post_build(config: "MkDocsConfig") -> None:
    """Leave out the page of a missing address: its links are right at the root of a server alone."""
    (Path(config.site_dir) / "404.html").unlink(missing_ok=True)


def page_of(notebook: dict[str, Any]) -> str:
    """A notebook as Markdown: its text, its code, what that printed, and its pictures."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            if "text" in output:
                parts.append(f"```text\n{''.join(output['text']).rstrip()}\n```")
            else:
                parts.append(f"![what the cell draws](data:image/png;base64,{output['data']['image/png']})")
    return "\n\n".join(parts) + "\n"


def on_page_markdown(markdown: str, page: "Page", config: "MkDocsConfig", files: "Files") -> str:
    """Rewrite each link to a file of the repository to where that file is in the site."""
    folded = markdown.replace("<details>", "<details markdown>")
    return rewritten(ONLINE.sub("", folded), page.file.src_uri)


def rewritten(markdown: str, uri: str) -> str:
    """A page of the site with its links to files of the repository as they are in the site."""
    place = in_repository(uri)

    def moved(link: re.Match[str]) -> str:
        target = resolved(link["target"], place)
        if not target:
            return link.group()
        page = in_site(re.sub(r"^(docs/.*)\.ipynb$", r"\1.md", target))
        return f"{link['before']}{posixpath.relpath(page, posixpath.dirname(uri))}{link['after']}"

    def plain(link: re.Match[str]) -> str:
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(place), link[2]))
        return link[1] if (ROOT / folder).is_dir() else link.group()

    return LINK.sub(moved, re.sub(r"\[([^][]*)\]\(([^)#\s:]+)\)", plain, markdown))


def linked(markdown: str, place: str) -> list[str]:
    """Files of the repository, by their path in it, that a page at ``place`` links to."""
    return [target for link in LINK.finditer(markdown) if (target := resolved(link["target"], place))]


def resolved(link: str, place: str) -> str:
    """The path in the repository that a relative link of the page at ``place`` names; "" where there is none."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(place), link))
    return target if not target.startswith("..") and (ROOT / target).is_file() else ""


def in_repository(uri: str) -> str:
    """Path in the repository of a file of the site."""
    if uri.startswith("report/"):
        return uri.replace("report", REPORT, 1)
    return uri.removeprefix(f"{PLACE}/") if uri.startswith(f"{PLACE}/") else f"docs/{uri}"


def in_site(target: str) -> str:
    """Path in the site of a file of the repository."""
    if target.startswith(f"{REPORT}/"):
        return target.replace(REPORT, "report", 1)
    return target.removeprefix("docs/") if target.startswith("docs/") else f"{PLACE}/{target}"
