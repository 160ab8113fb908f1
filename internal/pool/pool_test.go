package pool_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestNames(t *testing.T) {
	tests := []struct {
		name       string
		part       bool
		leaf, flat string // "" unless it is a part in a flat dictionary
	}{
		{"@pool", true, "", ""},
		{"@row", true, "", ""},
		{"@lengths", true, "", ""},
		{"@lengths2", true, "", ""},
		{"@lengths64", true, "", ""},
		{"@lengths1", false, "", ""},
		{"@lengths02", false, "", ""},
		{"@lengths65", false, "", ""},
		{"@lengths-2", false, "", ""},
		{"@lengths+2", false, "", ""},
		{"@lengths2 ", false, "", ""},
		{"@", false, "", ""},
		{"", false, "", ""},
		{"@pools", false, "", ""},
		{"x@pool", false, "", ""},
		{"@pool.x", false, "", ""},
		{"x.@pool", false, "x", "@pool"},
		{"x.y.@lengths3", false, "x.y", "@lengths3"},
		{"x.@row", false, "x", "@row"},
		{".@row", false, "", "@row"},
		{"@pool.@row", false, "@pool", "@row"},
		{"x.@rows", false, "", ""},
		{"x.@row.", false, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			leaf, part, flat := pool.Split(tt.name)
			require.Equal(t, tt.part, pool.IsPart(tt.name))
			require.Equal(t, tt.leaf, leaf)
			require.Equal(t, tt.flat, part)
			require.Equal(t, tt.flat != "", flat)
			require.Equal(t, tt.part || flat, pool.Reserved(tt.name))
		})
	}
	require.Equal(t, 1, pool.Level("@lengths"))
	for level := 2; level <= 64; level++ {
		require.Equal(t, level, pool.Level(fmt.Sprint("@lengths", level)))
	}
}

// TestCounter: a ragged tensor counts once, whose parts follow each other.
func TestCounter(t *testing.T) {
	tests := []struct {
		names []string
		want  int
	}{
		{nil, 0},
		{[]string{"a", "b"}, 2},
		{[]string{"@lengths", "@pool", "@row"}, 0},
		{[]string{"a.@lengths", "a.@lengths2", "a.@pool", "a.@row"}, 1},
		{[]string{"a.@lengths", "b.@pool", "a.@row"}, 3},
		{[]string{"a.@pool", "a", "a.@row"}, 3},
		{[]string{".@pool", ".@row", "x"}, 2},
		{[]string{"x", ".@pool"}, 2},
		{[]string{"1.@pool", "2.@pool", "3.@pool"}, 3},
	}
	for _, tt := range tests {
		var c pool.Counter
		got := 0
		for _, name := range tt.names {
			if c.Counts(name) {
				got++
			}
		}
		require.Equal(t, tt.want, got, tt.names)
	}
	for _, name := range []string{"@pool", "x.@pool"} { // more than a leaf can have
		var c pool.Counter
		got := 0
		for range 10_000 {
			if c.Counts(name) {
				got++
			}
		}
		require.InDelta(t, 10_000/66, got, 2)
	}
}

func TestWidth(t *testing.T) {
	for rows := range 20 {
		for count := range 60 {
			want := 0 // the least width that holds count in rows
			for want*rows < count && rows > 0 {
				want++
			}
			require.Equal(t, want, pool.Width(count, rows))
		}
	}
	require.Equal(t, 1<<62, pool.Width(1<<63-1, 2))
}

// A saved is the parts of a ragged tensor of batch shape [N], as nested slices: one for each row.
type saved map[string][][]int64

// pack returns the parts of rows of the given depth, as the page says: it is an oracle.
func pack(rows []any, depth int, tag int64) saved {
	n := len(rows)
	spread := func(x []int64) [][]int64 {
		out := make([][]int64, n)
		w := 0
		for w*n < len(x) {
			w++
		}
		for i := range out {
			out[i] = make([]int64, w)
			for j := range out[i] {
				if at := i*w + j; at < len(x) {
					out[i][j] = x[at]
				}
			}
		}
		return out
	}
	p := saved{"@row": make([][]int64, n)}
	for i := range n {
		p["@row"][i] = []int64{int64(i) + tag<<32}
	}
	level := rows
	for k := 1; k <= depth; k++ {
		var lengths []int64
		var next []any
		for _, r := range level {
			lengths = append(lengths, int64(len(r.([]any))))
			next = append(next, r.([]any)...)
		}
		if k == 1 {
			p["@lengths"] = make([][]int64, n)
			for i := range n {
				p["@lengths"][i] = []int64{lengths[i]}
			}
		} else {
			p[fmt.Sprint("@lengths", k)] = spread(lengths)
		}
		level = next
	}
	var values []int64
	for _, v := range level {
		values = append(values, v.(int64))
	}
	p["@pool"] = spread(values)
	return p
}

// random returns rows of the given depth.
func random(rng *rand.Rand, n, depth int, next *int64) []any {
	rows := []any{}
	for range n {
		if depth == 0 {
			*next++
			rows = append(rows, *next)
		} else {
			rows = append(rows, random(rng, rng.IntN(4), depth-1, next))
		}
	}
	return rows
}

// unpack returns the rows of p by package pool, or its error.
func unpack(t *testing.T, p saved) ([]any, error) {
	t.Helper()
	var parts []pool.Part
	flat := map[string][]int64{}
	n := len(p["@row"])
	for name, rows := range p {
		shape := shapeops.Shape{n}
		if name != "@row" && name != "@lengths" {
			w := 0
			if n > 0 {
				w = len(rows[0])
			}
			shape = append(shape, w)
		}
		parts = append(parts, pool.Part{Name: name, DType: tensor.Int64, Shape: shape})
		flat[name] = slices.Concat(rows...)
	}
	form, err := pool.Check(parts, shapeops.Shape{n})
	require.NoError(t, err)
	l, used, err := form.Layout(&pool.Layouts{}, func(name string, count int, each func([]int64) error) error {
		numbers := flat[name]
		require.LessOrEqual(t, count, len(numbers), name)
		for count > 0 { // in pieces of several sizes
			some := min(count, 1+count/2)
			if err := each(numbers[:some]); err != nil {
				return err
			}
			numbers, count = numbers[some:], count-some
		}
		return nil
	})
	if err != nil {
		require.ErrorIs(t, err, fileformat.ErrCorrupt)
		return nil, err
	}
	x, err := ragged.New(tensor.Vector(flat["@pool"][:used[0]]...), l)
	require.NoError(t, err)
	return lists(t, x), nil
}

// lists returns x as nested lists, [] for no rows.
func lists(t *testing.T, x *ragged.Tensor) []any {
	t.Helper()
	var plain func(v reflect.Value) any
	plain = func(v reflect.Value) any {
		if v.Kind() != reflect.Slice {
			return v.Int()
		}
		out := []any{}
		for i := range v.Len() {
			out = append(out, plain(v.Index(i)))
		}
		return out
	}
	v, err := ragged.Lists[int64](x)
	require.NoError(t, err)
	return plain(reflect.ValueOf(v)).([]any)
}

// TestAgainstPack compares the written parts with an oracle, and reads them back.
func TestAgainstPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		depth, next := 1+rng.IntN(3), int64(0)
		rows := random(rng, rng.IntN(5), depth, &next)
		want := pack(rows, depth, int64(rng.Uint32()>>1))
		got, err := unpack(t, want)
		require.NoError(t, err)
		require.Equal(t, rows, got)

		x := build(t, rows, depth)
		for _, p := range tensor.Must(pool.PartsOf(x)) {
			var b bytes.Buffer
			tag := uint32(0)
			if len(rows) > 0 {
				tag = pool.TagIn(want["@row"][0][0])
			}
			require.NoError(t, pool.Write(&b, p.Name, x, 0, tag))
			require.Equal(t, p.Used, b.Len(), p.Name)
			b.Write(make([]byte, p.Size()-p.Used))
			require.Equal(t, cast.Bytes(slices.Concat(want[p.Name]...)), b.Bytes()[:b.Len():b.Len()], p.Name)
			require.Less(t, p.Size()-p.Used, max(1, 8*len(rows)))
		}
	}
}

// build returns the ragged tensor of rows.
func build(t *testing.T, rows []any, depth int) *ragged.Tensor {
	t.Helper()
	lengths := make([][]int64, depth)
	level := rows
	for k := range depth {
		var next []any
		lengths[k] = []int64{}
		for _, r := range level {
			lengths[k] = append(lengths[k], int64(len(r.([]any))))
			next = append(next, r.([]any)...)
		}
		level = next
	}
	values := []int64{}
	for _, v := range level {
		values = append(values, v.(int64))
	}
	return tensor.Must(ragged.New(tensor.Vector(values...), tensor.Must(ragged.LayoutOf(shapeops.Shape{len(rows)}, lengths...))))
}

// TestPickedAndJoined does with each part what Python does with tensors: it picks and joins rows of
// one or two saved leaves. The result is exactly these rows, or ErrCorrupt.
func TestPickedAndJoined(t *testing.T) {
	tries := 20_000
	if longtests.On() {
		tries = 400_000
	}
	rng := rand.New(rand.NewPCG(1, 2))
	refused, exact := 0, 0
	for range tries {
		depth, next := 1+rng.IntN(2), int64(0)
		a := random(rng, 1+rng.IntN(4), depth, &next)
		b := random(rng, 1+rng.IntN(4), depth, &next)
		if rng.IntN(4) == 0 { // the rows that follow
			b = slices.Concat(a, b)
		}
		pa, pb := pack(a, depth, int64(rng.Uint32()>>1)), pack(b, depth, int64(rng.Uint32()>>1))
		both, rows := saved{}, slices.Concat(a, b)
		for name := range pa {
			both[name] = slices.Concat(pa[name], pb[name])
		}
		var order []int
		switch rng.IntN(4) {
		case 0: // a range
			from := rng.IntN(len(rows))
			for i := from; i < len(rows)-rng.IntN(len(rows)-from); i++ {
				order = append(order, i)
			}
		case 1: // rows of a, some replaced by rows of b at the same place
			for i := range a {
				if order = append(order, i); i < len(b) && rng.IntN(2) == 0 {
					order[i] = len(a) + i
				}
			}
		case 2: // a, and the rest of b
			order = append(order, rng.Perm(len(a))...)
			slices.Sort(order)
			for i := len(a); i < len(b); i++ {
				order = append(order, len(a)+i)
			}
		default:
			for range rng.IntN(6) {
				order = append(order, rng.IntN(len(rows)))
			}
		}
		picked, want, even := saved{}, []any{}, true
		for _, i := range order {
			want = append(want, rows[i])
		}
		for name := range both {
			picked[name] = [][]int64{}
			for _, i := range order {
				picked[name] = append(picked[name], both[name][i])
				even = even && len(both[name][i]) == len(both[name][order[0]]) // otherwise torch raises
			}
		}
		if !even || len(order) == 0 {
			continue
		}
		got, err := unpack(t, picked)
		if err != nil {
			refused++
			continue
		}
		exact++
		require.Equal(t, want, got, "rows %v of %v", order, rows)
	}
	require.Greater(t, refused, tries/10)
	require.Greater(t, exact, tries/50)
}

// TestTag: equal sums have equal tags of 31 bits; each sum and its place count.
func TestTag(t *testing.T) {
	row := tensor.Must(ragged.From[int64]([][]int64{{1}}))
	seen := map[uint32]bool{}
	for _, s := range [][]uint32{{1, 2, 3}, {1, 2, 4}, {2, 1, 3}, {1, 2, 3, 0}, {}} {
		tag := pool.Tag(s)
		require.Less(t, tag, uint32(1<<31))
		require.False(t, seen[tag])
		seen[tag] = true
		for _, first := range []int{0, 7, 1<<32 - 1} {
			var b bytes.Buffer
			require.NoError(t, pool.Write(&b, pool.Row, row, first, tag))
			number := int64(binary.LittleEndian.Uint64(b.Bytes()))
			require.Equal(t, tag, pool.TagIn(number))
			require.Equal(t, int64(first), number&(1<<32-1))
			require.GreaterOrEqual(t, number, int64(0))
		}
	}
}

// TestNoLevels: a tensor without levels has lengths without elements, and a batch of any rank.
func TestNoLevels(t *testing.T) {
	for _, batch := range []shapeops.Shape{{3}, {0}, {}, {2, 2}} {
		l := tensor.Must(ragged.NewLayout(batch))
		x := tensor.Must(ragged.New(tensor.Must(tensor.Zeros[int8](batch.Size(), 2)), l))
		form := tensor.Must(pool.Check(tensor.Must(pool.PartsOf(x)), batch))
		require.Zero(t, form.Depth)
		require.Equal(t, x.Text(), form.Text())
		got, _, err := form.Layout(&pool.Layouts{}, func(name string, n int, each func([]int64) error) error {
			require.Equal(t, pool.Row, name)
			rows := make([]int64, n)
			for i := range rows {
				rows[i] = int64(i)
			}
			return each(rows)
		})
		require.NoError(t, err)
		require.True(t, l.Equal(got))
	}
}

// TestLayoutsAreShared: layouts of equal batches and lengths are one, at each level.
func TestLayoutsAreShared(t *testing.T) {
	var known pool.Layouts
	a := tensor.Must(known.Layout(shapeops.Shape{2}, []int64{0, 1, 3}, []int64{0, 2, 2, 5}))
	require.Same(t, a, tensor.Must(known.Layout(shapeops.Shape{2}, []int64{0, 1, 3}, []int64{0, 2, 2, 5})))
	require.Same(t, a.Outer(), tensor.Must(known.Layout(shapeops.Shape{2}, []int64{0, 1, 3})))
	require.Same(t, a.Outer(), tensor.Must(known.Layout(shapeops.Shape{2}, []int64{0, 1, 3}, []int64{0, 2, 3, 5})).Outer())
	require.NotSame(t, a.Outer().Outer(), tensor.Must(known.Layout(shapeops.Shape{2, 1})))
	require.NotSame(t, a.Outer(), tensor.Must(known.Layout(shapeops.Shape{2}, []int64{0, 2, 3})))
	_, err := known.Layout(shapeops.Shape{2}, []int64{0, 2, 1})
	require.ErrorIs(t, err, fileformat.ErrCorrupt)
	_, err = known.Layout(shapeops.Shape{-2})
	require.ErrorIs(t, err, fileformat.ErrCorrupt)
}

// FuzzLayout reads any numbers: the result is ErrCorrupt, or a layout whose lengths are the
// numbers.
func FuzzLayout(f *testing.F) {
	f.Add([]byte{1, 2, 0, 1, 1}, uint8(2), uint8(2), uint8(2), false)
	f.Add([]byte{1, 2, 1, 0, 3, 0, 0, 1, 1, 1}, uint8(2), uint8(2), uint8(2), true)
	f.Fuzz(func(t *testing.T, numbers []byte, rows, width, width2 uint8, two bool) {
		n := int(rows % 8)
		parts := []pool.Part{
			{Name: pool.Row, DType: tensor.Int64, Shape: shapeops.Shape{n}}, {Name: pool.Lengths, DType: tensor.Int64, Shape: shapeops.Shape{n}},
			{Name: pool.Values, DType: tensor.Int8, Shape: shapeops.Shape{n, int(width)}},
		}
		if two {
			parts = append(parts, pool.Part{Name: "@lengths2", DType: tensor.Int64, Shape: shapeops.Shape{n, int(width2)}})
		}
		form, err := pool.Check(parts, nil)
		require.NoError(t, err)
		var lengths [][]int64
		l, used, err := form.Layout(&pool.Layouts{}, func(name string, count int, each func([]int64) error) error {
			list := make([]int64, count)
			for i := range list {
				if len(numbers) > 0 {
					list[i], numbers = int64(int8(numbers[0])), numbers[1:]
				}
				if name == pool.Row {
					list[i] += int64(i)
				}
			}
			if name != pool.Row {
				lengths = append(lengths, list)
			}
			return each(list)
		})
		if err != nil {
			require.ErrorIs(t, err, fileformat.ErrCorrupt)
			return
		}
		require.Equal(t, pool.Width(used[0], n), int(width))
		for i, want := range lengths {
			require.Equal(t, want, tensor.Must(l.Lengths(i+1)))
		}
	})
}
