package memmap

import (
	"fmt"
	"hash/crc32"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// sealable adds to the error for elements that differ from their sums what to do.
func sealable(err error) error {
	return fmt.Errorf("%w: Seal the dataset if the change is right", err)
}

// A comparer makes reads of mapped leaves compare the sums that were saved with them. Whoever
// copies elements has one, so that damaged ones do not get new sums. Each block is compared once.
type comparer struct{ files map[lender]bool }

// add adds the leaves of v.
func (c *comparer) add(v tdict.Value) {
	eachMapped("", v, func(_ nestedkey.Key, _ *tensor.Tensor, file lender) {
		if !c.files[file] {
			if c.files == nil {
				c.files = map[lender]bool{}
			}
			c.files[file] = true
			compareIn(file)
		}
	})
}

// end makes reads as they were before.
func (c *comparer) end() {
	for file := range c.files {
		if f, ok := file.(interface{ EndCompare() }); ok {
			f.EndCompare()
		}
	}
	c.files = nil
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

// compareIn makes reads of the leaf in a file compare its sums.
func compareIn(file lender) {
	switch f := file.(type) {
	case *mapfile.File:
		f.Compare(func() *mapfile.Sums {
			l, ok := f.Owner.(*leafFile)
			if !ok || l.sums == nil {
				return nil
			}
			return &mapfile.Sums{Size: f.Size(), Block: BlockSize, Want: l.sums, Table: tdc.Castagnoli, Differs: l.differs}
		})
	case *zipLeaf:
		f.Compare(func() *mapfile.Sums {
			size := int(f.entry.Size)
			return &mapfile.Sums{Start: f.Offset(), Size: size, Block: max(1, size), Want: []uint32{f.entry.CRC}, Table: crc32.IEEETable, Differs: f.differs}
		})
	case *filePart:
		f.Compare(func() *mapfile.Sums { return f.of.sums })
	}
}

// differs returns the error for a block that differs from its sum, or nil if it does not any more.
func (l *leafFile) differs(block int, got, want uint32) error {
	if l.sound(block) {
		return nil
	}
	return sealable(&mismatch{got, want})
}

// sound compares a block that differed from its sum once more, see withSums. It reports true for
// void sums, too.
func (l *leafFile) sound(block int) (yes bool) {
	withSums(l.disk().Set(), l.node, func(sums map[string][]uint32) {
		is := sums[l.name]
		if yes = block >= len(is); !yes {
			now, err := l.sumBlock(block, make([]byte, 1<<18))
			yes = err == nil && now == is[block]
		}
	})
	return yes
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
