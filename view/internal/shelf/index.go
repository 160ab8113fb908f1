package shelf

import (
	"strings"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Node is an entry of a dataset with its place in the tree. The first node is the dataset itself.
type Node struct {
	memmap.Entry
	At     int // number of the node in Index.Nodes
	Parent int // number of the dictionary around it; -1 for the dataset
	End    int // number of the first node after the ones in it
	Depth  int // 0 for the dataset
	Leaves int // leaves in it, masks too; 1 for a leaf
	Size   int64
	Sums   int          // leaves in it with checksums
	Spec   tdict.Schema // its entry in the schema of the dataset, nil if that does not list it
	Mask   int          // number of its mask, 0 if it has no mask
	IsMask bool         // it is the mask of another leaf
}

// Name returns the last part of the key, with its escapes.
func (n *Node) Name() nestedkey.Key {
	return n.Key[strings.LastIndexByte(string(n.Key), '/')+1:]
}

// IsDict reports whether the node has entries.
func (n *Node) IsDict() bool { return n.Kind == tdict.KindDict }

// An Index has the entries of a dataset as a tree. It never changes.
type Index struct {
	Nodes []Node // in the order of the data: each dictionary before its entries
	Shown []int  // leaves without masks; of each dictionary first its leaves, then its dictionaries
	Masks int    // number of masks
	Dicts int    // number of dictionaries in the dataset

	byKey map[nestedkey.Key]int
}

// newIndex returns the index of the entries of td.
func newIndex(td *tdict.TensorDict, schema tdict.Schema, entries []memmap.Entry) *Index {
	x := &Index{Nodes: make([]Node, 1, len(entries)+1), byKey: make(map[nestedkey.Key]int, len(entries))}
	x.Nodes[0] = Node{Entry: memmap.Entry{Kind: tdict.KindDict, Shape: td.Shape()}, Parent: -1}
	around := 0 // the dictionary around the next entry
	for _, e := range entries {
		for around != 0 && !inside(e.Key, x.Nodes[around].Key) {
			around = x.close(around)
		}
		at := len(x.Nodes)
		n := Node{Entry: e, At: at, Parent: around, End: at + 1, Depth: x.Nodes[around].Depth + 1, Size: e.Bytes}
		x.byKey[e.Key] = at
		if n.IsDict() {
			x.Dicts++
			around = at
		} else if n.Leaves = 1; e.Summed || e.File == "" && e.Kind != tdict.KindStacked { // it has no file
			n.Sums = 1
		}
		x.Nodes = append(x.Nodes, n)
	}
	for around >= 0 {
		around = x.close(around)
	}
	x.masks(td, schema)
	x.show(0)
	return x
}

// inside reports whether an entry lies directly or deeper in a dictionary.
func inside(key, dict nestedkey.Key) bool {
	return len(key) > len(dict) && key[len(dict)] == '/' && key[:len(dict)] == dict
}

// close ends a dictionary after its last entry, and returns the dictionary around it.
func (x *Index) close(at int) int {
	n := &x.Nodes[at]
	n.End = len(x.Nodes)
	n.Size = 0
	for c := range x.Children(at) {
		n.Leaves, n.Size, n.Sums = n.Leaves+c.Leaves, n.Size+c.Size, n.Sums+c.Sums
	}
	return n.Parent
}

// masks finds the masks that a schema lists. It leaves out a mask that does not fit its leaf:
// describing the leaf returns the error.
func (x *Index) masks(td *tdict.TensorDict, schema tdict.Schema) {
	for i, spec := range schema {
		leaf, ok := x.byKey[spec.Key]
		if !ok {
			continue
		}
		one := schema[i : i+1]
		x.Nodes[leaf].Spec = one
		if mask, err := one.MaskOf(td, spec.Key); mask == nil || err != nil || x.Nodes[leaf].IsDict() {
			continue
		}
		n := &x.Nodes[x.byKey[spec.Mask]]
		x.Nodes[leaf].Mask = n.At
		if !n.IsMask {
			n.IsMask = true
			x.Masks++
		}
	}
}

// show lists the leaves of a dictionary that are not masks, then the leaves of its dictionaries.
func (x *Index) show(at int) {
	for c := range x.Children(at) {
		if !c.IsDict() && !c.IsMask {
			x.Shown = append(x.Shown, c.At)
		}
	}
	for c := range x.Children(at) {
		if c.IsDict() {
			x.show(c.At)
		}
	}
}

// Children returns an iterator over the entries of a dictionary, in order.
func (x *Index) Children(at int) func(yield func(*Node) bool) {
	return func(yield func(*Node) bool) {
		for i := at + 1; i < x.Nodes[at].End || i < len(x.Nodes) && x.Nodes[at].End == 0; i = x.Nodes[i].End {
			if !yield(&x.Nodes[i]) {
				return
			}
		}
	}
}

// Root returns the dataset.
func (x *Index) Root() *Node { return &x.Nodes[0] }

// Find returns the entry with a key.
func (x *Index) Find(key nestedkey.Key) (*Node, bool) {
	at, ok := x.byKey[key]
	if !ok {
		return nil, false
	}
	return &x.Nodes[at], true
}

// Path returns the dictionaries around an entry, from the outermost to the entry itself, without
// the dataset.
func (x *Index) Path(n *Node) []*Node {
	path := make([]*Node, n.Depth)
	for at := n; at.Depth > 0; at = &x.Nodes[at.Parent] {
		path[at.Depth-1] = at
	}
	return path
}

// In returns the shown leaves in a dictionary.
func (x *Index) In(dict *Node) []int {
	if dict.At == 0 {
		return x.Shown
	}
	var leaves []int
	for _, at := range x.Shown {
		if dict.At < at && at < dict.End {
			leaves = append(leaves, at)
		}
	}
	return leaves
}
