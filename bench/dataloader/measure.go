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

	"github.com/go-tensordict/tensordict/bench/internal/contest"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A result has the times of the epochs of a contender.
type result struct {
	name    string
	ours    bool
	key     string // key in the output of epochs.py
	workers int    // workers of package loader
	how     func(ctx context.Context, src loader.Source, opt loader.Options) (rows int, err error)
	seconds contest.Times
}

// contenders returns all contenders.
func contenders(c config) []result {
	all := []result{
		{name: "loader, no workers", ours: true},
		{name: "loader, 1 worker", ours: true, workers: 1},
		{name: "loader, 2 workers", ours: true, workers: 2},
		{name: "loader into slots of shared memory", ours: true, how: intoSlots},
		{name: "feed, a consumer in Go", ours: true, how: throughFeed},
	}
	if c.Python == "" {
		return all
	}
	return append(all,
		result{name: "feed, a consumer in Python", key: "feed"},
		result{name: "torch: indexing by hand", key: "hand"},
		result{name: "DataLoader(td), no workers", key: "batches0"},
		result{name: "DataLoader(td), 2 workers", key: "batches2"},
		result{name: "DataLoader of rows, no workers", key: "rows0"},
		result{name: "DataLoader of rows, 2 workers", key: "rows2"})
}

// save saves a dictionary of rows and labels.
func save(dir string, c config) error {
	x := make([]float32, c.Rows*c.features)
	for i := range x {
		x[i] = float32(i & 1023)
	}
	values, err := tensor.From(x, c.Rows, c.features)
	if err != nil {
		return err
	}
	td, err := tdict.FromMap(shapeops.Shape{c.Rows}, tdict.Entries{
		"x": values, "y": tensor.Vector(make([]int64, c.Rows)...),
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
	for round := range c.Rounds + 1 {
		torch, err := torchTimes(ctx, c, ds, dir, uint64(round))
		if err != nil {
			return nil, err
		}
		for i := range all {
			r := &all[i]
			seconds := torch[r.key]
			if r.ours {
				if seconds, err = epoch(ctx, ds, c, *r, uint64(round)); err != nil {
					return nil, err
				}
			}
			if round > 0 { // round 0 only warms up: it touches every page
				r.seconds = append(r.seconds, seconds)
			}
		}
	}
	return all, nil
}

// epoch returns how long a shuffled epoch of a contender of this module takes, in seconds.
func epoch(ctx context.Context, ds *memmap.Dataset, c config, r result, seed uint64) (float64, error) {
	src, err := loader.FromDataset(ds)
	if err != nil {
		return 0, err
	}
	how := r.how
	if how == nil {
		how = plainly
	}
	start := time.Now()
	opt := loader.Options{Batch: c.Batch, Sampler: sampler.Random(), Seed: seed, Workers: r.workers}
	rows, err := how(ctx, src, opt)
	if err == nil && rows != c.Rows {
		err = fmt.Errorf("got %d rows, want %d", rows, c.Rows)
	}
	return time.Since(start).Seconds(), err
}

// plainly loads an epoch.
func plainly(ctx context.Context, src loader.Source, opt loader.Options) (rows int, err error) {
	l, err := loader.New(src, opt)
	if err != nil {
		return 0, err
	}
	for batch, err := range l.Batches(ctx) {
		if err != nil {
			return 0, err
		}
		rows += batch.Shape()[0]
	}
	return rows, nil
}

//go:embed epochs.py
var script []byte

// torchTimes returns the seconds that epochs.py prints, if there is a Python.
func torchTimes(ctx context.Context, c config, ds *memmap.Dataset, dir string, seed uint64) (seconds map[string]float64, err error) {
	if c.Python == "" {
		return nil, nil
	}
	file := filepath.Join(filepath.Dir(dir), "epochs.py")
	if err := os.WriteFile(file, script, 0o600); err != nil {
		return nil, err
	}
	src, err := loader.FromDataset(ds)
	if err != nil {
		return nil, err
	}
	socket, end, err := serve(ctx, src, loader.Options{Batch: c.Batch, Sampler: sampler.Random(), Seed: seed})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	cmd := exec.CommandContext(ctx, c.Python, file, dir, strconv.Itoa(c.Batch), socket)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+c.pkg)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", cmd, err)
	}
	return seconds, json.Unmarshal(text, &seconds)
}
