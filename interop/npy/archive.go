package npy

import (
	"bytes"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// extension is the suffix of the names of members that are arrays.
const extension = ".npy"

// isArchive reports whether b, the bytes of a file, begins like a zip archive.
func isArchive(b []byte) bool { return bytes.HasPrefix(b, []byte("PK")) }

// archive reads the members of an archive.
func (r *reader) archive() error {
	a, err := zipfile.Open(bytes.NewReader(r.bytes), int64(len(r.bytes)), zipfile.MaxEntries)
	if err != nil {
		return err
	}
	if _, ok := a.Find("meta.json"); ok {
		return unsupported("got an archive of a saved dictionary: use memmap.Open")
	}
	r.entries = make([]bundle.Entry, 0, len(a.Entries))
	for _, e := range a.Entries {
		if err := r.member(e); err != nil {
			return fileformat.Failed("open", r.path, e.Name, err)
		}
	}
	return nil
}

// member adds the selected arrays of a member.
func (r *reader) member(e zipfile.Entry) error {
	name, isArray := strings.CutSuffix(e.Name, extension)
	key, err := bundle.Key(name, r.separator())
	if err != nil || !r.wanted.touches(key) {
		return err
	}
	if !isArray {
		return r.refuse(e.Name, unsupported("got a member that is not an array, want a name that ends in %q", extension))
	}
	h, elements, err := r.content(e)
	if err != nil {
		return r.refuse(e.Name, err)
	}
	if h.record {
		return r.columns(slices.Collect(key.Parts()), h, elements)
	}
	if !r.wanted.covers(key) {
		return nil
	}
	t, err := h.array(elements, r.room)
	return r.add(key, e.Name, t, err)
}

// content returns the header of a member, and the body that returns its elements.
func (r *reader) content(e zipfile.Entry) (*header, body, error) {
	if e.Method == zipfile.Stored {
		p, err := r.mem.Lend(e.Name, int(e.Offset), int(e.Size))
		if err != nil {
			return nil, nil, err
		}
		h, elements, err := mappedArray(p, r.bytes, r.known)
		if err != nil || r.opt.SkipSums {
			return h, elements, err
		}
		differs := func(_ int, got, want uint32) error { return corrupt("got CRC-32 %08x, want %08x", got, want) }
		p.Compare(func() *mapfile.Sums {
			return &mapfile.Sums{Start: p.Offset(), Size: p.Size(), Block: p.Size(), Want: []uint32{e.CRC}, Table: crc32.IEEETable, Differs: differs}
		})
		if h.content == 0 { // no operation will read it
			err = p.Check(p.Offset(), p.Offset()+p.Size())
		}
		return h, elements, err
	}
	from := e.Reader(bytes.NewReader(r.bytes))
	h, err := readHeader(from, r.known)
	if err == nil {
		err = r.room.take(h.length)
	}
	if err == nil {
		err = h.checkContent(e.Size - int64(h.length))
	}
	if err != nil {
		return nil, nil, err
	}
	return h, h.readBody(from, r.room), nil
}
