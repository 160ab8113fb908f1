package memmap

import (
	"math"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// lazy reads a stack of Python's that keeps its members: as one dictionary, whose leaves are
// copies, if the members agree.
type lazy struct{}

func (lazy) read(o *opener, n tree, m *meta, _ *metaEntry, _ shapeops.Shape, depth int) (tdict.Value, error) {
	if o.opt.Writable {
		return nil, o.fail(n, metaName, unsupported("a lazy stack is read as a copy: it cannot be opened Writable"))
	}
	if o.faults != nil {
		found := o.found
		if _, err := (lazy{}).members(o, n, depth); err != nil || o.found > found {
			return nil, err
		}
		defer o.strictly()()
	}
	members, err := lazy{}.members(o, n, depth)
	if err != nil {
		return nil, err
	}
	if len(members) == 0 {
		return nil, o.fail(n, metaName, corrupt("a lazy stack without members"))
	}
	if dims := len(members[0].Shape()); m.dim < 0 || m.dim > dims {
		return nil, o.fail(n, metaName, corrupt("want a stack_dim of 0 to %d", dims))
	}
	if err := o.copies(members); err != nil {
		return nil, o.fail(n, metaName, err)
	}
	td, err := shapeops.Stack(members, m.dim)
	if err != nil {
		return nil, o.fail(n, metaName, unsupported("a lazy stack whose members differ: %w", err))
	}
	if err := checkShapes(td); err != nil {
		return nil, o.fail(n, metaName, unsupported("a lazy stack: %w", err))
	}
	return td, nil
}

// members opens all members.
func (lazy) members(o *opener, n tree, depth int) (members []*tdict.TensorDict, err error) {
	for {
		inner, err := n.member(len(members))
		if inner == nil || err != nil {
			return members, err
		}
		v, err := o.node(inner, nil, nil, depth+1)
		if failed := inner.close(); err == nil {
			err = o.fail(inner, "", failed)
		}
		if err != nil {
			return nil, err
		}
		if o.entries++; o.entries > o.maxEntries() {
			return nil, o.fail(n, "", tooMany(o.maxEntries()))
		}
		td, ok := v.(*tdict.TensorDict)
		if !ok {
			return nil, o.fail(inner, metaName, unsupported("a lazy stack of what is no dictionary"))
		}
		members = append(members, td)
	}
}

// checkShapes returns an error if td could not be saved, for the dims that it has.
func checkShapes(td *tdict.TensorDict) error {
	if err := checkShape(td.Shape()); err != nil {
		return err
	}
	for _, v := range td.Leaves() {
		err := checkShape(v.Shape())
		if t, ok := v.(*ragged.Tensor); ok {
			err = checkRank(t.Shape(), t.Depth(), t.Features())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// strictly has the opener stop at faults, and forget the files that it meets, until the function
// that it returns is called.
func (o *opener) strictly() (end func()) {
	faults, entries, taken, files, nodes := o.faults, o.entries, o.taken, len(o.files), len(o.nodes)
	o.faults, o.entries, o.taken = nil, 0, 0
	return func() {
		o.faults, o.entries, o.taken = faults, entries, taken
		o.files, o.nodes = o.files[:files], o.nodes[:nodes]
	}
}

// bytesOf returns how many bytes of elements a leaf has that are copied.
func bytesOf(v tdict.Leaf) int {
	switch v := v.(type) {
	case *tensor.Tensor:
		return v.ByteSize()
	case *ragged.Tensor:
		n, _ := byteSize(v.DType(), append(shapeops.Shape{v.NumValues()}, v.Features()...)) // there
		return n
	}
	return 0
}

// copies counts the bytes of leaves that are to be copied, and refuses more than the limit.
func (o *opener) copies(tds []*tdict.TensorDict) error {
	for _, td := range tds {
		for _, v := range td.Leaves() {
			o.copied += int64(min(bytesOf(v), math.MaxInt32<<20))
		}
	}
	if limit := o.maxCopy(); o.copied > limit {
		return unsupported("lazy stacks of %d bytes would be copied, want at most %d: raise MaxCopy", o.copied, limit)
	}
	return nil
}
