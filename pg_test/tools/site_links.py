#!/usr/bin/env python3
"""Checks a built site: every link, anchor and picture of every page is there.

    site_links.py DIRECTORY
"""

import pathlib
import sys
import urllib.parse
from html.parser import HTMLParser


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.targets = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.ids.add(value)
            elif (tag, name) in (("a", "href"), ("img", "src"), ("link", "href"), ("script", "src")) and value:
                self.targets.append(value)


def main(site):
    site = site.resolve()
    # All but the page for printers, which has links of its own kind, and the pages of errors and contents.
    paths = [path for path in sorted(site.rglob("*.html")) if path.name not in ("print.html", "404.html", "toc.html")]
    pages = {path: Page(path) for path in paths}
    broken, count = [], 0
    for path, page in pages.items():
        for target in page.targets:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            other = path if not parts.path else (path.parent / urllib.parse.unquote(parts.path)).resolve()
            if other.is_dir():
                other = other / "index.html"
            anchor = urllib.parse.unquote(parts.fragment)
            if not other.exists():
                broken.append(f"{path.relative_to(site)} links to {target}")
            elif anchor and other in pages and anchor not in pages[other].ids:
                broken.append(f"{path.relative_to(site)} links to {target}: no such heading")
    if broken:
        sys.exit("\n".join(sorted(set(broken))))
    if len(pages) < 40 or count < 1000:
        sys.exit(f"only {len(pages)} pages and {count} links were found")
    print(f"site: {len(pages)} pages, {count} links")


main(pathlib.Path(sys.argv[1]))
