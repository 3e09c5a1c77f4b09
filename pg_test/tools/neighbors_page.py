#!/usr/bin/env python3
"""neighbors_page.py ROWS [PAGE]: prints the table of what stands beside pg_mint, or puts it into the page.

ROWS is the folder into which tests write a file for each neighbor that they ran: name, version of PostgreSQL, version,
what was run, result. A neighbor that ran on no PostgreSQL has a row that says why.
"""
import pathlib
import sys

ORDER = [
    "Citus", "TimescaleDB", "pg_partman 4", "pg_partman 5", "pg_cron", "PgBouncer", "pgBackRest", "pg_repack", "pglogical",
    "pgloader", "pg_stat_statements", "auto_explain", "pgaudit", "pg_hint_plan", "hypopg", "PostGIS", "pgvector", "pg_tle",
]
HEAD = ["Neighbor", "Version", "PostgreSQL", "What was run", "Result"]
BEGIN, END = "<!-- made by make neighbors -->\n", "<!-- end -->\n"


def read(folder):
    rows = {}
    for file in sorted(pathlib.Path(folder).glob("*.tsv")):
        name, postgres, version, what, result = file.read_text().rstrip("\n").split("\t")
        rows.setdefault(name, []).append((version, postgres, what, result))
    return rows


def table(rows):
    lines = [HEAD, ["---"] * len(HEAD)]
    for name in ORDER + sorted(set(rows) - set(ORDER)):
        found = rows.get(name, [("-", "-", "not among the tests that were run", "not run")])
        ran = [row for row in found if row[3] != "not run"]
        # Which PostgreSQL it was not run on matters for none that ran.
        for version, postgres, what, result in ran or [("-", "-", found[0][2], "not run")]:
            lines.append([name, version, postgres, what, result])
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def main():
    text = table(read(sys.argv[1]))
    if len(sys.argv) < 3:
        print(text, end="")
        return
    page = pathlib.Path(sys.argv[2])
    before, rest = page.read_text().split(BEGIN)
    page.write_text(before + BEGIN + "\n" + text + "\n" + END + rest.split(END)[1])


main()
