package memmap

import (
	"fmt"
	"hash/crc32"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// sealable adds to the error for elements that differ from their sums what to do.
func sealable(err error) error {
	return fmt.Errorf("%w: Seal the dataset if the change is right", err)
}

// compareSums makes reads of the mapped leaves of v compare the sums that were saved with them.
// Whoever copies elements calls it, so that damaged ones do not get new sums.
func compareSums(v tdict.Value) {
	eachMapped("", v, func(_ nestedkey.Key, _ *tensor.Tensor, file lender) { compareIn(file) })
}

// eachMapped calls fn with the mapped tensors in v, whose key is key, and with the key of the leaf
// around each.
func eachMapped(key nestedkey.Key, v tdict.Value, fn func(key nestedkey.Key, t *tensor.Tensor, file lender)) {
	switch v := v.(type) {
	case *tdict.TensorDict:
		for name, inner := range v.All() {
			eachMapped(prefixed(key, name), inner, fn)
		}
	case *tensor.Tensor:
		if file, ok := v.Lender().(lender); ok {
			fn(key, v, file)
		}
	case *ragged.Tensor:
		if values, err := v.Values(); err == nil {
			eachMapped(key, values, fn)
		}
	case *tdict.Unbatched:
		eachMapped(key, v.Tensor(), fn)
	case *tdict.Stacked:
		for i := range v.Len() {
			if m, err := v.Member(i); err == nil { // whoever reads it gets the error
				eachMapped(key, m, fn)
			}
		}
	}
}

// compareIn is compareSums of the leaf in a file.
func compareIn(file lender) {
	switch f := file.(type) {
	case *mapfile.File:
		if l, ok := f.Owner.(*leafFile); ok && !f.Checking() && l.sums != nil {
			f.Compare(&mapfile.Sums{Size: f.Size(), Block: blockBytes, Want: l.sums, Table: castagnoli, Differs: l.differs})
		}
	case *zipLeaf:
		if !f.Checking() {
			f.Compare(&mapfile.Sums{Start: f.Offset(), Size: int(f.entry.Size), Block: max(1, int(f.entry.Size)), Want: []uint32{f.entry.CRC}, Table: crc32.IEEETable, Differs: f.differs})
		}
	case *filePart:
		if f.of.sums != nil {
			f.Compare(f.of.sums)
		}
	}
}

// differs returns the error for a block that differs from its sum, or nil if the sum in meta.json
// has changed: a writer came after the meta.json was read and before the leaf was.
func (l *leafFile) differs(block int, got, want uint32) error {
	if now := sumsNow(l.disk().Set(), l.node); now != nil {
		if is := now[l.name]; block >= len(is) || is[block] != want {
			return nil
		}
	}
	return sealable(&mismatch{got, want})
}

// differs returns the error for a file whose CRC-32 differs.
func (l *zipLeaf) differs(_ int, got, want uint32) error {
	return sealable(&zipMismatch{got, want})
}

// A zipMismatch is the error for a file in an archive that differs from its CRC-32.
type zipMismatch struct{ got, want uint32 }

// Error returns the text, with both sums.
func (m *zipMismatch) Error() string {
	return fmt.Sprintf("%v: got CRC-32 %08x, want %08x", ErrCorrupt, m.got, m.want)
}

// Unwrap returns [ErrCorrupt].
func (m *zipMismatch) Unwrap() error { return ErrCorrupt }
