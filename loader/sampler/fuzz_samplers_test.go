package sampler_test

import (
	"slices"
	"testing"

	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/tensor"
)

// A program is bytes that say how samplers are put together.
type program []byte

// next takes a number below n.
func (p *program) next(n int) int {
	if len(*p) == 0 {
		return 0
	}
	x := int((*p)[0]) % n
	*p = (*p)[1:]
	return x
}

// sampler returns a sampler of n units, or nil if what the bytes say cannot be made.
func (p *program) sampler(n, depth int) sampler.Sampler {
	kind := p.next(11)
	if depth == 0 {
		kind %= 7
	}
	var s sampler.Sampler
	switch kind {
	case 0:
		return sampler.Sequential()
	case 1, 2:
		return sampler.Random()
	case 3:
		return sampler.Blocks(sampler.BlockOptions{BlockBytes: 1 + p.next(60), WindowBytes: 1 + p.next(200)})
	case 4:
		w := make([]float64, n)
		for i := range w {
			w[i] = float64(p.next(4))
		}
		s, _ = sampler.Weighted(w, sampler.WeightedOptions{Draws: p.next(2 * n), WithoutReplacement: p.next(2) == 1})
	case 5, 6:
		of := make([]int8, n)
		for i := range of {
			of[i] = int8(p.next(4))
		}
		s, _ = sampler.Stratified(tensor.Vector(of...), sampler.StratifiedOptions{Balanced: kind == 5})
	case 7:
		list := make([]int, 1+p.next(20))
		for i := range list {
			list[i] = p.next(n)
		}
		s, _ = sampler.Among(list, p.sampler(len(list), depth-1))
	case 8:
		share := sampler.Share{World: p.next(4), Drop: p.next(2) == 1}
		s, _ = sampler.Shard(p.sampler(n, depth-1), share)
	case 9:
		return sampler.Endless(p.sampler(n, depth-1))
	case 10:
		a := 1 + p.next(n)
		parts := []sampler.Part{{Units: a, Weight: 1 + p.next(5), Sampler: p.sampler(a, depth-1)}}
		if a < n {
			parts = append(parts, sampler.Part{Units: n - a, Weight: 1 + p.next(5), Sampler: p.sampler(n-a, depth-1)})
		}
		s, _ = sampler.Mixture(parts, sampler.MixtureOptions{Draws: p.next(3 * n)})
	}
	return s
}

// FuzzSamplers puts samplers together at random, and compares orders with themselves, in pieces.
func FuzzSamplers(f *testing.F) {
	for kind := range byte(11) {
		f.Add([]byte{20, 1, kind, 1, 2, 3, 4, 5, 6, 7, 8, 9}, uint64(1))
		f.Add([]byte{7, 3, 8, 2, 0, 9, kind, 1, 4, 3, 2}, uint64(2))
		f.Add([]byte{31, 2, 10, 5, 1, kind, 9, 3, 2, kind, 1, 1}, uint64(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		p := program(b)
		n := 1 + p.next(40)
		e := sampler.Epoch{Units: n, UnitBytes: 1 + p.next(30), Seed: seed, Number: seed >> 60}
		s := p.sampler(n, 3)
		if s == nil {
			return
		}
		o, err := s.Order(e)
		if err != nil {
			return
		}
		length := min(o.Len(), 3*n+5)
		want := o.AppendTo([]int{}, 0, length)
		if len(want) != length || slices.Min(append(want, 0)) < 0 {
			t.Fatalf("%v: got %v, want %d units", s, want, length)
		}
		again, err := s.Order(e)
		if err != nil || again.Len() != o.Len() {
			t.Fatalf("%v: got another order, %v", s, err)
		}
		for stop := length; stop > 0; {
			start := max(0, stop-1-p.next(9))
			if got := again.AppendTo(nil, start, stop); !slices.Equal(got, want[start:stop]) {
				t.Fatalf("%v: got %v from %d on, want %v", s, got, start, want[start:stop])
			}
			stop = start
		}
	})
}
