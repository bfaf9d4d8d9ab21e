"""Checks the requests in a file against the types of the SDKs, and against rules that types cannot say.

Each line of the file is `{job, format, model, path, headers, body}`, with the body as text. `differences.tsv` beside this file has what is
intended, each with its reason.
"""

import collections
import json
import re
import sys
from pathlib import Path

import files
import rules
import shapes
import wires


def main():
    records = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    for record in records:
        record["body"] = json.loads(record["body"])
    found = [(record, *error) for record in records for error in errors(record)]
    found += [(record, "marks", what) for record, what in rules.unequal(records)]
    table = (Path(__file__).parent / "differences.tsv").read_text().splitlines()[1:]
    intended, used, left = [tuple(row.split("\t")[:2]) for row in table], set(), collections.defaultdict(list)
    for record, where, what in found:
        row = next((row for row in intended if record["model"].startswith(row[0]) and row[1] == where), None)
        if row:
            used.add(row)
        else:
            left[record["model"].split("/")[0], where, what].append(record["job"])
    for (provider, where, what), jobs in sorted(left.items()):
        cases = sorted({job.split(" ", 1)[1] for job in jobs})
        print(f"{provider}: {where}: {what}\n    models: {', '.join(sorted({job.split(' ')[0] for job in jobs}))}")
        print(f"    cases: {', '.join(cases)}")
    stale = [row for row in intended if row not in used]
    for model, where in stale:
        print(f"differences.tsv: {model} no longer sends {where}")
    tried = collections.Counter(record["format"] for record in records)
    print(", ".join(f"{count} of {name}" for name, count in sorted(tried.items())), "requests checked")
    # The requests of a test for wrong ones have no files.
    unsent = files.unsent(records) if any(" an image" in record["job"] for record in records) else []
    for name in unsent:
        print(f"{name}: no image was sent")
    sys.exit(bool(left or stale or unsent))


def errors(record):
    """Each with its place. The same at each message of a request is one thing."""
    wire = wires.WIRES[record["format"]]
    found = [*shapes.errors(record["body"], wire.type), *wires.head(wire, record)]
    found += [*rules.broken(record), *files.broken(record)]
    return {(re.sub(r"\[\d+\]", "[]", where), what) for where, what in found}


main()
