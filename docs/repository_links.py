"""A hook of the documentation: links that leave docs/ lead to files of the repository, which become part of the site.

So the same relative links work in a checkout and in the built site. Markdown becomes a page, anything else is copied;
what a linked page links to follows. A link to a folder stays as it is. The report, if it has been built, becomes a part
of the site and of its contents.
"""

import posixpath
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
PLACE = "repository"
"""Folder of the site for what lies outside of docs/."""
REPORT = ROOT / "results" / "local" / "report"
"""The report of `make report`."""
HOME = '<a class="skip" href="#content">To the content</a>\n<nav><a href="../index.html">Documentation</a></nav>'
"""Its first lines in the site, which lead back."""
ONLINE = re.compile(r"\[!\[[^]]*\]\(\.\./\.\./[^)]*\)\]\([^)]*\)\n|\[site\]\(\.\./\.\./[^)]*\), or ")
"""What the front page shows of its repository's host: a badge, and a link to this site."""
LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)#\s:]+)(?P<after>(?:#[^)]*)?\))")


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add what pages link to, and what those link to, until nothing is new."""
    from mkdocs.structure.files import File

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


def on_page_markdown(markdown: str, page: "Page", config: "MkDocsConfig", files: "Files") -> str:
    """Rewrite each link to a file of the repository to where that file is in the site."""
    return rewritten(ONLINE.sub("", markdown), page.file.src_uri)


def on_nav(nav: "Navigation", config: "MkDocsConfig", files: "Files") -> "Navigation":
    """Add the report to the contents."""
    from mkdocs.structure.nav import Link

    if (REPORT / "index.html").is_file():
        nav.items.insert(1, Link("Every statement with its runs", "report/index.html"))
    return nav


def on_post_build(config: "MkDocsConfig") -> None:
    """Copy the report into the site; its index leads back to the documentation."""
    if (REPORT / "index.html").is_file():
        place = Path(config.site_dir) / "report"
        shutil.copytree(REPORT, place, dirs_exist_ok=True)
        index = place / "index.html"
        text = index.read_text(encoding="utf-8").replace(HOME.partition("\n")[0], HOME, 1)
        index.write_text(text, encoding="utf-8")


def rewritten(markdown: str, uri: str) -> str:
    """A page of the site with its links to files of the repository as they are in the site."""
    place = in_repository(uri)

    def moved(link: re.Match[str]) -> str:
        target = resolved(link["target"], place)
        if not target:
            return link.group()
        return f"{link['before']}{posixpath.relpath(in_site(target), posixpath.dirname(uri))}{link['after']}"

    return LINK.sub(moved, markdown)


def linked(markdown: str, place: str) -> list[str]:
    """Files of the repository, by their path in it, that a page at ``place`` links to."""
    return [target for link in LINK.finditer(markdown) if (target := resolved(link["target"], place))]


def resolved(link: str, place: str) -> str:
    """The path in the repository that a relative link of the page at ``place`` names; "" where there is none."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(place), link))
    return target if not target.startswith("..") and (ROOT / target).is_file() else ""


def in_repository(uri: str) -> str:
    """Path in the repository of a file of the site."""
    return uri.removeprefix(f"{PLACE}/") if uri.startswith(f"{PLACE}/") else f"docs/{uri}"


def in_site(target: str) -> str:
    """Path in the site of a file of the repository."""
    return target.removeprefix("docs/") if target.startswith("docs/") else f"{PLACE}/{target}"
