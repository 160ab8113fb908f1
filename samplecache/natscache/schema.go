package natscache

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/samplecache/natscache/internal/ledger"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// leavesOf returns the leaves of a schema.
func leavesOf(schema *tdict.TensorDict) (list []ledger.Leaf) {
	for key, x := range schema.Tensors() {
		list = append(list, ledger.Leaf{Key: key, DType: x.DType().String(), Shape: slices.Clone(x.Shape())})
	}
	return list
}

// schemaOf is the reverse of leavesOf.
func schemaOf(list []ledger.Leaf) (*tdict.TensorDict, error) {
	td := tdict.New()
	for _, l := range list {
		dtype, err := tensor.ParseDType(l.DType)
		var x *tensor.Tensor
		if err == nil {
			x, err = tensor.NewMeta(dtype, l.Shape...)
		}
		if err == nil {
			err = td.Set(l.Key, x)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", engine.ErrCorrupt, l.Key, err)
		}
	}
	return td, nil
}

// about returns the description of a cache, and the layout of its samples.
func about(c ledger.Charter) (engine.About, *layout, error) {
	schema, err := schemaOf(c.Schema)
	if err != nil {
		return engine.About{}, nil, err
	}
	l, ok := newLayout(schema)
	if !ok || l.chunks() != c.Chunks {
		return engine.About{}, nil, fmt.Errorf("%w: got %d chunks of a sample, want %d", engine.ErrCorrupt, c.Chunks, l.chunks())
	}
	return engine.About{ID: c.ID, Config: c.Config, Schema: schema, Lease: patienceWith(c.Lease)}, l, nil
}
