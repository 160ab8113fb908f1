package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
)

// slots is the number of batches that are made ahead.
const slots = 4

// intoSlots loads an epoch into datasets of shared memory, as a feed does, which nobody reads.
func intoSlots(ctx context.Context, src loader.Source, opt loader.Options) (rows int, err error) {
	dir, err := os.MkdirTemp(shared(), "dataloader-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	first, err := src.Fetch(ctx, make([]int, opt.Batch), nil)
	if err != nil {
		return 0, err
	}
	ring := make(chan *tdict.TensorDict, slots)
	for i := range slots {
		ds, err := memmap.Create(filepath.Join(dir, string(rune('0'+i))), first, memmap.CreateOptions{NoSums: true, NoSync: true})
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, ds.Close()) }()
		ring <- ds.TensorDict
	}
	opt.Into = func(context.Context) (*tdict.TensorDict, error) {
		next := <-ring
		ring <- next
		return next, nil
	}
	return plainly(ctx, src, opt)
}

// shared returns a directory in memory, or "".
func shared() string {
	if _, err := os.Stat("/dev/shm"); err != nil {
		return ""
	}
	return "/dev/shm"
}

// serve begins a feed. end ends it.
func serve(ctx context.Context, src loader.Source, opt loader.Options) (socket string, end func() error, err error) {
	dir, err := os.MkdirTemp("", "dataloader-")
	if err != nil {
		return "", nil, err
	}
	socket = filepath.Join(dir, "socket")
	f, err := feed.Listen(socket, src, feed.Options{Loader: opt, Slots: slots})
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	done := make(chan error, 1)
	go func() { done <- f.Serve(ctx) }()
	return socket, func() error { return errors.Join(f.Close(), <-done, os.RemoveAll(dir)) }, nil
}

// throughFeed consumes an epoch of a feed.
func throughFeed(ctx context.Context, src loader.Source, opt loader.Options) (rows int, err error) {
	socket, end, err := serve(ctx, src, opt)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, end()) }()
	c, err := feed.Dial(ctx, socket, feed.DialOptions{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for batch, err := range c.Batches(ctx) {
		if err != nil {
			return 0, err
		}
		rows += batch.Shape()[0]
	}
	return rows, nil
}
