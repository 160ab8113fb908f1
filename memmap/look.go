package memmap

import (
	"slices"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Listing describes a saved dictionary by its meta.json files.
type Listing struct {
	Container Container      // Directory, Archive or Consolidated
	Growing   bool           // the Writer has not called Finish
	Batch     shapeops.Shape // batch shape of the whole dictionary
	Names     []string       // of its batch dims, "" for a dim without a name; nil if no dim has a name
	Entries   []Entry        // entries of all levels, each dictionary before its entries
}

// An Entry is one entry of a saved dictionary.
type Entry struct {
	Key    nestedkey.Key
	Kind   tdict.Kind
	DType  tensor.DType   // 0 for a dictionary and Data
	Shape  shapeops.Shape // batch shape of a dictionary; tdict.Any for a size that differs by row
	Names  []string       // of the batch dims of a dictionary; nil if no dim has a name
	File   string         // slash-separated path as in [Damage]; "" if no file, or several, have the elements
	Bytes  int64          // size of the elements
	Summed bool           // the elements have checksums
}

// Look opens the dictionary saved at dir, a directory or a file, returns its [Dataset.Listing], and
// closes it. opt.Writable is ignored. Look returns the errors of [OpenWith].
func Look(dir string, opt OpenOptions) (*Listing, error) {
	opt.Writable = false
	d, err := OpenWith(dir, opt)
	if err != nil {
		return nil, err
	}
	return d.Listing(), d.Close()
}

// Listing lists the entries of d and the files of their elements. It maps and reads no leaf. Ragged
// uint8 has the kind tdict.KindRagged, since the format does not say whether it is text. d must be
// open.
func (d *Dataset) Listing() *Listing {
	l := ListingOf(d.TensorDict)
	l.Container, l.Growing = Directory, d.growing
	switch d.in.(type) {
	case *archive:
		l.Container = Archive
	case *consolidated:
		l.Container = Consolidated
	}
	return l
}

// ListingOf lists the entries of any dictionary, as [Dataset.Listing] does. The Container is AsIs,
// and entries in memory have no File. It returns an empty Listing for nil.
func ListingOf(td tdict.Dictionary) *Listing {
	l := &Listing{}
	if d := tdict.Of(td); d != nil {
		l.Batch, l.Names = d.Shape().Clone(), dimNames(d)
		l.dict("", d)
	}
	return l
}

// dict adds the entries of td, whose key is outer, to the listing.
func (l *Listing) dict(outer nestedkey.Key, td *tdict.TensorDict) {
	for name, v := range td.All() {
		key := name
		if outer != "" {
			key = nestedkey.Join(outer, name)
		}
		l.Entries = append(l.Entries, entryOf(key, v))
		if inner, ok := v.(*tdict.TensorDict); ok {
			l.dict(key, inner)
		}
	}
}

// entryOf returns the Entry of v.
func entryOf(key nestedkey.Key, v tdict.Value) Entry {
	e := Entry{Key: key, Kind: tdict.KindData, Shape: v.Shape().Clone()}
	switch v := v.(type) {
	case *tensor.Tensor:
		e.Kind = tdict.KindTensor
		e.elements(v)
	case *tdict.TensorDict:
		e.Kind, e.Names = tdict.KindDict, dimNames(v)
	case *tdict.Unbatched:
		e.Kind, e.Shape = tdict.KindUnbatched, v.Tensor().Shape().Clone()
		e.elements(v.Tensor())
	case *tdict.Stacked:
		e.stacked(v)
	case *ragged.Tensor:
		e.Kind, e.DType = tdict.KindRagged, v.DType()
		e.Shape = slices.Concat(v.Shape(), slices.Repeat(shapeops.Shape{tdict.Any}, v.Depth()), v.Features())
		if values, err := v.ValuesView(); err == nil {
			e.elements(values)
		}
	}
	return e
}

// stacked describes the members of s: their dtype if they all have one, Any for a size in which
// they differ, and the bytes of all.
func (e *Entry) stacked(s *tdict.Stacked) {
	e.Kind, e.DType, e.Summed = tdict.KindStacked, s.DType(), true
	first := true
	for i := range s.Len() {
		v, err := s.Member(i)
		if err != nil { // a stack without members
			continue
		}
		m := entryOf(e.Key, v)
		e.Bytes, e.Summed = e.Bytes+m.Bytes, e.Summed && m.Summed
		if m.Kind == tdict.KindUnbatched {
			m.Shape = v.Shape().Clone() // with the batch dims, of which one may be the stack dim
		}
		sizes := slices.Insert(m.Shape, s.Dim(), s.Len())
		if first {
			e.Shape, first = sizes, false
		}
		e.Shape = e.Shape[:min(len(e.Shape), len(sizes))]
		for dim, n := range e.Shape {
			if sizes[dim] != n {
				e.Shape[dim] = tdict.Any
			}
		}
	}
}

// elements describes the elements of t: dtype, size, and the file that has them.
func (e *Entry) elements(t *tensor.Tensor) {
	e.DType, e.Bytes = t.DType(), int64(t.ByteSize())
	file, ok := t.Lender().(lender)
	if !ok { // no elements, so no file
		return
	}
	e.File = file.Path()
	switch f := file.(type) {
	case *mapfile.File:
		e.Summed = len(f.Sums) > 0
	case *filePart:
		e.Summed = f.of.contents.Facts.Sums != nil
	default: // zip has a CRC-32 of every file
		e.Summed = true
	}
}
