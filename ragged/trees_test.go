package ragged_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// orchard returns a collection of several trees whose counts are so small that they often coincide.
func orchard(rng *rand.Rand) *joint.Joint {
	rows := 1 + rng.IntN(3)
	var fields []joint.Field
	for tree := range 1 + rng.IntN(3) {
		lengths := [][]int64{nil, nil}
		for range rows {
			n := rng.Int64N(3)
			lengths[0] = append(lengths[0], n)
			for range n {
				lengths[1] = append(lengths[1], rng.Int64N(3))
			}
		}
		l := tensor.Must(ragged.LayoutOf([]int{rows}, lengths...))
		for depth := range 3 {
			if rng.IntN(3) == 0 {
				continue
			}
			at := tensor.Must(l.At(depth))
			n := tensor.Must(at.NumRows(depth))
			values := make([]int16, n)
			for i := range values {
				values[i] = int16(rng.IntN(100))
			}
			x := tensor.Must(ragged.New(tensor.Vector(values...), at))
			fields = append(fields, joint.Field{Name: fmt.Sprint("t", tree, "d", depth), Tensor: x, Tree: fmt.Sprint(tree)})
		}
	}
	rng.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return tensor.Must(joint.New(fields...))
}

// Trees are told apart, however alike their counts are: the fields that Fields yields together are
// those that Tensor returns one by one, in parts too, and they add up to what was collected.
func TestTreesAreToldApart(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 6))
		j := orchard(rng)
		n, ok := j.Len()
		if !ok {
			continue
		}
		from := rng.IntN(n + 1)
		part := tensor.Must(j.Range(from, from+rng.IntN(n-from+1)))
		one := tensor.Must(j.Row(rng.IntN(n)))
		for _, x := range []*joint.Joint{j, part, one} {
			for f := range x.Fields() {
				require.True(t, tensor.Must(x.Tensor(f.Name)).Equal(f.Tensor), "seed %d: %s of %v", seed, f.Name, x)
			}
			require.True(t, x.Equal(x), "seed %d", seed)
		}
		halves := []*joint.Joint{tensor.Must(j.Range(0, from)), tensor.Must(j.Range(from, n))}
		require.Equal(t, "", tensor.Must(j.DiffWithin(tensor.Must(joint.Concat(halves, 0)), tensor.Tolerance{})), "seed %d", seed)
		var rows []*joint.Joint
		for i := range n {
			rows = append(rows, tensor.Must(j.Row(i)))
		}
		dense, whole := tensor.Must(joint.Collate(rows, ragged.DensifyOptions{})), tensor.Must(j.Densify(ragged.DensifyOptions{}))
		require.Equal(t, "", tensor.Must(whole.Diff(dense)), "seed %d", seed)
	}
}

// InTree says whose levels operations are about, and what is made of the result goes on with it.
func TestInTreeStays(t *testing.T) {
	days := tensor.Must(ragged.From[int8]([][]int8{{1, 2}, {3}}))
	notes := tensor.Must(ragged.From[int8]([][][]int8{{{4, 5}, {6}}, {{7}}}))
	j := tensor.Must(joint.New(joint.Field{Name: "day", Tensor: days}, joint.Field{Name: "note", Tensor: notes, Tree: "notes"}))
	flat := tensor.Must(j.InTree("notes").FlattenLevel(2, joint.Drop))
	cut := tensor.Must(flat.IndexLevel(1, ix.Range(0, 1)))
	require.Equal(t, [][]int8{{4}, {7}}, tensor.Must(ragged.Lists[int8](tensor.Must(cut.Tensor("note")))))
	require.Equal(t, [][]int8{{1, 2}, {3}}, tensor.Must(ragged.Lists[int8](tensor.Must(cut.Tensor("day")))))
}
