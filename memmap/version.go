package memmap

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-tensordict/tensordict/internal/workers"
)

// version opens the version in the directory, and calls OnOpen.
func (l *Live) version() (*Dataset, error) {
	ds, err := l.open()
	if err != nil || l.opt.OnOpen == nil {
		return ds, err
	}
	var state any
	err = workers.Call(func() (err error) { state, err = l.opt.OnOpen(ds); return err })
	if err != nil {
		return nil, errors.Join(fileError("open", l.dir, "", fmt.Errorf("OnOpen: %w", err)), ds.Close())
	}
	ds.state = state
	return ds, nil
}

// open opens the directory, and maps all leaves unless LiveOptions.Lazy is set. If the directory is
// replaced meanwhile, open tries again.
func (l *Live) open() (*Dataset, error) {
	for try := 0; ; try++ {
		ds, err := openAt(l.dir, l.at, l.opt.Open)
		if err != nil || l.opt.Lazy {
			return ds, err
		}
		if err = ds.in.MapAll(); err == nil {
			return ds, nil
		}
		if err = errors.Join(err, ds.Close()); !errors.Is(err, ErrReplaced) || try == 100 {
			return nil, err
		}
	}
}

// State returns the result of [LiveOptions.OnOpen] for d, or nil if no [Live] serves d. It must not
// be used after [Live.Release] of d.
func (d *Dataset) State() any { return d.state }

// retire closes a dictionary that nobody uses any more, after its state.
func retire(ds *Dataset) error {
	var failed error
	if c, ok := ds.state.(io.Closer); ok {
		if err := workers.Call(c.Close); err != nil {
			failed = ds.fail("close", "", fmt.Errorf("state: %w", err))
		}
	}
	return errors.Join(failed, ds.Close())
}

// note keeps an error of closing for OnError or Close. It reports whether it did: a nil error, or
// one after Close, is not kept.
func (l *Live) note(err error) bool {
	if err == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.unclosed = append(l.unclosed, err)
	l.ring()
	return true
}
