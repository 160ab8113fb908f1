package joint_test

import (
	"testing"

	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// A stretch is the values of one row in one field.
type stretch struct {
	field    int
	from, to int64
}

// stretches returns where the values of rows lie, field by field.
func stretches(b *testing.B, j *joint.Joint, rows []int) (values [][]int64, parts []stretch) {
	i := 0
	for f := range j.Fields() {
		values = append(values, tensor.Must(tensor.Of[int64](tensor.Must(f.Tensor.Values()))))
		ends := tensor.Must(f.Tensor.Layout().Offsets(1))
		for level := 2; level <= f.Tensor.Depth(); level++ {
			inner, composed := tensor.Must(f.Tensor.Layout().Offsets(level)), make([]int64, len(ends))
			for i, end := range ends {
				composed[i] = inner[end]
			}
			ends = composed
		}
		for _, row := range rows {
			parts = append(parts, stretch{i, ends[row], ends[row+1]})
		}
		i++
	}
	return values, parts
}

// copied is the copy loop that moves of whole rows are compared with.
func copied(values [][]int64, parts []stretch) [][]int64 {
	out := make([][]int64, len(values))
	for i := range out {
		n := int64(0)
		for _, p := range parts {
			if p.field == i {
				n += p.to - p.from
			}
		}
		out[i] = make([]int64, n)
	}
	at := make([]int64, len(values))
	for _, p := range parts {
		at[p.field] += int64(copy(out[p.field][at[p.field]:], values[p.field][p.from:p.to]))
	}
	return out
}

// Take of 64 of 1,250 rows, three fields of one tree, with the codes of the small and of the large
// collection.
func BenchmarkTake(b *testing.B) {
	for _, c := range []struct {
		name string
		j    *joint.Joint
	}{{"small", small(b)}, {"mimic", mimic(b)}} {
		rows := rows64()
		b.Run("data="+c.name+"/how=take", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.j.Index(ix.Take(rows...)); err != nil {
					b.Fatal(err)
				}
			}
		})
		values, parts := stretches(b, c.j, rows)
		b.Run("data="+c.name+"/how=copy", func(b *testing.B) {
			for b.Loop() {
				copied(values, parts)
			}
		})
		b.Run("data="+c.name+"/how=into", func(b *testing.B) {
			x := tensor.Must(c.j.Tensor("dim_2_1"))
			dst := tensor.Must(x.TakeRows(rows...))
			for b.Loop() {
				if err := x.IndexInto(dst, ix.Take(rows...)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Cat of 64 collections of 20 rows each.
func BenchmarkConcat(b *testing.B) {
	j := mimic(b)
	var parts []*joint.Joint
	var all []int
	for i := range 64 {
		part, err := j.Range(i*19, (i+1)*19)
		if err != nil {
			b.Fatal(err)
		}
		parts = append(parts, part)
	}
	for i := range 64 * 19 {
		all = append(all, i)
	}
	b.Run("how=concat", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := joint.Concat(parts, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
	x := tensor.Must(j.Tensor("dim_2_1"))
	xs := tensor.Must(shapeops.SplitBy(x, 0, 20))
	b.Run("how=cat", func(b *testing.B) {
		for b.Loop() {
			if _, err := shapeops.Cat(xs, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
	values, stretched := stretches(b, j, all)
	b.Run("how=copy", func(b *testing.B) {
		for b.Loop() {
			copied(values, stretched)
		}
	})
}
