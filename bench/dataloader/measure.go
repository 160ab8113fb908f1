package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A result is the least time of an epoch of a contender.
type result struct {
	name    string
	ours    bool
	key     string // key in the output of epochs.py
	workers int    // workers of package loader
	seconds float64
}

// contenders returns all contenders.
func contenders(c config) []result {
	all := []result{
		{name: "loader, no workers", ours: true},
		{name: "loader, 1 worker", ours: true, workers: 1},
		{name: "loader, 2 workers", ours: true, workers: 2},
	}
	if c.python == "" {
		return all
	}
	return append(all,
		result{name: "torch: indexing by hand", key: "hand"},
		result{name: "DataLoader(td), no workers", key: "batches0"},
		result{name: "DataLoader(td), 2 workers", key: "batches2"},
		result{name: "DataLoader of rows, no workers", key: "rows0"},
		result{name: "DataLoader of rows, 2 workers", key: "rows2"})
}

// save saves a dictionary of rows and labels.
func save(dir string, c config) error {
	x := make([]float32, c.rows*c.features)
	for i := range x {
		x[i] = float32(i & 1023)
	}
	values, err := tensor.From(x, c.rows, c.features)
	if err != nil {
		return err
	}
	td, err := tdict.FromMap(shapeops.Shape{c.rows}, tdict.Entries{
		"x": values, "y": tensor.Vector(make([]int64, c.rows)...),
	})
	if err != nil {
		return err
	}
	return memmap.Save(dir, td)
}

// measure measures all contenders in turn, round by round.
func measure(ctx context.Context, c config, dir string) (all []result, err error) {
	ds, err := memmap.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ds.Close()) }()
	all = contenders(c)
	for round := range c.rounds + 1 {
		torch, err := torchTimes(ctx, c, dir)
		if err != nil {
			return nil, err
		}
		for i := range all {
			r := &all[i]
			seconds := torch[r.key]
			if r.ours {
				if seconds, err = epoch(ctx, ds, c, r.workers, uint64(round)); err != nil {
					return nil, err
				}
			}
			if round == 1 || seconds < r.seconds { // round 0 only warms up: it touches every page
				r.seconds = seconds
			}
		}
	}
	return all, nil
}

// epoch returns how long a shuffled epoch of package loader takes, in seconds.
func epoch(ctx context.Context, ds *memmap.Dataset, c config, workers int, seed uint64) (float64, error) {
	src, err := loader.FromDataset(ds)
	if err != nil {
		return 0, err
	}
	start, rows := time.Now(), 0
	l, err := loader.New(src, loader.Options{Batch: c.batch, Sampler: sampler.Random(), Seed: seed, Workers: workers})
	if err != nil {
		return 0, err
	}
	for batch, err := range l.Batches(ctx) {
		if err != nil {
			return 0, err
		}
		rows += batch.Shape()[0]
	}
	if rows != c.rows {
		return 0, fmt.Errorf("got %d rows, want %d", rows, c.rows)
	}
	return time.Since(start).Seconds(), nil
}

//go:embed epochs.py
var script []byte

// torchTimes returns the seconds that epochs.py prints, if there is a Python.
func torchTimes(ctx context.Context, c config, dir string) (seconds map[string]float64, err error) {
	if c.python == "" {
		return nil, nil
	}
	file := filepath.Join(filepath.Dir(dir), "epochs.py")
	if err := os.WriteFile(file, script, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, c.python, file, dir, strconv.Itoa(c.batch))
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", cmd, err)
	}
	return seconds, json.Unmarshal(text, &seconds)
}
