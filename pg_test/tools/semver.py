#!/usr/bin/env python3
"""semver.py OLD.json NEW.json: what the second public interface of a crate breaks of the first, from rustdoc's JSON.

Prints each item that is gone or has another signature, and each new variant, field or required method that callers would have to
know. Fails if there is one.
"""

import json
import sys

# Where an item's children are, and what no caller notices.
CHILDREN = {"items", "impls", "variants", "fields"}
IRRELEVANT = CHILDREN | {"id", "implementations", "expr", "is_literal"}
# In the signature of what an implementation of a trait has to bring along.
MISSING = ('"has_body": false', '"type": null', '"value": null')
UNSTABLE_TRAITS = {"Freeze", "UnsafeUnpin", "StructuralPartialEq"}


def shape(value):
    """Returns a signature without numbers of items, which differ from run to run, and without names of arguments."""
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if key not in IRRELEVANT}
        if "is_c_variadic" in kept:
            kept["inputs"] = [type for _, type in kept["inputs"]]
        return {key: shape(inner) for key, inner in kept.items()}
    if isinstance(value, list):
        # Numbers are those of fields without a name, which are items of their own.
        return [None if type(inner) is int else shape(inner) for inner in value]
    return value


class Interface:
    """Every public item by its path: its kind, its signature, and whether callers name it in full."""

    def __init__(self, file):
        with open(file, encoding="utf-8") as json_file:
            crate = json.load(json_file)
        self.index, self.items, self.walked = crate["index"], {}, set()
        self.walk(crate["root"], "")

    def walk(self, number, path, name=None):
        """Adds an item and what is in it, unless a path to it through itself was walked."""
        item = self.index.get(str(number))
        if item is None or item["visibility"] not in ("public", "default") or (number, path) in self.walked:
            return
        self.walked.add((number, path))
        (kind, inner), = item["inner"].items()
        if kind == "use":
            # An item that is exported again is found at both paths.
            if inner["id"] is not None:
                self.walk(inner["id"], path, None if inner["is_glob"] else inner["name"])
            return
        if kind == "impl":
            self.walk_impl(inner, path)
            return
        path = f"{path}::{name or item['name']}"
        non_exhaustive = any("non_exhaustive" in str(attribute) for attribute in item["attrs"])
        self.items[path] = (kind, json.dumps(shape(inner), sort_keys=True), non_exhaustive)
        for child in self.children(inner):
            self.walk(child, path)

    def walk_impl(self, inner, path):
        """Adds that a type has a trait, or the methods that it has itself."""
        if inner["blanket_impl"] is not None or inner["trait"] and inner["trait"]["path"] in UNSTABLE_TRAITS:
            return
        if inner["trait"] is None:
            for child in inner["items"]:
                self.walk(child, path)
            return
        mark = "!" if inner["is_negative"] else ""
        arguments = json.dumps(shape(inner["trait"].get("args")), sort_keys=True)
        self.items[f"{path} is {mark}{inner['trait']['path']} {arguments}"] = ("trait of a type", "", True)

    @staticmethod
    def children(inner):
        """Returns the numbers of the items in an item."""
        if not isinstance(inner, dict):
            return
        for key, value in inner.items():
            if key in CHILDREN:
                yield from (number for number in value if number is not None)
            elif key in ("kind", "plain", "struct", "tuple"):
                if isinstance(value, list):
                    yield from (number for number in value if number is not None)
                else:
                    yield from Interface.children(value)


def breaks(old, new):
    """Returns what callers of the old interface notice."""
    for path, (kind, signature, _) in old.items():
        if path not in new:
            yield f"gone: {kind} {path}"
        elif new[path][:2] != (kind, signature):
            yield f"changed: {kind} {path}"
    for path, (kind, signature, _) in new.items():
        owner = path.rpartition("::")[0]
        if path in old or owner not in old or new[owner][2]:
            continue
        is_required = new[owner][0] == "trait" and any(missing in signature for missing in MISSING)
        # Where a field is private, callers neither make nor take apart the struct.
        is_field = kind == "struct_field" and '"has_stripped_fields": true' not in new[owner][1]
        if kind == "variant" or is_field or is_required:
            yield f"added, and callers have to know it: {kind} {path}"


def main():
    old, new = (Interface(file).items for file in sys.argv[1:])
    found = sorted(breaks(old, new))
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(old)} public items before, {len(new)} now, {len(found)} breaks")
    sys.exit(1 if found else 0)


main()
