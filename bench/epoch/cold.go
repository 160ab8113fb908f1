package main

import (
	"context"
	"errors"
	"time"

	"github.com/go-tensordict/tensordict/loader"
)

// measureCold measures tables in mapped files that are evicted before each epoch.
func measureCold(ctx context.Context, c config, f files) ([]result, error) {
	all, err := coldContenders(c, f)
	if err != nil {
		return nil, err
	}
	var results []result
	for _, one := range all {
		r, err := one.measureEvicted(ctx, f.of(one.table), c.reps)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// coldContenders returns contenders with closed tables, since a mapped file cannot be evicted.
func coldContenders(c config, f files) ([]contender, error) {
	both, err := f.open()
	if err != nil {
		return nil, err
	}
	all, err := contenders(cold, &both.dense.table, &both.ragged.table, c)
	for i := range all {
		all[i] = all[i].fromDisk()
	}
	return all, errors.Join(err, both.close())
}

// measureEvicted measures first epochs of a contender, and plain reads of the files.
func (c contender) measureEvicted(ctx context.Context, dir string, reps int) (result, error) {
	var s sample
	for range reps {
		if err := evict(dir); err != nil {
			return result{}, err
		}
		start := time.Now()
		if err := readAll(dir); err != nil {
			return result{}, err
		}
		s.peers = append(s.peers, time.Since(start))
		if err := c.addEvicted(ctx, dir, &s); err != nil {
			return result{}, err
		}
	}
	return s.result(c), nil
}

// addEvicted evicts a directory, opens it and measures an epoch.
func (c contender) addEvicted(ctx context.Context, dir string, s *sample) (err error) {
	if err := evict(dir); err != nil {
		return err
	}
	t, err := open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.ds.Close()) }()
	l, err := loader.New(t.source, c.opt)
	if err != nil {
		return err
	}
	return s.add(ctx, l, c)
}
