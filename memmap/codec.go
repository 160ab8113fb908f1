package memmap

import (
	"fmt"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Each kind of value has a codec, a type of its own, and there are no others: what a directory
// holds beyond them is ErrUnsupported. A codec is up to three of these:

// A valueCodec adds to s what writes v as the entry e of the node n, and completes e.
type valueCodec interface {
	save(s *saver, n *savedNode, e *metaEntry, v tdict.Value, depth int) error
}

// An entryCodec returns the value of an entry of the node n, whose batch shape is batch.
type entryCodec interface {
	open(o *opener, n tree, e *metaEntry, batch shapeops.Shape, depth int) (tdict.Value, error)
}

// A nodeCodec returns the value of a node of some classes, given its meta.json.
type nodeCodec interface {
	read(o *opener, n tree, m *meta, e *metaEntry, batch shapeops.Shape, depth int) (tdict.Value, error)
}

// codecFor returns what writes a value.
func codecFor(v tdict.Value) (valueCodec, error) {
	switch v.(type) {
	case *tensor.Tensor:
		return dense{}, nil
	case *tdict.TensorDict:
		return dict{}, nil
	case *tdict.Data:
		return data{}, nil
	case *tdict.Unbatched:
		return unbatched{}, nil
	case *ragged.Tensor:
		return raggedRows{}, nil
	}
	return nil, unsupported("a %T cannot be saved", v)
}

// codecOf returns what reads an entry.
func codecOf(e *metaEntry) entryCodec {
	switch {
	case e.isNode() && e.fact.rows != nil:
		return raggedRows{}
	case e.isNode():
		return nodes{}
	case e.fact.alike:
		return unbatched{}
	case e.nested == isNested:
		return nestedRows{}
	}
	return dense{}
}

// The classes of nodes that are read, as the last part of their names.
const (
	dictClass      = "TensorDict"
	dataClass      = "NonTensorData"
	dataStackClass = "NonTensorStack"
	lazyClass      = "LazyStackedTensorDict"
)

// dictClasses are the classes whose directory is that of a TensorDict.
var dictClasses = map[string]bool{dictClass: true, "PersistentTensorDict": true, "TensorDictParams": true}

// nodes reads an entry with a meta.json of its own, which says of what kind it is.
type nodes struct{}

func (nodes) open(o *opener, n tree, e *metaEntry, batch shapeops.Shape, depth int) (tdict.Value, error) {
	inner, err := n.node(e.name)
	if err != nil {
		return nil, err
	}
	v, err := o.node(inner, e, batch, depth+1)
	if failed := inner.close(); err == nil {
		err = o.fail(inner, "", failed)
	}
	return v, err
}

// nodeCodecOf returns what reads nodes of a class, or an error that says that nothing does.
func nodeCodecOf(class string) (nodeCodec, error) {
	switch {
	case dictClasses[class]:
		return dict{}, nil
	case class == lazyClass:
		return lazy{}, nil
	case class == dataClass || class == "MetaData":
		return data{}, nil
	case class == dataStackClass:
		return dataStack{}, nil
	}
	return nil, fmt.Errorf("%w: a %s", ErrUnsupported, quote(class))
}
