package memmap

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"

	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// Schema returns the schema that was saved with d, or nil. AddLeaf returns tdict.ErrSchema if the
// new leaf would break it. Changes of d in memory are not checked: call Check of the schema, or
// Save with it. The caller must not change it. Functions that read masks, such as
// transform.FitStandard and inspect.Describe, use it if they get d and no other masks.
func (d *Dataset) Schema() tdict.Schema {
	if d == nil {
		return nil
	}
	return d.schema
}

// partsPerEntry bounds the keys of a schema: all keys together have at most this many parts for
// each entry that the dictionary may have.
const partsPerEntry = 4

// readSchema reads the text of a schema with at most most entries. It counts sizes and keys before
// it allocates memory for them.
func readSchema(text []byte, most int) (s tdict.Schema, err error) {
	scan, parts := jsonscan.New(text), 0
	sizes := func(i int) error {
		if i == maxDims {
			return fmt.Errorf("%w: more than %d dims", shapeops.ErrShape, maxDims)
		}
		return scan.Skip()
	}
	entry := func(field []byte) error {
		switch string(field) {
		case "shape", "batch":
			return scan.Array(sizes)
		case "key":
			key, err := scan.Text()
			parts += 1 + bytes.Count(key, []byte("/"))
			return err
		}
		return scan.Skip()
	}
	err = scan.Object(func(field []byte) error {
		if string(field) != "entries" {
			return scan.Skip()
		}
		return scan.Array(func(i int) error {
			if i >= most || parts/partsPerEntry >= most {
				return tooMany(most)
			}
			return scan.Object(entry)
		})
	})
	if err != nil {
		return nil, err
	}
	return s, s.UnmarshalJSON(text)
}

// checkSchema reads the schema that was saved with td. It returns ErrCorrupt if td breaks it.
func (r *reader) checkSchema(td *tdict.TensorDict) error {
	i := slices.IndexFunc(r.nodes, func(n *leafNode) bool { return n.td == td })
	if i < 0 || r.nodes[i].schema == nil || r.damage.number() > 0 {
		return nil
	}
	s, err := readSchema(r.nodes[i].schema, r.maxEntries())
	if err == nil {
		err = s.Check(td)
	}
	if err != nil && !known(err) {
		err = corrupt("schema: %w", err)
	}
	r.schema = s
	at := path.Join(r.nodes[i].path, metaName)
	if _, ok := r.in.(*consolidated); ok {
		at = ""
	}
	return r.failAt(at, err)
}

// keepSchema plans to save the schema of the options with the outermost dictionary.
func (s *saver) keepSchema(td *tdict.TensorDict) error {
	if s.opt.Schema == nil {
		return nil
	}
	text, err := schemaText(s.opt.Schema, td)
	if err != nil {
		return s.fail("", err)
	}
	i := slices.IndexFunc(s.nodes, func(n *savedNode) bool { return n.meta != nil })
	s.nodes[i].meta.native.schema = text
	return nil
}

// schemaText returns the text of s. It returns an error if the text could not be read again, or td
// breaks s.
func schemaText(s tdict.Schema, td *tdict.TensorDict) ([]byte, error) {
	text, err := s.MarshalJSON()
	if err == nil {
		_, err = readSchema(text, math.MaxInt)
	}
	if err == nil {
		err = s.Check(td)
	}
	return text, err
}

// keepSchema sets the schema of the dataset: the one of the options, or the one in the text there.
// If both exist they must be equal.
func (w *Writer) keepSchema(there []byte) (err error) {
	s := w.opt.Schema
	if there != nil {
		was, err := readSchema(there, math.MaxInt)
		if err != nil {
			return corrupt("schema: %w", err)
		}
		if s != nil && was.Diff(s) != "" {
			return fmt.Errorf("%w: Schema differs from the schema of the dataset: set it to nil to keep that one", tdict.ErrSchema)
		}
		s = was
	}
	if s != nil {
		w.meta.native.schema, err = schemaText(s, w.none)
	}
	return err
}

// checkSaved returns ErrSchema if a new leaf under key would break the schema that was saved with
// d. entry is the first part of key that d lacks. Other entries, which may have changed in memory,
// are not checked.
func (d *Dataset) checkSaved(key, entry nestedkey.Key, v tdict.Leaf) error {
	if d.schema == nil {
		return nil
	}
	td := d.TensorDict.Copy()
	if err := td.Set(key, v); err != nil {
		return err
	}
	err := d.schema.Check(td)
	all, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	for _, err := range all.Unwrap() {
		if about, ok := errors.AsType[*tdict.KeyError](err); ok && (about.Key.HasPrefix(entry) || entry.HasPrefix(about.Key)) {
			return fmt.Errorf("%w, by the schema that was saved with the dataset: save a copy with another SaveOptions.Schema", err)
		}
	}
	return nil
}
