package joint_test

import (
	"math/rand/v2"
	"testing"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
)

// mimic returns patients whose numbers of events and codes are about those of the data that the
// original was measured on: 170 events of at most 256, and 37 codes.
func mimic(b testing.TB) *joint.Joint {
	rng := rand.New(rand.NewPCG(7, 8))
	quantile := func(q []int, p []float64) func() int {
		return func() int {
			u := rng.Float64()
			for i := 1; i < len(p); i++ {
				if u <= p[i] {
					return q[i-1] + int(float64(q[i]-q[i-1])*(u-p[i-1])/(p[i]-p[i-1]))
				}
			}
			return q[len(q)-1]
		}
	}
	return patients(b, 1250,
		quantile([]int{23, 62, 103, 163, 279, 615, 1021, 1667, 2998}, []float64{0, .05, .25, .5, .75, .95, .99, .999, 1}),
		quantile([]int{3, 5, 17, 28, 46, 97, 151, 235, 1626}, []float64{0, .05, .25, .5, .75, .95, .99, .999, 1}))
}

func batch64(b *testing.B, j *joint.Joint, rng *rand.Rand) []*joint.Joint {
	var items []*joint.Joint
	for _, i := range rng.Perm(1250)[:64] {
		r, err := j.Row(i)
		if err != nil {
			b.Fatal(err)
		}
		n, _ := r.Len()
		st := 0
		if n > 256 {
			st = rng.IntN(n - 256)
		}
		if r, err = r.Range(st, st+256); err != nil {
			b.Fatal(err)
		}
		items = append(items, r)
	}
	return items
}

func BenchmarkCollate(b *testing.B) {
	j := mimic(b)
	rng := rand.New(rand.NewPCG(9, 10))
	items := batch64(b, j, rng)
	var buf ragged.Buffer
	d, err := joint.Collate(items, ragged.DensifyOptions{Buffer: &buf, Masks: "masks"})
	if err != nil {
		b.Fatal(err)
	}
	bytes := 0
	for _, x := range d.Tensors() {
		bytes += x.ByteSize()
	}
	b.Run("what=collate", func(b *testing.B) {
		b.SetBytes(int64(bytes))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := joint.Collate(items, ragged.DensifyOptions{Buffer: &buf}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("what=masks", func(b *testing.B) {
		b.SetBytes(int64(bytes))
		for b.Loop() {
			if _, err := joint.Collate(items, ragged.DensifyOptions{Buffer: &buf, Masks: "masks"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("what=setcopy", func(b *testing.B) {
		dst := make([]byte, bytes)
		src := make([]byte, bytes/6)
		b.SetBytes(int64(bytes))
		for b.Loop() {
			clear(dst)
			for at := 0; at+len(src) <= len(dst)/6; at += len(src) {
				copy(dst[at:], src)
			}
			copy(dst, src)
		}
	})
}
