"""Does the jobs of bench/tables: one JSON object a line in, one out."""

import json
import os
import shutil
import sys
import time

import h5py
import numpy as np
import torch
from tensordict import TensorDict


class Memmap:
    """A directory of tensordict, whose leaves have fixed sizes."""

    def write(self, path, table):
        self.save(path, self.dict(table))

    def dict(self, table):
        table = {k: torch.from_numpy(v) for k, v in table.items()}
        return TensorDict(table, [len(table["c000"])])

    def save(self, path, td):
        td.memmap(path, copy_existing=True)

    def open(self, path):
        self.td = TensorDict.load_memmap(path)

    def batch(self, rows):
        return self.td[torch.from_numpy(rows)]

    def epoch(self, batch):
        for rows in torch.randperm(len(self.td)).split(batch):
            yield self.td[rows]

    def close(self):
        self.td = None

    def append(self, path, table):
        td = torch.cat([TensorDict.load_memmap(path), self.dict(table)])
        self.save(path + ".new", td)
        shutil.rmtree(path)
        os.rename(path + ".new", path)


class File:
    """A file, whose columns an epoch first reads into memory."""

    def epoch(self, batch):
        table = self.all()
        order = np.random.permutation(len(table["c000"]))
        for first in range(0, len(order), batch):
            rows = order[first:first + batch]
            yield {k: v[rows] for k, v in table.items()}

    def all(self):
        return {k: v[()] for k, v in self.file.items()}

    def close(self):
        self.file.close()

    def append(self, path, table):
        self.open(path)
        table = {k: np.concatenate([v, table[k]]) for k, v in self.all().items()}
        self.close()
        self.write(path + ".new", table)
        os.replace(path + ".new", path)


class Npz(File):
    """An archive of NumPy: it is not mapped, so whoever wants a row reads its whole column."""

    def write(self, path, table):
        with open(path, "wb") as f:
            np.savez(f, **table)

    def open(self, path):
        self.file = np.load(path)

    def batch(self, rows):
        return {k: v[rows] for k, v in self.file.items()}


class Contiguous(File):
    """A file of HDF5. It is faster to read whole columns of this size than picked rows."""

    shape = None

    def write(self, path, table):
        with h5py.File(path, "w") as f:
            for k, v in table.items():
                f.create_dataset(k, data=v, maxshape=self.shape)

    def open(self, path):
        self.file = h5py.File(path, "r")

    def batch(self, rows):
        return {k: v[()][rows] for k, v in self.file.items()}


class Chunks(Contiguous):
    """A file of HDF5 that can grow, with the chunks that h5py chooses. Rows must increase."""

    shape = (None,)

    def batch(self, rows):
        order = np.argsort(rows)
        back, rows = np.argsort(order), rows[order]
        return {k: v[rows][back] for k, v in self.file.items()}

    def append(self, path, table):
        with h5py.File(path, "r+") as f:
            for k, v in table.items():
                f[k].resize(len(f[k]) + len(v), 0)
                f[k][-len(v):] = v


def do(form, job):
    """Returns the result of a job, with its seconds."""
    if job["do"] in ("write", "append"):
        rows = np.arange(job["first"], job["first"] + job["rows"], dtype=np.float64)
        table = {f"c{c:03}": rows + c / 1024 for c in range(job["columns"])}
    elif job["do"] == "batch":
        wanted = np.array(job["wanted"])
    result = {}
    start = time.perf_counter()
    match job["do"]:
        case "write":
            form.write(job["path"], table)
        case "open":
            form.open(job["path"])
        case "batch":
            batch = form.batch(wanted)
        case "epoch":
            total, count = 0.0, 0
            for batch in form.epoch(job["batch"]):
                total += float(batch["c000"].sum())
                count += len(batch["c000"])
            result = {"rows": count, "sum": total}
        case "close":
            form.close()
        case "append":
            form.append(job["path"], table)
    result["seconds"] = time.perf_counter() - start
    if job["do"] == "batch":
        result["columns"] = [batch[k].tolist() for k in sorted(batch.keys())]
    return result


forms = {"tensordict": Memmap(), "npz": Npz(), "contiguous": Contiguous(), "chunks": Chunks()}
for line in sys.stdin:
    job = json.loads(line)
    print(json.dumps(do(forms[job["form"]], job)), flush=True)
