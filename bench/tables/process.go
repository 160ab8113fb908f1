package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

//go:embed peers.py
var python string

//go:embed duckdb.js
var node string

// contenders returns all contenders. end ends the processes that they need.
func contenders(ctx context.Context, c config) (all []contender, end func() error, err error) {
	all = []contender{
		{name: "dataset of this module", form: local{&dataset{}}},
		{name: "Arrow IPC, mapped", rewrites: true, form: local{rewriting{&arrowFile{}}}},
		{name: "Parquet, snappy", rewrites: true, form: local{rewriting{&parquetFile{}}}},
	}
	var started []*process
	end = func() (err error) {
		for _, p := range started {
			err = errors.Join(err, p.end())
		}
		return err
	}
	if c.Python != "" {
		p, err := begin(exec.CommandContext(ctx, c.Python, "-c", python))
		if err != nil {
			return nil, nil, err
		}
		started = append(started, p)
		all = append(all,
			contender{name: "tensordict (Python)", rewrites: true, form: remote{p, "tensordict"}},
			contender{name: "npz, not compressed", rewrites: true, form: remote{p, "npz"}},
			contender{name: "HDF5, contiguous", rewrites: true, form: remote{p, "contiguous"}},
			contender{name: "HDF5, chunks", form: remote{p, "chunks"}})
	}
	if c.node != "" {
		cmd := exec.CommandContext(ctx, "node", "-e", node)
		cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(c.node, "node_modules"))
		p, err := begin(cmd)
		if err != nil {
			return nil, nil, errors.Join(err, end())
		}
		started = append(started, p)
		all = append(all, contender{name: "DuckDB", form: remote{p, "duckdb"}})
	}
	return all, end, nil
}

// A process does jobs: one JSON object a line in, one out.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// begin starts a process.
func begin(cmd *exec.Cmd) (*process, error) {
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{cmd, in, json.NewDecoder(out)}, cmd.Start()
}

// end waits for the end of a process, which has no more jobs.
func (p *process) end() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }

// remote is a form that a process knows by name.
type remote struct {
	*process
	name string
}

func (r remote) do(_ context.Context, j job) (d done, err error) {
	j.Form = r.name
	if err := json.NewEncoder(r.in).Encode(j); err != nil {
		return d, err
	}
	if err := r.out.Decode(&d); err != nil {
		return d, fmt.Errorf("%s: %w", r.cmd.Path, err) // it has said why
	}
	return d, nil
}
