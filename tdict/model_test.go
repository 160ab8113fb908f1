package tdict_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A model is the naive twin of a dictionary: a list of what is in it, depth first. The first node
// is the dictionary itself, with the path "". Any other path is a slash and the key.
type model []node

type node struct {
	path   string
	shape  shapeops.Shape
	leaf   bool
	locked bool // by Lock of this very dictionary
}

func parent(path string) string { return path[:strings.LastIndexByte(path, '/')] }

func below(path, top string) bool { return path == top || strings.HasPrefix(path, top+"/") }

func (m model) find(path string) int {
	return slices.IndexFunc(m, func(n node) bool { return n.path == path })
}

// span returns where the node of a path and all below it stand, or -1.
func (m model) span(path string) (lo, hi int) {
	if lo = m.find(path); lo < 0 {
		return lo, lo
	}
	for hi = lo + 1; hi < len(m) && below(m[hi].path, path); hi++ {
		continue
	}
	return lo, hi
}

// frozen reports whether the dictionary of a path is locked, by itself or by one above it.
func (m model) frozen(path string) bool {
	return slices.ContainsFunc(m, func(n node) bool { return n.locked && below(path, n.path) })
}

// moved returns nodes, which belong together, with another path for the first of them.
func moved(nodes []node, to string) []node {
	out := slices.Clone(nodes)
	for i := range out {
		out[i].path = to + strings.TrimPrefix(out[i].path, nodes[0].path)
	}
	return out
}

// set returns the model with nodes, of which the first is what is set, or false if that is refused.
func (m model) set(nodes []node) (model, bool) {
	path := nodes[0].path
	home := parent(path)
	for m.find(home) < 0 {
		home = parent(home)
	}
	batch := m[m.find(home)].shape
	nodes, ok := fitted(nodes, batch)
	if m[m.find(home)].leaf || m.frozen(home) || !ok {
		return m, false
	}
	if lo, hi := m.span(path); lo >= 0 {
		return slices.Concat(m[:lo], nodes, m[hi:]), true
	}
	for _, end := m.span(home); home != parent(path); end++ {
		name, _, _ := strings.Cut(path[len(home)+1:], "/")
		home += "/" + name
		m = slices.Insert(slices.Clone(m), end, node{home, batch, false, false})
	}
	_, end := m.span(home)
	return slices.Concat(m[:end], nodes, m[end:]), true
}

// fitted returns nodes with the shorter batch shapes among them made longer, or false if a shape
// does not fit. What is made longer is a copy, with all below it, that is not locked.
func fitted(nodes []node, batch shapeops.Shape) ([]node, bool) {
	nodes = slices.Clone(nodes)
	copied := !nodes[0].shape.HasPrefix(batch)
	for i, n := range nodes {
		switch {
		case n.shape.HasPrefix(batch):
		case n.leaf || !batch.HasPrefix(n.shape):
			return nil, false
		default:
			nodes[i].shape = batch
		}
		nodes[i].locked = n.locked && !copied
	}
	return nodes, true
}

func (m model) remove(path string) (model, bool) {
	lo, hi := m.span(path)
	if lo < 0 || m.frozen(parent(path)) {
		return m, false
	}
	return slices.Concat(m[:lo], m[hi:]), true
}

func (m model) rename(from, to string) (model, bool) {
	lo, hi := m.span(from)
	if lo < 0 || from == to {
		return m, lo >= 0
	}
	renamed := moved(m[lo:hi], to)
	if _, ok := m.set(renamed); !ok || below(to, from) || m.frozen(parent(from)) || m.find(to) >= 0 {
		return m, false
	}
	if parent(from) == parent(to) {
		return slices.Concat(m[:lo], renamed, m[hi:]), true
	}
	m, _ = m.remove(from)
	return m.set(renamed)
}

func (m model) update(other model) (model, bool) {
	out, ok := m, true
	for i := 1; i < len(other) && ok; {
		at := out.find(other[i].path)
		if at >= 0 && !out[at].leaf && !other[i].leaf {
			i++ // what is below them is merged
			continue
		}
		_, hi := other.span(other[i].path)
		if out, ok = out.set(other[i:hi]); !ok {
			return m, false
		}
		i = hi
	}
	return out, true
}

func (m model) unlock(path string) (model, bool) {
	i := m.find(path)
	if path != "" && m.frozen(parent(path)) {
		return m, false
	}
	if !m[i].locked {
		return m, true
	}
	m = slices.Clone(m)
	lo, hi := m.span(path)
	for i := lo; i < hi; i++ {
		m[i].locked = false
	}
	return m, true
}

// build returns the dictionary that a model describes.
func (m model) build() *tdict.TensorDict {
	td := tdict.New(m[0].shape...)
	for _, n := range m[1:] {
		var v tdict.Value = tdict.New(n.shape...)
		if n.leaf {
			v = tensor.Must(tensor.Zeros[uint8](n.shape...))
		}
		if err := td.Set(nestedkey.Key(n.path[1:]), v); err != nil {
			panic(err)
		}
	}
	return td
}

// matches checks td against the model: keys and their order, shapes, kinds and locks.
func (m model) matches(t *testing.T, td *tdict.TensorDict, done string) {
	t.Helper()
	got := model{{"", td.Shape(), false, td.Locked()}}
	for _, key := range keys(td) {
		v := tensor.Must(td.Get(key))
		d, isDict := v.(*tdict.TensorDict)
		got = append(got, node{"/" + string(key), v.Shape(), !isDict, isDict && d.Locked()})
	}
	want := slices.Clone(m)
	for i, n := range want {
		want[i].locked = !n.leaf && m.frozen(n.path)
	}
	require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), done)
	consistent(t, td)
}

// path returns a random path; an existing one mostly.
func (m model) path(g *rand.Rand) string {
	if len(m) > 1 && g.IntN(3) > 0 {
		return m[1+g.IntN(len(m)-1)].path
	}
	path := ""
	for range 1 + g.IntN(3) {
		path += "/" + string("abcdefghijkl"[g.IntN(12)])
	}
	return path
}

// value returns the nodes of a random value: a leaf, an empty dictionary or one with an entry.
func value(g *rand.Rand, path string) []node {
	shapes := []shapeops.Shape{{2}, {2}, {2, 3}, {2, 3}, {2, 3, 1}, {3}, {}}
	s := shapes[g.IntN(len(shapes))]
	switch g.IntN(4) {
	case 0:
		return []node{{path: path, shape: s}}
	case 1:
		return []node{{path: path, shape: s}, {path: path + "/v", shape: append(s.Clone(), 3), leaf: true}}
	}
	return []node{{path: path, shape: s, leaf: true}}
}

// A pair is a dictionary and its model, which ought to stay alike.
type pair struct {
	*rand.Rand
	td    *tdict.TensorDict
	model model
}

// An act does an operation to both of a pair. It returns a text that says which, what the model
// becomes, whether the model allows it, and the error of the dictionary.
type act func(p pair, a, b string) (text string, next model, ok bool, err error)

func keyOf(path string) nestedkey.Key { return nestedkey.Key(path[1:]) }

// acts are the operations, each as often as it is to be likely.
var acts = []act{setAct, setAct, setAct, setAct, deleteAct, deleteAct, renameAct, renameAct, updateAct, lockAct, unlockAct, unlockAct}

func setAct(p pair, a, _ string) (string, model, bool, error) {
	v := value(p.Rand, a)
	alone := append(model{{shape: v[0].shape}}, moved(v, "/x")...).build()
	next, ok := p.model.set(v)
	return fmt.Sprint("set ", v), next, ok, p.td.Set(keyOf(a), tensor.Must(alone.Get("x")))
}

func deleteAct(p pair, a, _ string) (string, model, bool, error) {
	next, ok := p.model.remove(a)
	return "delete " + a, next, ok, p.td.Delete(keyOf(a))
}

func renameAct(p pair, a, b string) (string, model, bool, error) {
	next, ok := p.model.rename(a, b)
	return "rename " + a + " " + b, next, ok, p.td.Rename(keyOf(a), keyOf(b))
}

func updateAct(p pair, _, _ string) (string, model, bool, error) {
	other := model{{shape: p.model[0].shape}}
	for range 3 {
		other, _ = other.set(value(p.Rand, p.model.path(p.Rand)))
	}
	next, ok := p.model.update(other)
	return fmt.Sprint("update ", other), next, ok, p.td.Update(other.build())
}

func lockAct(p pair, _, _ string) (string, model, bool, error) {
	path, d := p.someDict()
	next := slices.Clone(p.model)
	next[next.find(path)].locked = true
	d.Lock()
	return "lock " + path, next, true, nil
}

func unlockAct(p pair, _, _ string) (string, model, bool, error) {
	path, d := p.someDict()
	if p.IntN(2) == 0 {
		path, d = "", p.td
	}
	next, ok := p.model.unlock(path)
	return "unlock " + path, next, ok, d.Unlock()
}

// someDict returns a random dictionary of a pair, perhaps the outermost, with its path.
func (p pair) someDict() (string, *tdict.TensorDict) {
	path := p.model[p.IntN(len(p.model))].path
	for p.model[p.model.find(path)].leaf {
		path = parent(path)
	}
	if path == "" {
		return path, p.td
	}
	return path, tensor.Must(p.td.Dict(keyOf(path)))
}

// TestModel does random operations on structure to a dictionary and to its model: the same are
// refused, and after each of them, refused or not, both have the same keys in the same order,
// shapes and locks.
func TestModel(t *testing.T) {
	for seed := range uint64(longtests.Times(130, 400)) {
		m := model{{shape: shapeops.Shape{2}}}
		p := pair{rand.New(rand.NewPCG(seed, 3)), m.build(), m}
		for range 60 {
			text, next, ok, err := acts[p.IntN(len(acts))](p, p.model.path(p.Rand), p.model.path(p.Rand))
			text = fmt.Sprintf("seed %d: %s", seed, text)
			require.Equal(t, ok, err == nil, "%s: %v\n%v", text, err, p.model)
			p.model = next
			next.matches(t, p.td, text)
		}
	}
}

// A twin is a dictionary and the list of what is in it.
type twin struct {
	td   *tdict.TensorDict
	list []entry
}

func (w *twin) find(key nestedkey.Key) int {
	return slices.IndexFunc(w.list, func(e entry) bool { return e.key == key })
}

// check compares the two by order and by name.
func (w *twin) check(t *testing.T, about string) {
	t.Helper()
	got := []entry{}
	for name, v := range w.td.All() {
		got = append(got, entry{name, v})
	}
	require.Len(t, got, len(w.list), about)
	for i, e := range w.list {
		require.Equal(t, e.key, got[i].key, about)
		require.True(t, e.value == got[i].value, about)
	}
	require.Equal(t, len(w.list), w.td.NumEntries(), about)
	for i := range 60 {
		key := nestedkey.Of(fmt.Sprint("k", i))
		v, err := w.td.Get(key)
		at := w.find(key)
		require.Equal(t, at >= 0, err == nil, "%s: %s", about, key)
		require.True(t, at < 0 || v == w.list[at].value, "%s: %s", about, key)
	}
	require.False(t, w.td.Has("\xff"), "a gap is no key")
}

// step does something random to both, mostly to the front or the back.
func (w *twin) step(t *testing.T, g *rand.Rand, growing bool) string {
	key := nestedkey.Of(fmt.Sprint("k", g.IntN(60)))
	old := nestedkey.Key("none")
	if n := len(w.list); n > 0 {
		old = w.list[[]int{0, n - 1, g.IntN(n)}[g.IntN(3)]].key
	}
	at, from := w.find(key), w.find(old)
	switch n := g.IntN(6); {
	case n == 0 && from >= 0 && at < 0:
		require.NoError(t, w.td.Rename(old, key))
		w.list[from].key = key
	case n == 1 && from >= 0 && at >= 0 && from != at:
		require.NoError(t, w.td.Set(key, tensor.Must(w.td.Pop(old))))
		w.list[at].value = w.list[from].value
		w.list = slices.Delete(w.list, from, from+1)
	case growing && n > 2 || !growing && n == 2:
		v := tensor.Scalar(g.Float64())
		require.NoError(t, w.td.Set(key, v))
		if at >= 0 {
			w.list[at].value = v
		} else {
			w.list = append(w.list, entry{key, v})
		}
	default:
		require.Equal(t, from >= 0, w.td.Delete(old) == nil)
		if from >= 0 {
			w.list = slices.Delete(w.list, from, from+1)
		}
	}
	return fmt.Sprintf("%s %s", old, key)
}

// TestTableModel grows and shrinks dictionaries that were copied from one another, and so share a
// table of names, entry by entry: each keeps its own names in its own order.
func TestTableModel(t *testing.T) {
	for seed := range uint64(longtests.Times(8, 25)) {
		g := rand.New(rand.NewPCG(seed, 4))
		twins := []*twin{{tdict.New(), nil}}
		for i := range 300 {
			w := twins[g.IntN(len(twins))]
			about := fmt.Sprintf("seed %d, step %d: %s", seed, i, w.step(t, g, i/60%2 == 0))
			if g.IntN(20) == 0 {
				c := &twin{w.td.Copy(), slices.Clone(w.list)}
				if len(twins) < 4 {
					twins = append(twins, c)
				} else {
					twins[g.IntN(4)] = c
				}
			}
			for _, other := range twins {
				if other == w || i%10 == 0 {
					other.check(t, about)
				}
			}
		}
	}
}
