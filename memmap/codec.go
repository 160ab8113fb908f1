package memmap

import (
	"fmt"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Each kind of value has its form on disk. Any other node or entry is ErrUnsupported. The functions
// value, entry and class list the kinds; so do eachMapped (sums to compare), entryOf (listings),
// AddLeaf and fitsValue (growing datasets).

// value plans to save v as the entry e of the node n, and completes e.
func (s *saver) value(n *savedNode, e *metaEntry, v tdict.Value, depth int) error {
	switch v := v.(type) {
	case *tensor.Tensor:
		return s.tensor(n, e, v)
	case *tdict.TensorDict:
		return s.inner(n, e, v, depth)
	case *tdict.Data:
		return s.data(n, e, v)
	case *tdict.Unbatched:
		return s.unbatched(n, e, v)
	case *ragged.Tensor:
		return s.rows(n, e, v)
	}
	return s.fail(n.leaf(e.name), unsupported("a %T cannot be saved", v))
}

// entry returns the value of the entry e of the node n, whose batch shape is batch.
func (r *reader) entry(n tree, e *metaEntry, batch shapeops.Shape, depth int) (tdict.Value, error) {
	switch {
	case e.isNode():
		return r.inner(n, e, batch, depth)
	case e.fact.unbatched:
		return valueOr(r.unbatched(n, e, batch))
	case e.nested == isNested:
		return valueOr(r.nestedRows(n, e, batch))
	case !e.fact.has && !e.shape.HasPrefix(batch): // Python's UnbatchedTensor
		e.fact.batch = batch
		return valueOr(r.unbatched(n, e, batch))
	}
	return valueOr(r.tensor(n, e))
}

// valueOr returns v, or a nil Value with an error. A nil *tensor.Tensor would be a Value that is
// not nil.
func valueOr[V tdict.Value](v V, err error) (tdict.Value, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// The classes of nodes that are read, as the last part of their names.
const (
	dictClass      = "TensorDict"
	dataClass      = "NonTensorData"
	dataStackClass = "NonTensorStack"
	metaDataClass  = "MetaData"
	lazyClass      = "LazyStackedTensorDict"
	viewClass      = "_SubTensorDict"
)

// dictClasses are the classes that are read as a plain TensorDict.
var dictClasses = map[string]bool{dictClass: true, "PersistentTensorDict": true, "TensorDictParams": true}

// class returns the value of a node by the class in its meta.json. e is the entry of the node, or
// nil.
func (r *reader) class(n tree, m *meta, e *metaEntry, batch shapeops.Shape, depth int) (tdict.Value, error) {
	switch {
	case dictClasses[m.class]:
		return r.dict(n, m, depth)
	case m.class == lazyClass:
		return r.lazy(n, m, depth)
	case m.class == viewClass:
		return nil, r.fail(n, metaName, unsupported("a view that Python saved, with the dictionary that it is a view of: open the directory _source in it and Index that, or in Python save the view's to_tensordict()"))
	case m.class == dataClass || m.class == metaDataClass:
		return r.data(n, m, e, batch)
	case m.class == dataStackClass:
		return r.dataStack(n, m, e, batch)
	case n.has(classDir + "/" + metaName):
		return r.instance(n, m, batch, depth)
	}
	return nil, r.fail(n, metaName, fmt.Errorf("%w: a %s, which this module does not read", ErrUnsupported, quote(m.class)))
}
