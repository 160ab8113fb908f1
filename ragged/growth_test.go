package ragged_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// grown returns a collection of n rows, of so many levels and fields. Rows of level 1 have per
// rows, those of deeper levels one or none.
func grown(n, per, depth, fields int) *joint.Joint {
	lengths := make([][]int64, depth)
	for level, rows := 0, n; level < depth; level++ {
		most := 1
		if level == 0 {
			most = per
		}
		sum := 0
		for i := range rows {
			k := most - i%2*(most-most/2)
			lengths[level] = append(lengths[level], int64(k))
			sum += k
		}
		rows = sum
	}
	l := tensor.Must(ragged.LayoutOf(shapeops.Shape{n}, lengths...))
	var all []joint.Field
	for f := range fields {
		at := tensor.Must(l.At(depth - f%depth))
		values := tensor.Must(tensor.Zeros[int64](tensor.Must(at.NumRows(-1))))
		all = append(all, joint.Field{Name: fmt.Sprint("f", f), Tensor: tensor.Must(ragged.New(values, at))})
	}
	return tensor.Must(joint.New(all...))
}

// growing are operations on a collection, of which a row of each level is touched.
var growing = []struct {
	name string
	run  func(j *joint.Joint, x *ragged.Tensor) error
}{
	{"join", func(j *joint.Joint, _ *ragged.Tensor) error {
		var all []joint.Field
		for f := range j.Fields() {
			all = append(all, f)
		}
		return testkit.Err(joint.New(all...))
	}},
	{"take", func(j *joint.Joint, _ *ragged.Tensor) error {
		n, _ := j.Len()
		return testkit.Err(j.Index(ix.Take(rand.New(rand.NewPCG(1, 2)).Perm(n)...)))
	}},
	{"step", func(j *joint.Joint, _ *ragged.Tensor) error {
		return testkit.Err(j.Index(ix.Range(0, ix.End).Step(2)))
	}},
	{"cut", func(j *joint.Joint, _ *ragged.Tensor) error {
		return testkit.Err(j.IndexLevel(1, ix.Range(-2, ix.End)))
	}},
	{"masked select", func(j *joint.Joint, x *ragged.Tensor) error {
		mask, err := x.MapValues(func(v *tensor.Tensor) (*tensor.Tensor, error) { return arith.Equal(v, 0) })
		if err != nil {
			return err
		}
		return testkit.Err(j.MaskedSelect(mask))
	}},
	{"sort", func(j *joint.Joint, _ *ragged.Tensor) error {
		order, err := tensor.Must(j.Tensor("f0")).ArgSort(arith.SortOptions{})
		if err != nil {
			return err
		}
		return testkit.Err(j.Pick(order))
	}},
	{"flatten", func(j *joint.Joint, _ *ragged.Tensor) error { return testkit.Err(j.FlattenLevel(1, joint.Repeat)) }},
	{"concat joints", func(j *joint.Joint, _ *ragged.Tensor) error {
		return testkit.Err(joint.Concat([]*joint.Joint{j, j}, 0))
	}},
	{"vstack of rows", func(j *joint.Joint, _ *ragged.Tensor) error {
		n, _ := j.Len()
		all := make([]*joint.Joint, min(n, 300))
		for i := range all {
			all[i] = tensor.Must(j.Row(i * (n / len(all))))
		}
		return testkit.Err(joint.Vstack(all))
	}},
	{"concat", func(_ *joint.Joint, x *ragged.Tensor) error {
		return testkit.Err(ragged.ConcatLevel([]*ragged.Tensor{x, x, x}, -1))
	}},
	{"stack", func(_ *joint.Joint, x *ragged.Tensor) error {
		return testkit.Err(shapeops.Stack([]*ragged.Tensor{x, x, x}, 0))
	}},
	{"reduce", func(_ *joint.Joint, x *ragged.Tensor) error {
		return testkit.Err(x.Reduce(1, arith.Sum[*tensor.Tensor]))
	}},
	{"set index", func(_ *joint.Joint, x *ragged.Tensor) error {
		y, err := x.Clone()
		if err != nil {
			return err
		}
		part, err := x.Range(0, 1)
		if err != nil {
			return err
		}
		return y.SetIndex(part, ix.All)
	}},
	{"densify", func(j *joint.Joint, _ *ragged.Tensor) error {
		return testkit.Err(j.Densify(ragged.DensifyOptions{Masks: "masks"}))
	}},
}

// What is done to many rows, values, levels or fields allocates in proportion to them. Twice as
// much is the room that lists need that grow by appending.
func TestGrowth(t *testing.T) {
	type sides struct {
		name        string
		small, tall func() *joint.Joint
		ratio       float64
	}
	ways := []sides{
		{"rows", func() *joint.Joint { return grown(1_000, 4, 2, 3) }, func() *joint.Joint { return grown(10_000, 4, 2, 3) }, 20},
		{"more rows", func() *joint.Joint { return grown(1_000, 4, 2, 3) }, func() *joint.Joint { return grown(100_000, 4, 2, 3) }, 200},
		{"values", func() *joint.Joint { return grown(100, 10, 1, 3) }, func() *joint.Joint { return grown(100, 1_000, 1, 3) }, 200},
		{"levels", func() *joint.Joint { return grown(3_000, 2, 1, 1) }, func() *joint.Joint { return grown(3_000, 2, 5, 1) }, 8},
		{"fields", func() *joint.Joint { return grown(30, 2, 2, 30) }, func() *joint.Joint { return grown(30, 2, 2, 300) }, 20},
	}
	for _, way := range ways {
		small, tall := way.small(), way.tall()
		for _, op := range growing {
			t.Run(way.name+"/"+op.name, func(t *testing.T) {
				on := func(j *joint.Joint) func() {
					x := tensor.Must(j.Tensor("f0"))
					return func() { require.NoError(t, op.run(j, x)) }
				}
				on(small)() // what is made once
				testkit.Near(t, way.ratio, on(small), on(tall))
			})
		}
	}
}

// allocations returns how often fn allocates.
func allocations(t *testing.T, fn func() error) float64 {
	t.Helper()
	return testing.AllocsPerRun(20, func() { require.NoError(t, fn()) })
}

// Going to rows takes constant time and memory, whatever lies below.
func TestRowAllocations(t *testing.T) {
	for _, n := range []int{100, 10_000} {
		j := grown(n, 4, 2, 3)
		require.Equal(t, 1.0, allocations(t, func() error { return testkit.Err(j.Row(n / 2)) }), "a row")
		require.Equal(t, 2.0, allocations(t, func() error {
			row, err := j.Row(n / 2)
			if err != nil {
				return err
			}
			return testkit.Err(row.Range(1, ix.End))
		}), "a range of a row")
		require.Equal(t, 1.0, allocations(t, func() error { return testkit.Err(j.Range(1, n-1)) }), "a range")
	}
}

// How often rows that are taken allocate does not depend on how much is in them.
func TestTakeAllocations(t *testing.T) {
	rows := rand.New(rand.NewPCG(5, 6)).Perm(200)[:64]
	take := func(per int) float64 {
		j := grown(200, per, 2, 3)
		return allocations(t, func() error { return testkit.Err(j.Index(ix.Take(rows...))) })
	}
	require.Equal(t, take(2), take(200))
}

// Padding into a Buffer allocates nothing for elements.
func TestBufferAllocations(t *testing.T) {
	count := func(per int) (times float64, bytes uint64) {
		j, opt := grown(64, per, 1, 3), ragged.DensifyOptions{Buffer: new(ragged.Buffer), Masks: "masks", Workers: 1}
		pad := func() error { return testkit.Err(j.Densify(opt)) }
		times = allocations(t, pad)
		return times, testkit.Allocated(func() { require.NoError(t, pad()) })
	}
	fewTimes, few := count(2)
	manyTimes, many := count(2_000)
	require.InDelta(t, fewTimes, manyTimes, 4) // of the race detector
	require.Less(t, many, few+4096, "bytes")
}

// What fields share of a layout is worked out once: a further field costs its values, one byte
// each, and not its offsets, eight bytes each.
func TestLayoutsAreWorkedOutOnce(t *testing.T) {
	const rows = 20_000
	offsets := make([]int64, rows+1)
	for i := range offsets {
		offsets[i] = int64(i)
	}
	l := tensor.Must(ragged.NewLayout(shapeops.Shape{rows}, offsets, offsets))
	of := func(fields int) *joint.Joint {
		var all []joint.Field
		for f := range fields {
			x := tensor.Must(ragged.New(tensor.Must(tensor.Zeros[uint8](rows)), l))
			all = append(all, joint.Field{Name: fmt.Sprint("f", f), Tensor: x})
		}
		return tensor.Must(joint.New(all...))
	}
	few, many := of(1), of(21)
	for _, op := range growing {
		switch op.name {
		case "concat", "stack", "reduce", "set index", "densify", "vstack of rows", "masked select":
			continue // of one field, or what costs more than values
		}
		t.Run(op.name, func(t *testing.T) {
			on := func(j *joint.Joint) uint64 {
				return testkit.Allocated(func() { require.NoError(t, op.run(j, nil)) })
			}
			on(few)
			require.Less(t, on(many)-on(few), uint64(20*3*rows), "bytes of 20 further fields")
		})
	}
}
