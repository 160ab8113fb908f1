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

// shapes are shapes of ranks 0 to 8.
var shapes = [][]int{
	{}, {3}, {2, 0}, {1, 2, 2}, {2, 1, 1, 2}, {0, 1, 2, 1, 1}, {1, 1, 2, 1, 1, 2}, {2, 1, 1, 2, 1, 1, 2}, {1, 2, 1, 1, 2, 1, 1, 2},
}

// everything returns a random sample of more than a hundred leaves: all dtypes and ranks, some
// without elements, some with deep keys.
func (k *kit) everything(rng *rand.Rand) *tdict.TensorDict {
	td := tdict.New()
	for _, dtype := range tensor.DTypes() {
		for rank, shape := range shapes {
			key := nestedkey.Key(fmt.Sprintf("%s/%d", dtype, rank))
			if rank%2 == 0 {
				key = nestedkey.Key(fmt.Sprintf("a/b~1c/%d %s", rank, dtype))
			}
			k.must(td.Set(key, random(rng, dtype, shape)))
		}
	}
	return td
}

// random returns a tensor of random bits. Bools are valid.
func random(rng *rand.Rand, dtype tensor.DType, shape []int) *tensor.Tensor {
	b := make([]byte, dtype.Size()*shapeops.Shape(shape).Size())
	for i := range b {
		if b[i] = byte(rng.Uint32()); dtype == tensor.Bool {
			b[i] &= 1
		}
	}
	return tensor.Must(tensor.FromBytes(dtype, b, shape...))
}

// fidelity checks W16: keys, dtypes, shapes and bytes come back unchanged, for each way to put and
// to read.
func fidelity(k *kit) {
	rng := rand.New(rand.NewPCG(1, 2))
	var samples []*tdict.TensorDict
	for range 4 {
		samples = append(samples, k.everything(rng))
	}
	m := k.createOf(got(samples[0].ToMeta())(k), samplecache.Config{Samples: len(samples)}).join()
	p := m.producer("gen")
	k.must(p.Put(k.ctx, samples[0].SortKeys())) // the order of keys does not matter
	for _, sample := range samples[1:] {
		s := got(p.Reserve(k.ctx))(k)
		k.must(s.Sample().UpdateInPlace(sample))
		k.must(s.Commit(k.ctx))
	}
	g := m.latest()
	k.sameBytes(got(g.Fetch(k.ctx, []int{3, 0, 2, 1}, nil))(k), samples[3], samples[0], samples[2], samples[1])
	k.sameBytes(k.views(g, 1, 3), samples[1], samples[2])
	k.must(g.Close())
}

// sameBytes ends the test unless rows has the samples: keys, their order, dtypes, shapes, and
// bytes.
func (k *kit) sameBytes(rows *tdict.TensorDict, samples ...*tdict.TensorDict) {
	k.Helper()
	all := func(td *tdict.TensorDict) (leaves []string) {
		for key, x := range td.Tensors() {
			var b bytes.Buffer
			_ = got(x.WriteTo(&b))(k)
			leaves = append(leaves, fmt.Sprintf("%q: %v %v %x", key, x.DType(), x.Shape(), b.Bytes()))
		}
		return leaves
	}
	want := all(got(shapeops.Stack(samples, 0))(k))
	equal(k, "leaves", len(all(rows)), len(want))
	for i, leaf := range all(rows) {
		equal(k, "a leaf", leaf, want[i])
	}
}
