"""Converts a file with pyarrow: python peers.py FROM TO. The forms are the suffixes, as in peers.js."""

import json
import sys

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq

source, target = sys.argv[1:]

if source.endswith(".jsonl"):
    table = pa.json.read_json(source)
elif source.endswith(".parquet"):
    table = pq.read_table(source)
elif source.endswith(".arrows"):
    table = pa.ipc.open_stream(source).read_all()
else:
    table = pa.ipc.open_file(source).read_all()

if target.endswith(".jsonl"):
    with open(target, "w") as file:
        for row in table.to_pylist():
            file.write(json.dumps(row, default=str) + "\n")
elif target.endswith(".parquet"):
    pq.write_table(table, target)
else:
    stream = pa.ipc.new_stream if target.endswith(".arrows") else pa.ipc.new_file
    with stream(target, table.schema) as writer:
        writer.write_table(table)
