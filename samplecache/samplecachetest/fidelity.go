package samplecachetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// everything returns a random sample of more than a hundred leaves: all dtypes with ranks 0 to 8,
// some empty, some with deep keys.
func everything(k *kit, rng *rand.Rand) *tdict.TensorDict {
	k.Helper()
	td := tdict.New()
	for i, dtype := range tensor.DTypes() {
		for rank := range 9 {
			shape := make([]int, rank)
			for dim := range shape {
				shape[dim] = 1 + (i+dim)%3%2
			}
			if rank > 0 && (i+rank)%5 == 0 {
				shape[rank-1] = 0
			}
			key := nestedkey.Key(fmt.Sprintf("%s/%d", dtype, rank))
			if rank%2 == 0 {
				key = nestedkey.Key(fmt.Sprintf("a/b~1c/%d %s", rank, dtype))
			}
			k.must(td.Set(key, random(rng, dtype, shape)))
		}
	}
	return td
}

// random returns a tensor of random bits, which are booleans where they must be.
func random(rng *rand.Rand, dtype tensor.DType, shape []int) *tensor.Tensor {
	b := make([]byte, dtype.Size()*shapeops.Shape(shape).Size())
	for i := range b {
		if b[i] = byte(rng.Uint32()); dtype == tensor.Bool {
			b[i] &= 1
		}
	}
	return tensor.Must(tensor.FromBytes(dtype, b, shape...))
}

// fidelity checks W16: keys, dtypes, shapes and bytes are what was put, whichever way it was put
// and is read.
func fidelity(k *kit) {
	rng := rand.New(rand.NewPCG(1, 2))
	samples := []*tdict.TensorDict{everything(k, rng), everything(k, rng), everything(k, rng), everything(k, rng)}
	m := k.createOf(got(samples[0].ToMeta())(k), samplecache.Config{Samples: len(samples)}).join()
	k.sameLayout(m.Schema(), samples[0])
	p := m.producer("gen")
	k.must(p.Put(k.ctx, samples[0].SortKeys())) // the order of keys counts for nothing
	for _, sample := range samples[1:] {
		s := got(p.Reserve(k.ctx))(k)
		k.sameLayout(s.Sample(), sample)
		k.must(s.Sample().UpdateInPlace(sample))
		k.must(s.Commit(k.ctx))
	}
	g := m.latest()
	k.sameBytes(got(g.Fetch(k.ctx, []int{3, 0, 2, 1}, nil))(k), samples[3], samples[0], samples[2], samples[1])
	views, _, err := viewed(k.ctx, g, 1, 3)
	k.must(err)
	k.sameBytes(views, samples[1], samples[2])
	k.must(g.Close())
}

// sameLayout ends the test unless two dictionaries have the same keys, in the same order, dtypes
// and shapes.
func (k *kit) sameLayout(td, want *tdict.TensorDict) {
	k.Helper()
	layout := func(td *tdict.TensorDict) (text string) {
		for key, x := range td.Tensors() {
			text += fmt.Sprintf("%q: %v %v\n", key, x.DType(), x.Shape())
		}
		return text
	}
	equal(k, "leaves", layout(td), layout(want))
}

// sameBytes ends the test unless rows have the bytes of samples.
func (k *kit) sameBytes(rows *tdict.TensorDict, samples ...*tdict.TensorDict) {
	k.Helper()
	want := got(shapeops.Stack(samples, 0))(k)
	k.sameLayout(rows, want)
	for key, x := range rows.Tensors() {
		var a, b bytes.Buffer
		_ = got(x.WriteTo(&a))(k)
		_ = got(got(want.Tensor(key))(k).WriteTo(&b))(k)
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			k.Fatalf("%q: got bytes %x, want %x", key, a.Bytes(), b.Bytes())
		}
	}
}
