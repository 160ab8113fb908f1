// Does the jobs of bench/tables with a DuckDB database: one JSON object a line in, one out. An epoch
// orders the rows at random and fetches them chunk by chunk, without a copy to values of JavaScript.
const { DuckDBInstance } = require("@duckdb/node-api");
let instance, connection;

async function open(path) {
  instance = await DuckDBInstance.create(path);
  connection = await instance.connect();
}

function close() {
  connection.closeSync();
  instance.closeSync();
}

const rows = ({ first, rows, columns }) => "select " +
  Array.from({ length: columns }, (_, c) => `range::double + ${c}::double / 1024 as c${String(c).padStart(3, "0")}`) +
  ` from range(${first}, ${first + rows})`;

const jobs = {
  async write(job) {
    await open(job.path);
    await connection.run(`create table t as ${rows(job)}`);
    await connection.run("checkpoint");
    close();
  },
  open: (job) => open(job.path),
  batch: (job) => connection.runAndReadAll(`select * from t where rowid in (${job.wanted})`),
  async epoch() {
    const stream = await connection.stream("select * from t order by random()");
    const result = { rows: 0, sum: 0 };
    for (let chunk; (chunk = await stream.fetchChunk()) && chunk.rowCount > 0;) {
      result.rows += chunk.rowCount;
      const vector = chunk.getColumnVector(0);
      for (let i = 0; i < chunk.rowCount; i++) result.sum += vector.getItem(i);
    }
    return result;
  },
  close,
  async append(job) {
    await open(job.path);
    await connection.run(`insert into t ${rows(job)}`);
    close();
  },
};

(async () => {
  for await (const line of require("readline").createInterface({ input: process.stdin })) {
    const job = JSON.parse(line);
    const start = process.hrtime.bigint();
    let result = await jobs[job.do](job);
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    if (job.do === "batch") { // the database has its own order
      const columns = result.getColumns();
      const at = new Map(columns[0].map((row, i) => [row, i]));
      result = { columns: columns.map((v) => job.wanted.map((row) => v[at.get(row)])) };
    }
    console.log(JSON.stringify({ seconds, ...(job.do === "batch" || job.do === "epoch" ? result : {}) }));
  }
})().catch((err) => { console.error(err); process.exit(1); });
