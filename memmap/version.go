package memmap

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-tensordict/tensordict/internal/workers"
)

// version opens what the directory holds, and has OnOpen make its state.
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

// open opens the directory, if it holds what is wanted, and maps all leaves. One that is replaced
// meanwhile is opened again.
func (l *Live) open() (*Dataset, error) {
	for try := 0; ; try++ {
		ds, err := openAt(l.dir, l.at, l.opt.Open)
		if err != nil {
			return nil, err
		}
		if l.opt.Like != nil {
			err = ds.fail("open", "", checkLike(l.opt.Like, ds.TensorDict))
		}
		if err == nil {
			err = ds.in.MapAll()
		}
		if err == nil {
			return ds, nil
		}
		if err = errors.Join(err, ds.Close()); !errors.Is(err, ErrReplaced) || try == 100 {
			return nil, err
		}
	}
}

// State returns what [LiveOptions.OnOpen] returned for d: nil for a Dataset that no [Live] serves.
// It must not be used after [Live.Release] of d.
func (d *Dataset) State() any { return d.state }

// retire closes a dictionary that nobody uses any more, its state first.
func retire(ds *Dataset) error {
	var failed error
	if c, ok := ds.state.(io.Closer); ok {
		if err := workers.Call(c.Close); err != nil {
			failed = ds.fail("close", "", fmt.Errorf("state: %w", err))
		}
	}
	return errors.Join(failed, ds.Close())
}

// note keeps an error of closing, if it is one, for OnError or Close. It reports whether it did:
// after Close nobody would ask for it.
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
