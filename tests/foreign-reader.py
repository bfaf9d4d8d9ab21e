"""Asks other programs what they find in the rows of a flow.

    foreign-reader.py {jsonl|csv|parquet|typed} PATH FOLDER

Says on a line for each reader that is installed, as JSON, what it found: how many rows there are, how many
characters the longest `user` has, at how many steps `topics` has no value, which bytes of UTF-8 `user` is
at step 1, and what is skipped there. Each reader writes the rows into FOLDER again, in a file that has its name and
the ending of PATH. Of a `typed` Parquet file it says the sums of the columns `stars` and `score`, and how often `good` is true.
"""

import csv
import json
import sys


def python(path, out):
    if path.endswith("csv"):
        return python_csv(path, out)
    with open(path, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    with open(out, "w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)
    return (
        len(rows),
        max(len(row["user"]) for row in rows),
        sum(row["topics"] is None for row in rows),
        rows[1]["user"],
        rows[1]["_skipped"],
    )


def python_csv(path, out):
    with open(path, encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    with open(out, "w", encoding="utf-8", newline="") as lines:
        again = csv.DictWriter(lines, rows[0].keys())
        again.writeheader()
        again.writerows(rows)
    no_topics = [row["topics"] == "" and "topics" not in row["_empty"].split() for row in rows]
    longest = max(len(row["user"]) for row in rows)
    return len(rows), longest, sum(no_topics), rows[1]["user"], rows[1]["_skipped"].split()


def duckdb(path, out):
    import duckdb

    rows = "read_json(?, format='newline_delimited')" if path.endswith("jsonl") else "read_parquet(?)"
    how = "json" if path.endswith("jsonl") else "parquet"
    ask = duckdb.connect().execute
    ask(f"CREATE TABLE rows AS SELECT * FROM {rows}", [path])
    ask(f"COPY (SELECT * FROM rows ORDER BY _step) TO '{out}' (FORMAT {how})")
    query = 'SELECT count(*), max(length("user")), count(*) FILTER (topics IS NULL) FROM rows'
    found = ask(query).fetchone()
    return found + ask('SELECT "user", _skipped FROM rows WHERE _step = 1').fetchone()


def polars(path, out):
    import polars

    lines = path.endswith("jsonl")
    rows = polars.read_ndjson(path, infer_schema_length=None) if lines else polars.read_parquet(path)
    rows.write_ndjson(out) if lines else rows.write_parquet(out, compression="snappy")
    second = rows.filter(polars.col("_step") == 1).row(0, named=True)
    longest = rows["user"].str.len_chars().max()
    return rows.height, longest, rows["topics"].null_count(), second["user"], second["_skipped"]


def pandas(path, out):
    import pandas

    if path.endswith("jsonl"):
        rows = pandas.read_json(path, lines=True, dtype=False, convert_dates=False)
        rows.to_json(out, orient="records", lines=True)
    else:
        rows = pandas.read_parquet(path)
        rows.to_parquet(out, index=False)
    second = rows[rows["_step"] == 1].iloc[0]
    longest = int(rows["user"].str.len().max())
    return len(rows), longest, int(rows["topics"].isna().sum()), second["user"], list(second["_skipped"])


def typed(path, folder):
    try:
        import duckdb

        rows = duckdb.connect().execute(
            "SELECT sum(stars), sum(score), count(*) FILTER (good), count(_json) FROM read_parquet(?)", [path]
        )
        stars, score, good, texts = rows.fetchone()
        duckdb.connect().execute(
            f"COPY (SELECT * FROM '{path}' ORDER BY _step) TO '{folder}/duckdb.parquet' (FORMAT parquet)"
        )
        yield "duckdb", int(stars), score, good, texts
    except ImportError:
        pass
    try:
        import pandas

        rows = pandas.read_parquet(path)
        rows.to_parquet(f"{folder}/pandas.parquet", index=False)
        stars, score, good = (rows[column].sum() for column in ["stars", "score", "good"])
        yield "pandas", int(stars), float(score), int(good), int(rows["_json"].count())
    except ImportError:
        pass


def main(ending, path, folder):
    if ending == "typed":
        for reader, stars, score, good, texts in typed(path, folder):
            print(json.dumps({"reader": reader, "stars": stars, "score": score, "good": good, "texts": texts}))
        return
    readers = {"jsonl": [python, duckdb, polars, pandas], "csv": [python], "parquet": [duckdb, polars, pandas]}
    for reader in readers[ending]:
        try:
            rows, longest, empty, user, skipped = reader(path, f"{folder}/{reader.__name__}.{ending}")
        except ImportError:
            continue
        found = {"rows": rows, "longest": longest, "empty": empty}
        found |= {"user": list(user.encode()), "skipped": skipped, "reader": reader.__name__}
        print(json.dumps(found))


main(*sys.argv[1:])
