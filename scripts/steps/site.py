"""Adds to the documentation site what is not in docs/: the README as its first page, the changelog, the examples. Read by mkdocs (mkdocs.yml)."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"index.md": "README.md", "changelog.md": "CHANGELOG.md"}
"""Page of the site -> file of the repository."""
UNSEARCHED = {"changelog.md": "---\nsearch: {exclude: true}\n---\n"}
"""What was changed is found by reading; who searches wants what is true now."""
EXAMPLES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in ROOT.glob("examples/**/*")
    if path.is_file() and path.parent.name != "__pycache__"
)
BESIDE = {"LICENSE": "LICENSE", "icon.svg": "api/web/icon.svg", **{name: name for name in EXAMPLES}}
"""Path in the site -> file of the repository, for files that are no pages."""
UNUSED = ("404.html", "assets/javascripts/lunr", "assets/**/*.map")
"""Search in other languages, and source maps of the theme's scripts."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for page, source in PAGES.items():
        text = UNSEARCHED.get(page, "") + (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=linked(text)))
    for name, source in BESIDE.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    return linked(markdown)


def on_post_page(output: str, **_: object) -> str:
    """Removes the empty lines and the indentation that the theme's templates leave, an eighth of the site; code keeps its own."""
    parts = re.split(r"(<pre\b.*?</pre>)", output, flags=re.DOTALL)
    parts[::2] = [re.sub(r"\s*\n\s*", "\n", part) for part in parts[::2]]
    return "".join(parts)


def on_post_build(config: MkDocsConfig) -> None:
    """Removes unused files, and the two addresses from which the theme would fetch unused scripts."""
    site = Path(config.site_dir)
    for path in [path for pattern in UNUSED for path in site.glob(pattern)]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    for script in site.glob("assets/javascripts/bundle*.js"):
        code = script.read_text(encoding="utf-8")
        script.write_text(re.sub(r"https://unpkg\.com/[^\"]*", "", code), encoding="utf-8")


def linked(markdown: str) -> str:
    """Replaces links between files of the repository by links between pages of the site, which has docs/ at its root."""
    markdown = re.sub(r'(\]\(|(?:src|srcset)=")(?:docs/|\.\./(?=examples/|LICENSE))', r"\1", markdown)
    for page, source in PAGES.items():
        markdown = re.sub(rf"\]\((?:\.\./)?{source}", f"]({page}", markdown)
    return markdown
