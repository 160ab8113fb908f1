package memmap

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Finish commits, and puts the dictionary in its final form: nested as its keys are, with files of
// exactly the size of their leaves, as if it had been saved. It closes w, unless it cannot commit.
func (w *Writer) Finish() error {
	if err := w.Commit(); err != nil {
		return err
	}
	err := w.finish()
	return w.fail("", errors.Join(err, w.giveUp()))
}

// finish publishes the nested tree.
func (w *Writer) finish() error {
	k, err := w.nested()
	if err != nil {
		return cmp.Or(w.inPlace(), err)
	}
	if openBlocksRename {
		if err := w.giveUp(); err != nil {
			return errors.Join(err, k.abort())
		}
	}
	return k.commit(append(shapeops.Shape{w.rows}, w.row.Shape()...))
}

// nested writes the nested tree beside the directory. In it the files of the leaves have a second
// name.
func (w *Writer) nested() (*dirSink, error) {
	there, err := w.in.Lstat(".")
	if err != nil {
		return nil, err
	}
	old := &oldTree{info: there, modes: newModes()}
	if err := old.scan(w.at, ""); err != nil {
		return nil, err
	}
	td, err := w.final(w.row)
	if err != nil {
		return nil, err
	}
	s := &saver{op: "append", dir: w.dir, ctx: context.Background(), opt: SaveOptions{NoSync: w.opt.NoSync}}
	if err := s.dict(&savedNode{}, td, 0); err != nil {
		return nil, err
	}
	if err := w.linkFiles(s); err != nil {
		return nil, err
	}
	return w.beside(old, s.write)
}

// beside writes a directory beside the old one, which alone it may replace.
func (w *Writer) beside(old *oldTree, write func(sink) error) (*dirSink, error) {
	k, err := newDirSink(w.disk, w.at, old, w.opt.NoSync)
	if err != nil {
		return nil, err
	}
	k.firm = true
	if err := write(k); err != nil {
		return nil, errors.Join(err, k.abort())
	}
	return k, nil
}

// final returns a dictionary like the one that there will be, with elements that are not there.
func (w *Writer) final(row *tdict.TensorDict) (*tdict.TensorDict, error) {
	td := tdict.New(append(shapeops.Shape{w.rows}, row.Shape()...)...)
	for key, v := range row.All() {
		var err error
		switch x := v.(type) {
		case *tensor.Tensor:
			v, err = w.finalTensor(x)
		case *tdict.TensorDict:
			v, err = w.final(x)
		case *tdict.Data:
			value, _ := x.Uniform()
			v, err = tdict.NewData(value, append(shapeops.Shape{w.rows}, x.Shape()...)...)
		case *tdict.Unbatched:
			v, err = w.finalUnbatched(x)
		}
		if err == nil {
			err = td.Set(key, v)
		}
		if err != nil {
			return nil, err
		}
	}
	if names := w.names(row); names != nil {
		return td, td.SetNames(names...)
	}
	return td, nil
}

// finalUnbatched returns an unbatched tensor of a row with the batch shape of all rows.
func (w *Writer) finalUnbatched(row *tdict.Unbatched) (*tdict.Unbatched, error) {
	u, err := tdict.NewUnbatched(row.Tensor())
	if err != nil {
		return nil, err
	}
	batch := row.Shape()[:len(row.Shape())-len(row.Tensor().Shape())]
	return batched(u, append(shapeops.Shape{w.rows}, batch...))
}

// finalTensor returns zeros in the shape of all rows, which take no memory.
func (w *Writer) finalTensor(row *tensor.Tensor) (*tensor.Tensor, error) {
	zero, err := tensor.New(row.DType())
	if err != nil {
		return nil, err
	}
	return zero.Expand(append(shapeops.Shape{w.rows}, row.Shape()...)...)
}

// linkFiles has s take the files of leaves that are there instead of writing them.
func (w *Writer) linkFiles(s *saver) (err error) {
	entries := map[string]*metaEntry{}
	for i := range w.meta.entries {
		e := &w.meta.entries[i]
		at := ""
		for _, part := range e.fact.path {
			at = path.Join(at, fileName(part))
		}
		entries[at+leafExt] = e
	}
	for _, f := range s.files {
		e := entries[f.at]
		if e == nil {
			continue
		}
		name := fileName(e.name) + leafExt
		if f.of, err = w.in.Lstat(name); err != nil {
			return w.fail(name, err)
		}
		f.from, *f.sums = filepath.Join(w.at, name), e.fact.sums
	}
	return nil
}
