package joint_test

import (
	"math/rand/v2"
	"testing"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tensor"
)

// patients returns a collection of n patients, with events and codes whose numbers are drawn.
func patients(b testing.TB, n int, events, codes func() int) *joint.Joint {
	rng := rand.New(rand.NewPCG(1, 2))
	var perPatient, perEvent []int64
	total := 0
	for range n {
		k := events()
		perPatient = append(perPatient, int64(k))
		for range k {
			c := codes()
			total += c
			perEvent = append(perEvent, int64(c))
		}
	}
	make64 := func(n int) *tensor.Tensor {
		v := make([]int64, n)
		for i := range v {
			v[i] = rng.Int64N(100)
		}
		return tensor.Vector(v...)
	}
	l := tensor.Must(ragged.LayoutOf([]int{n}, perPatient, perEvent))
	j, err := joint.New(
		joint.Field{Name: "dim_1", Tensor: tensor.Must(ragged.New(make64(len(perEvent)), l.Outer()))},
		joint.Field{Name: "dim_2_1", Tensor: tensor.Must(ragged.New(make64(total), l))},
		joint.Field{Name: "dim_2_2", Tensor: tensor.Must(ragged.New(make64(total), l))},
	)
	if err != nil {
		b.Fatal(err)
	}
	return j
}

func small(b testing.TB) *joint.Joint {
	rng := rand.New(rand.NewPCG(3, 4))
	return patients(b, 1250, func() int { return 5 + rng.IntN(196) }, func() int { return 1 + rng.IntN(20) })
}

func BenchmarkRow(b *testing.B) {
	j := small(b)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		r, err := j.Row(i % 1250)
		if err == nil {
			r, err = r.Range(0, 100)
		}
		if err != nil || r == nil {
			b.Fatal(err)
		}
		i++
	}
}

func rows64() []int {
	rng := rand.New(rand.NewPCG(5, 6))
	return rng.Perm(1250)[:64]
}

func BenchmarkDensify(b *testing.B) {
	j := small(b)
	x := tensor.Must(j.Tensor("dim_2_1"))
	rows := rows64()
	b.Run("buffer=reused", func(b *testing.B) {
		opt := ragged.DensifyOptions{Rows: rows, Widths: []int{200, 20}, Buffer: new(ragged.Buffer)}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := x.Densify(opt); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("buffer=fresh", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Densify(ragged.DensifyOptions{Rows: rows, Widths: []int{200, 20}}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
