package memmap_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/internal/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A windowPart is the part of an index that is about one dim, and the positions that it takes.
type windowPart struct {
	text  string
	rows  []int
	drops bool // the dim
	list  bool // one that is paired with another
	wrong bool // outside the dim
}

// part returns a part for a dim of a size, chosen by numbers.
func (s *script) part(size int) (p windowPart) {
	within := func(i int) {
		if i < 0 {
			i += size
		}
		if i < 0 || i >= size {
			p.wrong = true
		}
		p.rows = append(p.rows, i)
	}
	numbers := func(n int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = s.next(2*size+1) - size
		}
		return list
	}
	switch s.next(6) {
	case 0:
		n := numbers(1)[0]
		within(n)
		p.text, p.drops = fmt.Sprint(n), true
	case 1:
		b := numbers(2)
		step := 1 + s.next(3)
		p.text = fmt.Sprintf(`["slice",{"start":%d,"stop":%d,"step":%d}]`, b[0], b[1], step)
		for i := range b {
			if b[i] < 0 {
				b[i] = max(b[i]+size, 0)
			}
		}
		for i := b[0]; i < min(b[1], size); i += step {
			p.rows = append(p.rows, i)
		}
	case 2:
		list := numbers(1 + s.next(4))
		for _, n := range list {
			within(n)
		}
		p.list, p.text = true, fmt.Sprintf(`["tensor",%s,"cpu"]`, jsonOf(list))
		if s.next(2) == 0 {
			p.text = fmt.Sprintf(`["list",%s]`, jsonOf(list))
		}
	case 3:
		bits := make([]bool, size)
		for i := range bits {
			if bits[i] = s.next(2) == 1; bits[i] {
				p.rows = append(p.rows, i)
			}
		}
		p.list, p.text = true, fmt.Sprintf(`["tensor",%s,"cpu"]`, jsonOf(bits))
	case 4:
		b := numbers(2)
		step := 1 + s.next(2)
		if b[0] > b[1] {
			step = -step
		}
		for i := b[0]; step > 0 && i < b[1] || step < 0 && i > b[1]; i += step {
			within(i)
		}
		p.list, p.text = true, fmt.Sprintf(`["range",{"start":%d,"stop":%d,"step":%d}]`, b[0], b[1], step)
	default:
		for i := range size {
			p.rows = append(p.rows, i)
		}
		p.text = `["slice",{"start":null,"stop":null,"step":null}]`
	}
	return p
}

// jsonOf returns a list as JSON.
func jsonOf[T any](list []T) string { return strings.ReplaceAll(fmt.Sprint(list), " ", ",") }

// window returns the shape and elements that parts for two dims take of a matrix in which row i,
// column j is 10*i + j. Two lists are paired, and must have the same length or one of them length
// 1.
func window(a, b windowPart) (shape []int, elements []int64, ok bool) {
	shape = []int{}
	if a.list && b.list {
		n := max(len(a.rows), len(b.rows))
		if min(len(a.rows), len(b.rows)) == 0 {
			n = 0
		}
		for _, p := range []*windowPart{&a, &b} {
			if len(p.rows) == 1 {
				p.rows = slices.Repeat(p.rows, n)
			}
			if len(p.rows) != n {
				return nil, nil, false
			}
		}
		for i := range n {
			elements = append(elements, int64(10*a.rows[i]+b.rows[i]))
		}
		return append(shape, n), elements, true
	}
	for _, p := range []windowPart{a, b} {
		if !p.drops {
			shape = append(shape, len(p.rows))
		}
	}
	for _, i := range a.rows {
		for _, j := range b.rows {
			elements = append(elements, int64(10*i+j))
		}
	}
	return shape, elements, true
}

// A matrixView is a directory for views of a dictionary [4 3] with the matrix x of window.
type matrixView string

func newMatrixView(t testing.TB) matrixView {
	dir := t.TempDir()
	x := []int64{}
	for i := range int64(4) {
		x = append(x, 10*i, 10*i+1, 10*i+2)
	}
	source := tdict.New(4, 3)
	require.NoError(t, source.Set("x", tensor.Must(tensor.From(x, 4, 3))))
	require.NoError(t, memmap.Save(filepath.Join(dir, "_source"), source))
	return matrixView(dir)
}

// open opens the view by an index.
func (dir matrixView) open(t *testing.T, index string, opt memmap.OpenOptions) (*memmap.Dataset, error) {
	write(t, string(dir), "meta.json", `{"_type":"<class 'tensordict._td._SubTensorDict'>","index":`+index+`}`)
	return memmap.OpenWith(string(dir), opt)
}

// check opens the view by the index that numbers choose, and compares it with loops.
func (dir matrixView) check(t *testing.T, numbers []byte) {
	s := script(numbers)
	open, tag := `["tuple",[`, `]]`
	if s.next(2) == 0 {
		open, tag = `[`, `]` // as before v0.14
	}
	lead, parts := s.next(3), []windowPart{s.part(4)}
	if s.next(4) > 0 {
		parts = append(parts, s.part(3))
	}
	texts := slices.Repeat([]string{"null"}, lead)
	for _, p := range parts {
		texts = append(texts, p.text)
	}
	if len(parts) == 1 {
		parts = append(parts, windowPart{rows: []int{0, 1, 2}})
		if s.next(2) == 0 {
			texts = append(texts, `["ellipsis"]`)
		}
	}
	index := open + strings.Join(texts, ",") + tag
	shape, elements, ok := window(parts[0], parts[1])
	ds, err := dir.open(t, index, memmap.OpenOptions{})
	if !ok || parts[0].wrong || parts[1].wrong {
		require.ErrorIs(t, err, memmap.ErrCorrupt, index)
		return
	}
	require.NoError(t, err, index)
	defer ds.Close()
	require.Equal(t, append(slices.Repeat([]int{1}, lead), shape...), []int(ds.Shape().Clone()), index)
	got := testkit.Elements[int64](t, tensor.Must(ds.Tensor("x")))
	require.True(t, slices.Equal(elements, got), "%s: got %v, want %v", index, got, elements)
}

// FuzzView reads views by indexes that numbers choose, and by texts, which take no more memory than
// MaxCopy lets them.
func FuzzView(f *testing.F) {
	f.Add([]byte{0, 1, 2, 1, 3, 4, 5, 1, 2, 3}, `["tuple",[["slice",{"start":1,"stop":3,"step":null}]]]`)
	f.Add([]byte{1, 0, 3, 1, 0, 1, 1, 3, 1, 0}, `["tuple",[["range",{"start":0,"stop":1000000000000,"step":1}]]]`)
	f.Add([]byte{1, 2, 4, 1, 8, 0, 1, 0, 2}, `[[[0,1],[2,3]],["tensor",[true,false,true],"cpu"]]`)
	f.Add([]byte{0, 0, 0, 9, 1}, `["tuple",[["ellipsis"],null,-1]]`)
	dir := newMatrixView(f)
	f.Fuzz(func(t *testing.T, numbers []byte, text string) {
		dir.check(t, numbers)
		var err error
		bytes := testkit.Allocated(func() {
			var ds *memmap.Dataset
			if ds, err = dir.open(t, text, memmap.OpenOptions{MaxCopy: 1 << 16}); err == nil {
				err = ds.Close()
			}
		})
		require.Less(t, bytes, uint64(8<<20)+64*uint64(len(text)))
		if _, ok := errors.AsType[*memmap.FileError](err); err != nil && !ok {
			t.Fatalf("unclassified error %v", err)
		}
	})
}

// Random indexes, as FuzzView reads.
func TestViewsAgainstLoops(t *testing.T) {
	rng, dir := processkit.Random(t), newMatrixView(t)
	for range 1000 {
		numbers := make([]byte, 24)
		for i := range numbers {
			numbers[i] = byte(rng.Uint32())
		}
		dir.check(t, numbers)
	}
}
