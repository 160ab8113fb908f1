package memmap

import (
	"math"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// lazy reads a stack of Python's that keeps its members: as one dictionary, whose leaves are
// copies, if the members agree. It is nil if faults were found in them.
func (r *reader) lazy(n tree, m *meta, depth int) (tdict.Value, error) {
	if r.opt.Writable {
		return nil, r.fail(n, metaName, unsupported("a lazy stack is read as a copy: it cannot be opened Writable"))
	}
	found := r.faults.number()
	members, err := r.members(n, depth)
	if err != nil || r.faults.number() > found {
		return nil, err
	}
	if len(members) == 0 {
		return nil, r.fail(n, metaName, corrupt("a lazy stack without members"))
	}
	if dims := len(members[0].Shape()); m.dim < 0 || m.dim > dims {
		return nil, r.fail(n, metaName, corrupt("want a stack_dim of 0 to %d", dims))
	}
	if err := r.copies(members); err != nil {
		return nil, r.fail(n, metaName, err)
	}
	td, err := shapeops.Stack(members, m.dim)
	if err != nil {
		return nil, r.fail(n, metaName, unsupported("a lazy stack whose members differ: %w", err))
	}
	if err := checkShapes(td); err != nil {
		return nil, r.fail(n, metaName, unsupported("a lazy stack: %w", err))
	}
	return td, nil
}

// members opens all members.
func (r *reader) members(n tree, depth int) (members []*tdict.TensorDict, err error) {
	for {
		inner, err := n.member(len(members))
		if inner == nil || err != nil {
			return members, err
		}
		v, err := r.node(inner, nil, nil, depth+1)
		if failed := inner.close(); err == nil {
			err = r.fail(inner, "", failed)
		}
		if err != nil {
			return nil, err
		}
		if r.entries++; r.entries > r.maxEntries() {
			return nil, r.fail(n, "", tooMany(r.maxEntries()))
		}
		td, ok := v.(*tdict.TensorDict)
		if !ok {
			return nil, r.fail(inner, metaName, unsupported("a lazy stack of what is no dictionary"))
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
func (r *reader) copies(tds []*tdict.TensorDict) error {
	for _, td := range tds {
		for _, v := range td.Leaves() {
			r.copied += int64(min(bytesOf(v), math.MaxInt32<<20))
		}
	}
	if limit := r.maxCopy(); r.copied > limit {
		return unsupported("lazy stacks of %d bytes would be copied, want at most %d: raise MaxCopy", r.copied, limit)
	}
	return nil
}
