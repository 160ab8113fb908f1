package memmap

import (
	"path"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// A reader reads the tree of one container.
type reader struct {
	*opening
	in     container
	damage *collector // of Verify and Copy, which go on after damage; otherwise nil

	files    []*leafFile // of a directory, with the numbers of its set
	nodes    []*leafNode
	entries  int
	row      fileRow                        // of the files that are being opened
	taken    int64                          // bytes of lengths read
	unpacked int64                          // bytes of compressed entries inflated
	layouts  *pool.Layouts                  // read so far
	nested   map[*ragged.Layout]*components // of nested tensors of Python's, for Copy
	copying  bool                           // for Copy, which refuses unknown native fields
	grows    bool                           // a Writer has not called Finish
	schema   tdict.Schema                   // saved with the dictionary
}

// top reads the whole tree. It returns nil if the top is left out, or is damaged.
func (r *reader) top() (*tdict.TensorDict, error) {
	if c, ok := r.in.(*consolidated); ok {
		td, err := c.read(r)
		if err != nil {
			return nil, r.failAt("", err)
		}
		return td, r.checkSchema(td)
	}
	n := r.tree()
	v, err := r.node(n, nil, nil, 0)
	if err != nil {
		return nil, err
	}
	td, ok := v.(*tdict.TensorDict)
	if v != nil && !ok {
		return nil, r.fail(n, metaName, unsupported("it holds an entry of another kind than a dictionary: open the directory that contains it"))
	}
	if td == nil {
		return nil, nil
	}
	return td, r.checkSchema(td)
}

// tree returns the top of the container.
func (r *reader) tree() tree {
	if a, ok := r.in.(*archive); ok {
		return newZipTree(r, a, "")
	}
	set := r.in.(*mapfile.Set)
	return &dirTree{r: r, set: set, root: set.Root(), at: set.Top()}
}

// fail returns err as one about a file of the node n; nil stays nil.
func (r *reader) fail(n tree, file string, err error) error {
	if err == nil {
		return nil
	}
	return r.failAt(path.Join(n.path(), file), err)
}

// damaged returns err, or adds it to the collector, if there is one, and returns nil.
func (r *reader) damaged(err error) error {
	if err == nil || r.damage == nil {
		return err
	}
	r.damage.add(err)
	return nil
}

// node reads a node of any class. e is its entry, or nil.
func (r *reader) node(n tree, e *metaEntry, batch shapeops.Shape, depth int) (tdict.Value, error) {
	if depth > tdict.MaxDepth {
		return nil, r.fail(n, "", corrupt("nested more than %d deep", tdict.MaxDepth))
	}
	m, err := r.nodeMeta(n)
	if err != nil {
		return nil, err
	}
	if e != nil && m.native.outer != "" && m.native.outer != textSum(e.outer) {
		return nil, r.fail(n, metaName, corrupt("the meta.json of the class around it has the checksum %s, want %s: one of the two is damaged", textSum(e.outer), quote(m.native.outer)))
	}
	if err := r.checkData(m, e); err != nil {
		return nil, r.fail(n, metaName, err)
	}
	v, err := r.class(n, m, e, batch, depth)
	if dictClasses[m.class] || m.class == lazyClass { // the dictionary of other classes is a node below
		n.known().td, _ = v.(*tdict.TensorDict)
		n.known().schema, n.known().lazy = m.native.schema, m.class == lazyClass
	}
	return v, err
}

// nodeMeta reads the meta.json of a node.
func (r *reader) nodeMeta(n tree) (*meta, error) {
	text, err := n.meta()
	if err != nil {
		return nil, err
	}
	d := newMetaDecoder(text, r.maxEntries()-r.entries)
	d.keep = r.copying
	m, err := d.decode(text)
	if err != nil {
		return nil, r.fail(n, metaName, err)
	}
	if r.copying && m.later() {
		r.damage.add(r.fail(n, metaName, unsupported("it has fields of a later version of this module, which a copy would lose")))
	}
	r.entries += m.counted
	r.nodes = append(r.nodes, n.known())
	return m, nil
}

func (p *opening) maxEntries() int {
	if p.opt.MaxEntries > 0 {
		return p.opt.MaxEntries
	}
	return 200_000
}

// opened records f as the file of the entry e of n, whose layout is rows if it is ragged. For
// Writable it checks that the file can be written.
func (r *reader) opened(n tree, e *metaEntry, f lender, rows *ragged.Layout) error {
	l := &leafFile{
		file: f, node: n.known(), name: e.name, key: r.damage.key(), unbatched: e.fact.unbatched, rows: rows, row: r.row,
		sums: e.fact.sums, summed: e.fact.sums != nil,
	}
	if len(l.sums) == 0 {
		l.sums = nil
	}
	r.files = append(r.files, l)
	if !r.opt.Writable {
		if file, ok := f.(*mapfile.File); ok {
			file.Sums, file.Owner = l.sums, l
		}
		if r.opt.CheckSums {
			compareIn(f)
		}
		return nil
	}
	if l.node.leaf == nil {
		l.node.leaf = map[string]*leafFile{}
	}
	l.node.leaf[l.name] = l
	if l.summed && len(l.node.leaf) == 1 { // the meta.json will be replaced
		if err := vfs.CanWrite(filepath.Join(r.at, filepath.FromSlash(l.node.path))); err != nil {
			return r.failAt(l.node.path, err)
		}
	}
	return r.failAt(f.Path(), vfs.CanWrite(l.disk().String()))
}
