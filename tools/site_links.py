"""A hook of mkdocs (`make site`): gives the site the files beside docs/ that its pages link to.

They come below `repository/`, and links between them and the pages are written anew. So `mkdocs build`
can check every link, and the same links hold in a clone.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
BESIDE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "examples/**/*")

_TARGET = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files beside docs/."""
    for path in sorted(one for pattern in BESIDE for one in ROOT.glob(pattern) if one.is_file()):
        name = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, f"repository/{name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Point links of a page to where the site has their targets."""
    here = page.file.src_uri
    folder = posixpath.dirname(_in_clone(here))

    def moved(link: re.Match[str]) -> str:
        target = _on_site(posixpath.normpath(posixpath.join(folder, link[1])))
        found = files.get_file_from_path(target) is not None
        return posixpath.relpath(target, posixpath.dirname(here) or ".") if found else link[1]

    return _TARGET.sub(moved, markdown)


def _in_clone(name: str) -> str:
    return name.removeprefix("repository/") if name.startswith("repository/") else f"docs/{name}"


def _on_site(path: str) -> str:
    return path.removeprefix("docs/") if path.startswith("docs/") else f"repository/{path}"
