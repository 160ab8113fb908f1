package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// generate is a generator: it draws volumes into places of the cache until its input ends. It tells
// the number that it begins with, and in the end how long it has waited for room.
func generate(dir string, by int) (err error) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	c, err := samplecache.Open(ctx, dircache.Engine{Dir: dir}, samplecache.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	p, err := c.Producer(fmt.Sprintf("gen-%d", by))
	if err != nil {
		return err
	}
	fmt.Println(p.Next()) // 0, or where the one that was killed left off
	var waited time.Duration
	for ctx.Err() == nil && err == nil {
		began := time.Now()
		slot, failed := p.Reserve(ctx)
		waited += time.Since(began)
		if err = failed; err == nil {
			if err = draw(slot.Sample(), by, slot.Number()); err == nil {
				err = slot.Commit(ctx)
			}
		}
	}
	fmt.Println(waited)
	if ctx.Err() != nil {
		return nil // err says so
	}
	return err
}
