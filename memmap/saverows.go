package memmap

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
)

// SaveRows saves the rows of all chunks, one after the other, as one dictionary. The dictionary may
// be larger than memory. The chunks can come from loader.Batches, tdict.IterChunks, a reader of
// tables, or any other iterator.
//
//	chunk [n R...], leaf [n R... F...], ragged [n R... * F...] -> dictionary [N R...], N = sum(n)
//
// SaveRows has one chunk in memory at a time and, when all are written, the lengths of all ragged
// leaves. It does not keep a chunk, so the memory can be used for the next one.
//
// All chunks, including empty ones, must be like the first chunk that has rows, as [Writer.Append]
// demands: Data has one value, the same in all rows of all chunks. If no chunk has rows, the
// dictionary has none either.
//
// The rows are written beside dir, and appear there together. Options and guarantees are as in
// [SaveWith], but Progress is first called when all rows are written. An archive is made from files
// beside dir, so the rows are on the disk twice meanwhile.
//
// If SaveRows returns an error, such as one that chunks yields, dir holds the same as before,
// unless the error is [ErrDone]. SaveRows returns the errors of SaveWith, [NewWriter] and Append,
// shapeops.ErrDim for a chunk without a batch dim, and tdict.ErrMissing if there is no chunk.
func SaveRows(ctx context.Context, dir string, chunks iter.Seq2[*tdict.TensorDict, error], opt SaveOptions) (err error) {
	s := &rowsSaver{saver: newSaver(ctx, dir, opt)}
	defer func() { // also if chunks panics
		left := s.remove()
		if err == nil {
			left = vfs.Done("the rows are saved, but a temporary directory was not removed", left)
		}
		err = s.fail("", errors.Join(err, left))
	}()
	for chunk, err := range chunks {
		if err == nil {
			err = s.ctx.Err()
		}
		if err == nil {
			err = vfs.NotDone(s.add(chunk))
		}
		if err != nil {
			return err
		}
	}
	return s.finish()
}

// A rowsSaver appends chunks to files beside the directory that is to be saved.
type rowsSaver struct {
	*saver
	temp  *vfs.Temp
	w     *Writer           // nil until a chunk has rows
	empty *tdict.TensorDict // a copy of the first chunk, if it has no rows
}

// add appends a chunk.
func (s *rowsSaver) add(chunk *tdict.TensorDict) (err error) {
	if err := s.check(chunk); err != nil {
		return err
	}
	s.compare(chunk)
	if len(chunk.Shape()) == 0 {
		return fmt.Errorf("%w: got a chunk of batch shape [], want a dim of rows", shapeops.ErrDim)
	}
	switch rows := chunk.Shape()[0]; {
	case s.w == nil && rows > 0:
		err = s.begin(chunk)
	case s.w == nil && s.empty == nil:
		s.empty, err = chunk.Clone()
	}
	if s.w == nil || err != nil {
		return err
	}
	return s.w.Append(chunk)
}

// begin starts a Writer for rows like the first row of chunk.
func (s *rowsSaver) begin(chunk *tdict.TensorDict) error {
	first, err := chunk.Index(ix.At(0))
	if err != nil {
		return err
	}
	row, err := first.Clone()
	if err != nil {
		return err
	}
	at, err := s.mayReplace()
	if err != nil {
		return err
	}
	if s.temp, err = vfs.MakeTemp(vfs.OS, at); err != nil {
		return err
	}
	opt := WriterOptions{Dim: chunk.Names()[0], NoSync: true}
	s.w = &Writer{dir: s.dir, at: s.temp.New(), disk: vfs.OS, opt: opt, row: row, private: true}
	if err := s.w.start(); err != nil || s.empty == nil {
		return err
	}
	return s.w.Append(s.empty) // checks that it is like the others
}

// mayReplace returns the path to save to, or an error if what is there must not be replaced.
func (s *rowsSaver) mayReplace() (string, error) {
	form, err := s.form()
	if err != nil {
		return "", err
	}
	if form != Directory {
		at, err := vfs.ResolveFile(s.dir)
		if err != nil {
			return "", err
		}
		return at, makeParent(at)
	}
	old, at, err := s.lookAt()
	if err == nil {
		old.unlock()
	}
	return at, err
}

// finish saves the appended rows.
func (s *rowsSaver) finish() error {
	if s.w == nil && s.empty == nil {
		return fmt.Errorf("%w: got no chunk, want at least one", tdict.ErrMissing)
	}
	if s.w == nil {
		return s.save(s.empty)
	}
	s.w.opt.NoSync = s.opt.NoSync
	if err := s.w.Commit(); err != nil {
		return vfs.NotDone(err)
	}
	ds, err := s.w.dataset()
	if err != nil {
		return err
	}
	defer ds.Close()
	td, err := inOrderOf(s.w.row, ds.TensorDict)
	if err != nil {
		return err
	}
	s.from = s.w
	return s.save(td)
}

// remove removes the files beside the directory.
func (s *rowsSaver) remove() error {
	var failed []error
	s.compared.end()
	if s.w != nil {
		failed = append(failed, s.w.release())
	}
	if s.temp != nil {
		failed = append(failed, s.temp.Remove())
	}
	return errors.Join(failed...)
}
