// Package peers has tests only: programs of other libraries read the files that this module writes,
// and write files that it reads. They skip without these programs:
//
//   - TENSORDICT_NODE is a directory in which "npm install @duckdb/node-api apache-arrow
//     nodejs-polars" was run. DuckDB is written in C++, polars in Rust.
//   - TENSORDICT_PYTHON is a Python, with pyarrow.
//
// All of them, and package jsonl, read and write JSON lines.
package peers
