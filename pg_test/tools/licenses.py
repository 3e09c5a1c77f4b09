#!/usr/bin/env python3
"""licenses.py: finds crates of the library whose license is not on the CNCF's allowlist."""
import json
import re
import subprocess
import sys

# The allowlist as of 2024, and PostgreSQL's own license, which is that of this project. Unicode's has an exception of the CNCF.
ALLOWED = set("""0BSD Apache-2.0 BSD-2-Clause BSD-2-Clause-FreeBSD BSD-3-Clause ISC MIT MIT-0 PostgreSQL Python-2.0 PSF-2.0 Unicode-3.0
    Unicode-DFS-2016 UPL-1.0 X11 Zlib""".split())


def allowed(expression):
    """Returns whether one choice of a license expression has allowed licenses alone."""
    expression = expression.replace("/", " OR ")
    expression = re.sub(r"\(([^()]*)\)", lambda inner: "MIT" if allowed(inner[1]) else "none", expression)
    return any(all(one.strip() in ALLOWED for one in choice.split(" AND ")) for choice in expression.split(" OR "))


metadata = json.loads(subprocess.check_output(["cargo", "metadata", "--format-version", "1", "--locked"]))
nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
left = [package["id"] for package in metadata["packages"] if package["name"] == "pg_mint"]
shipped = set()
while left:
    one = left.pop()
    if one not in shipped:
        shipped.add(one)
        kinds = [(other["pkg"], kind["kind"]) for other in nodes[one]["deps"] for kind in other["dep_kinds"]]
        left += [package for package, kind in kinds if kind is None]
found = [
    f"{package['name']} {package['version']}: {package['license']}"
    for package in metadata["packages"]
    if package["id"] in shipped and not allowed(package["license"] or "none")
]
if found or len(shipped) < 20:
    sys.exit("\n".join(found or ["cargo lists hardly any crate"]))
print(f"licenses: {len(shipped)} crates, all allowed")
