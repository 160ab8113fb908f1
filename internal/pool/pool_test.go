package pool_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/longtests"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestNames(t *testing.T) {
	tests := []struct {
		name         string
		part, counts bool
		leaf, flat   string // "" unless it is a part in a flat dictionary
	}{
		{"@pool", true, false, "", ""},
		{"@row", true, false, "", ""},
		{"@lengths", true, false, "", ""},
		{"@lengths2", true, false, "", ""},
		{"@lengths64", true, false, "", ""},
		{"@lengths1", false, true, "", ""},
		{"@lengths02", false, true, "", ""},
		{"@lengths65", false, true, "", ""},
		{"@lengths-2", false, true, "", ""},
		{"@lengths+2", false, true, "", ""},
		{"@lengths2 ", false, true, "", ""},
		{"@", false, true, "", ""},
		{"", false, true, "", ""},
		{"@pools", false, true, "", ""},
		{"x@pool", false, true, "", ""},
		{"@pool.x", false, true, "", ""},
		{"x.@pool", false, true, "x", "@pool"},
		{"x.y.@lengths3", false, true, "x.y", "@lengths3"},
		{"x.@row", false, true, "x", "@row"},
		{".@row", false, true, "", "@row"},
		{"@pool.@row", false, true, "@pool", "@row"},
		{"x.@rows", false, true, "", ""},
		{"x.@row.", false, true, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			leaf, part, flat := pool.Split(tt.name)
			require.Equal(t, tt.part, pool.IsPart(tt.name))
			require.Equal(t, tt.leaf, leaf)
			require.Equal(t, tt.flat, part)
			require.Equal(t, tt.flat != "", flat)
			require.Equal(t, tt.part || flat, pool.Reserved(tt.name))
			require.Equal(t, tt.counts, new(pool.Count).Adds(tt.name))
		})
	}
	for level := 1; level <= 64; level++ {
		require.Equal(t, level, pool.Level(pool.LengthsOf(level)))
	}
}

// TestCount: a flat ragged tensor counts once, and parts count if there are more of them than of
// the others.
func TestCount(t *testing.T) {
	var c pool.Count
	for _, tt := range []struct {
		name string
		adds bool
	}{
		{"x.@pool", true}, {"x.@row", false}, {"x.@lengths", false}, {"x.@lengths2", false}, {"x", true}, {"@pool", false},
		{"y.@row", true}, {"z.@row", true}, {"z.@pool", false}, {"y.@pool", false}, {"u.@pool", true},
	} {
		require.Equal(t, tt.adds, c.Adds(tt.name), tt.name)
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
	l, err := form.Layout(&pool.Layouts{}, func(name string, count int, each func([]int64) error) error {
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
	used, err := form.Used(l)
	require.NoError(t, err)
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

// TestAgainstPack compares what is written with an oracle, and reads it back.
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
		for _, p := range tensor.Must(pool.PiecesOf(x)) {
			var b bytes.Buffer
			switch p.Name {
			case pool.Values:
				_, err = tensor.Must(x.Values()).WriteTo(&b)
			case pool.Row:
				err = pool.WriteRows(&b, 0, len(rows), pool.TagIn(slices.Concat(append(want["@row"], []int64{0})...)[0]))
			default:
				err = pool.WriteLengths(&b, p.Offsets)
			}
			require.NoError(t, err)
			require.Equal(t, p.Used, b.Len(), p.Name)
			b.Write(make([]byte, p.Size-p.Used))
			require.Equal(t, cast.Bytes(slices.Concat(want[p.Name]...)), b.Bytes()[:b.Len():b.Len()], p.Name)
			require.Less(t, p.Size-p.Used, max(1, 8*len(rows)))
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
	sums := [][]uint32{{1, 2}, {}, {3}}
	require.Equal(t, pool.Tag(sums), pool.Tag([][]uint32{{1, 2}, nil, {3}}))
	seen := map[uint32]bool{}
	for _, s := range [][][]uint32{sums, {{1, 2, 4}}, {{2, 1, 3}}, {{1, 2, 3, 0}}, {}} {
		tag := pool.Tag(s)
		require.Less(t, tag, uint32(1<<31))
		require.False(t, seen[tag])
		seen[tag] = true
		require.Equal(t, tag, pool.TagIn(pool.Number(7, tag)))
		require.Positive(t, pool.Number(1<<32-1, tag))
	}
}

// TestNoLevels: a tensor without levels has lengths without elements, and a batch of any rank.
func TestNoLevels(t *testing.T) {
	for _, batch := range []shapeops.Shape{{3}, {0}, {}, {2, 2}} {
		l := tensor.Must(ragged.NewLayout(batch))
		x := tensor.Must(ragged.New(tensor.Must(tensor.Zeros[int8](batch.Size(), 2)), l))
		var parts []pool.Part
		for _, p := range tensor.Must(pool.PiecesOf(x)) {
			parts = append(parts, p.Part)
		}
		form := tensor.Must(pool.Check(parts, batch))
		require.Zero(t, form.Depth)
		require.Equal(t, x.Text(), form.Text())
		got := tensor.Must(form.Layout(&pool.Layouts{}, func(name string, n int, each func([]int64) error) error {
			require.Equal(t, pool.Row, name)
			rows := make([]int64, n)
			for i := range rows {
				rows[i] = int64(i)
			}
			return each(rows)
		}))
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

// FuzzLayout reads any numbers: the result is ErrCorrupt, or a layout whose lengths are the numbers.
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
		l, err := form.Layout(&pool.Layouts{}, func(name string, count int, each func([]int64) error) error {
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
		used := tensor.Must(form.Used(l))
		require.Equal(t, pool.Width(used[0], n), int(width))
		for i, want := range lengths {
			require.Equal(t, want, tensor.Must(l.Lengths(i+1)))
		}
	})
}
