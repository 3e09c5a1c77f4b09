#!/usr/bin/env python3
"""Writes the documents for language models into a built site, from docs/SUMMARY.md and the pages that it lists.

    llms.py SITE

llms.txt lists each page with its first sentence, in the form of llmstxt.org, and llms-full.txt has the text of all pages.
"""

import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
LONGEST = 500


def paragraph(page):
    """Returns the first paragraph below the headings as one line, without links."""
    title, *rest = page.read_text().split("\n\n")
    texts = [text for text in rest if not text.startswith("#")]
    if not title.startswith("# ") or not texts or not re.match(r"[A-Za-z`*\[]", texts[0]):
        sys.exit(f"llms: {page.relative_to(REPOSITORY)} does not begin with a title and a sentence")
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(texts[0].split()))


def sentence(page):
    """Returns the first sentence of a page, which says what it is for."""
    first = re.split(r"(?<=[a-z0-9)`*]\.) (?=[A-Z`])", paragraph(page))[0].rstrip(".:")
    if len(first) > LONGEST:
        sys.exit(f"llms: the first sentence of {page.relative_to(REPOSITORY)} has {len(first)} characters")
    return first


def address(target):
    """Returns where the site has a page that docs/SUMMARY.md lists, from its root."""
    path = target.removeprefix("../").replace("CHANGELOG.md", "changelog.md")
    return re.sub(r"(^|/)README\.md$", r"\1index.md", path).removesuffix(".md") + ".html"


def main(site):
    short = [f"# pg_mint\n\n> {paragraph(REPOSITORY / 'README.md')}\n"]
    full = []
    for line in (DOCS / "SUMMARY.md").read_text().splitlines()[1:]:
        heading = re.match(r"# (.*)", line)
        link = re.match(r"\s*(?:- )?\[(.+)\]\((.+)\)$", line)
        if heading:
            short.append(f"\n## {heading.group(1)}\n")
        elif link:
            title, target = link.groups()
            page = (DOCS / target).resolve()
            if not (site / address(target)).exists():
                sys.exit(f"llms: the site lacks {address(target)}")
            if page != REPOSITORY / "README.md":
                short.append(f"- [{title}]({address(target)}): {sentence(page)}")
            full.append(f"<!-- {address(target)} -->\n\n{page.read_text()}")
    (site / "llms.txt").write_text("\n".join(short) + "\n")
    (site / "llms-full.txt").write_text("\n".join(full))
    if len(full) < 40:
        sys.exit(f"llms: only {len(full)} pages were found")
    print(f"llms: {len(full)} pages")


main(pathlib.Path(sys.argv[1]))
