// Converts a file: node peers.js LIBRARY FROM TO. The forms are the suffixes: .jsonl, .arrow,
// .arrows (a stream) and .parquet.
const fs = require("fs");
const [library, from, to] = process.argv.slice(2);
const is = (path, form) => path.endsWith("." + form);

const convert = {
  async duckdb() {
    const { DuckDBInstance } = require("@duckdb/node-api");
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const rows = is(from, "jsonl") ? `read_json('${from}', format='newline_delimited')` : `read_parquet('${from}')`;
    // Numbers of both signs become integers of 128 bits, which Parquet does not have.
    const columns = (await connection.runAndReadAll(`describe select * from ${rows}`)).getRows()
      .map(([name, type]) => `"${name}"::${type.replaceAll("HUGEINT", "BIGINT")} as "${name}"`);
    await connection.run(`copy (select ${columns} from ${rows}) to '${to}' (format ${is(to, "jsonl") ? "json" : "parquet"})`);
  },
  async polars() {
    const pl = require("nodejs-polars");
    const bytes = fs.readFileSync(from);
    const table = is(from, "jsonl") ? pl.readJSON(bytes, { format: "lines", inferSchemaLength: 100000 })
      : is(from, "parquet") ? pl.readParquet(bytes) : pl.readIPC(bytes);
    if (is(to, "jsonl")) table.writeJSON(to, { format: "lines" });
    else if (is(to, "parquet")) table.writeParquet(to, { compression: "zstd" });
    else table.writeIPC(to, { compression: /lz4|zstd/.exec(to)?.[0] ?? "uncompressed" });
  },
  async arrow() {
    const { tableFromIPC, DataType } = require("apache-arrow");
    const table = tableFromIPC(fs.readFileSync(from));
    const dates = new Set(table.schema.fields.filter((field) => DataType.isDate(field.type)).map((field) => field.name));
    const spelled = (key, v) => (typeof v === "bigint" ? Number(v) : dates.has(key) && v !== null ? new Date(v).toISOString().slice(0, 10) : v);
    fs.writeFileSync(to, table.toArray().map((row) => JSON.stringify(row, spelled) + "\n").join(""));
  },
};

convert[library]().catch((err) => { console.error(err); process.exit(1); });
