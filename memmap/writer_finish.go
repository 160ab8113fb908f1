package memmap

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"path"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/tdict"
)

// Finish commits, and puts the dictionary in its final form, as if it had been saved: nested as its
// keys are. Each file has exactly the size of its leaf, but the file of a ragged leaf may be
// longer. It closes w, unless the commit fails.
func (w *Writer) Finish() error {
	if err := w.Commit(); err != nil {
		return vfs.NotDone(err)
	}
	err := w.finish()
	left := w.release()
	if err == nil {
		left = vfs.Done("the dataset is finished", left)
	}
	return w.fail("", errors.Join(err, left))
}

// finish publishes the nested tree.
func (w *Writer) finish() error {
	k, err := w.nested()
	if err != nil {
		return cmp.Or(w.inPlace(), err)
	}
	return k.commit()
}

// nested writes the nested tree beside the directory. It has hard links to the files of the leaves.
func (w *Writer) nested() (*dirSink, error) {
	there, err := w.in.Lstat(".")
	if err != nil {
		return nil, err
	}
	old := &oldTree{info: there, modes: &vfs.Modes{Exact: true}}
	defer old.unlock() // w.in stays open
	if err := old.open(w.at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ds, err := w.dataset()
	if err != nil {
		return nil, err
	}
	defer ds.Close()
	s := &saver{op: "append", dir: w.dir, ctx: context.Background(), opt: SaveOptions{NoSync: w.opt.NoSync}}
	td, err := inOrderOf(w.row, ds.TensorDict)
	top := &savedNode{}
	if err == nil {
		err = s.dict(top, td, 0)
	}
	if err != nil {
		return nil, err
	}
	top.meta.native.schema = w.meta.native.schema
	if err := w.linkFiles(s); err != nil {
		return nil, err
	}
	return w.beside(old, s.write)
}

// beside makes a directory beside the old one, which write fills. It may replace old, and no other.
func (w *Writer) beside(old *oldTree, write func(*dirSink) error) (*dirSink, error) {
	k := &dirSink{disk: w.disk, dir: w.at, noSync: w.opt.NoSync, may: replaceOld}
	return k, k.make(context.Background(), old, write)
}

// inOrderOf returns td with its entries in the order of row. In a growing dataset, dictionaries
// without leaves come last.
func inOrderOf(row, td *tdict.TensorDict) (*tdict.TensorDict, error) {
	out := tdict.New(td.Shape()...)
	for key, like := range row.All() {
		v, err := td.Get(key)
		inner, is := v.(*tdict.TensorDict)
		if like, ok := like.(*tdict.TensorDict); ok && is {
			v, err = inOrderOf(like, inner)
		}
		if err == nil {
			err = out.Set(key, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, out.SetNames(td.Names()...)
}

// dataset opens the committed rows.
func (w *Writer) dataset() (*Dataset, error) {
	p := &opening{op: "append", dir: w.dir, at: w.at, opt: OpenOptions{MaxEntries: math.MaxInt, MaxCopy: math.MaxInt64}}
	ds, _, err := p.dataset()
	return ds, err
}

// linkFiles makes s link the files of the leaves instead of writing them.
func (w *Writer) linkFiles(s *saver) error {
	m, err := readNode(w.at)
	if err != nil {
		return err
	}
	files := finalFiles(m)
	for _, f := range s.files {
		c, ok := files[f.at]
		if !ok {
			continue
		}
		info, err := w.in.Lstat(c.at())
		if err != nil {
			return w.fail(c.at(), err)
		}
		f.from = &existing{path: filepath.Join(w.at, filepath.FromSlash(c.at())), info: info}
		*f.sums = c.entry.fact.sums
	}
	return nil
}

// finalFiles returns the columns of a growing dictionary by the paths of their files in the
// finished one, but not row numbers: their tag depends on the sums of the others.
func finalFiles(m *meta) map[string]*column {
	files := map[string]*column{}
	for i := range m.entries {
		e, at := &m.entries[i], ""
		for _, part := range e.fact.path {
			at = path.Join(at, fileName(part))
		}
		if path.Base(at) != pool.Row {
			files[at+leafExt] = &column{entry: e}
		}
	}
	return files
}
