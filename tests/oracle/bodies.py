"""Checks the requests in a file against the types of the SDKs, and against rules that types cannot say.

Each line of the file is `{job, format, model, path, headers, body}`. `differences.tsv` beside this file has what is
intended, each with its reason.
"""

import collections
import json
import sys
from pathlib import Path

import rules
import shapes
import wires


def main():
    records = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    table = (Path(__file__).parent / "differences.tsv").read_text().splitlines()[1:]
    intended = [row.split("\t")[:2] for row in table]
    found, used, tried = collections.defaultdict(list), set(), collections.Counter()
    for record in records:
        wire = wires.WIRES[record["format"]]
        tried[record["format"]] += 1
        wrong = shapes.errors(record["body"], wire.type) + list(wires.head(wire, record)) + list(rules.broken(record))
        for where, what in wrong:
            # The same at each message of a request is one thing.
            where = "[…]".join(part.split("]")[-1] for part in where.split("["))
            row = next((row for row in intended if record["model"].startswith(row[0]) and row[1] == where), None)
            used.add(tuple(row)) if row else found[record["model"].split("/")[0], where, what].append(record["job"])
    print(", ".join(f"{count} of {name}" for name, count in sorted(tried.items())), "requests checked")
    stale = [row for row in intended if tuple(row) not in used]
    for (provider, where, what), jobs in sorted(found.items()):
        print(f"{provider}: {where}: {what}\n    {len(jobs)} requests, as {jobs[0]}")
        print("    models:", ", ".join(sorted({job.split(" ")[0] for job in jobs})))
    for model, where in stale:
        print(f"differences.tsv: {model} no longer sends {where}")
    sys.exit(bool(found or stale))


main()
