package samplecachetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A field is a leaf of which samples are made.
type field struct {
	key   nestedkey.Key
	dtype tensor.DType
	shape []int
}

// fields are more than a hundred: all dtypes with ranks 0 to 8, some empty, some with deep keys.
func fields() (all []field) {
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
			all = append(all, field{key, dtype, shape})
		}
	}
	return all
}

// random returns a tensor of random bits, which are booleans where they must be.
func (f *field) random(rng *rand.Rand) *tensor.Tensor {
	n := f.dtype.Size()
	for _, dim := range f.shape {
		n *= dim
	}
	b := make([]byte, n)
	for i := range b {
		if b[i] = byte(rng.Uint32()); f.dtype == tensor.Bool {
			b[i] &= 1
		}
	}
	return tensor.Must(tensor.FromBytes(f.dtype, b, f.shape...))
}

// everything returns a random sample of all fields.
func everything(rng *rand.Rand) *tdict.TensorDict {
	td := tdict.New()
	for _, f := range fields() {
		if err := td.Set(f.key, f.random(rng)); err != nil {
			panic(fmt.Sprintf("samplecachetest: impossible: %v", err)) // all keys differ
		}
	}
	return td
}

// fidelity checks W16: keys, dtypes, shapes and bytes are what was put, whichever way it was put
// and is read.
func fidelity(k *kit) {
	rng := rand.New(rand.NewPCG(1, 2))
	samples := []*tdict.TensorDict{everything(rng), everything(rng), everything(rng), everything(rng)}
	c := k.createOf(got(samples[0].ToMeta())(k), samplecache.Config{Samples: len(samples)}).join()
	k.sameLayout(c.Schema(), samples[0])
	p := k.producer(c, "gen")
	for i, sample := range samples {
		switch i % 2 {
		case 0:
			k.must(p.Put(k.ctx, sample.SortKeys())) // the order of keys counts for nothing
		case 1:
			s := got(p.Reserve(k.ctx))(k)
			k.sameLayout(s.Sample(), sample)
			k.must(s.Sample().UpdateInPlace(sample))
			k.must(s.Commit(k.ctx))
		}
	}
	g := got(c.Latest(k.ctx))(k)
	rows := got(g.Fetch(k.ctx, []int{3, 0, 2, 1}, nil))(k)
	views := got(g.Slice(1, 3))(k)
	for key := range samples[0].Leaves() {
		k.sameBytes(key, rows, samples[3], samples[0], samples[2], samples[1])
		k.sameBytes(key, views, samples[1], samples[2])
	}
	k.must(g.Close())
}

// sameLayout ends the test unless two samples have the same keys, in the same order, dtypes and
// shapes.
func (k *kit) sameLayout(td, want *tdict.TensorDict) {
	k.Helper()
	if keys, all := leafKeys(td), leafKeys(want); !slices.Equal(keys, all) {
		k.Fatalf("got keys %q, want %q", keys, all)
	}
	for key, x := range want.Tensors() {
		y := got(td.Tensor(key))(k)
		equal(k, fmt.Sprintf("%q", key), fmt.Sprint(y.DType(), y.Shape()), fmt.Sprint(x.DType(), x.Shape()))
	}
}

// leafKeys returns the keys of the leaves of td.
func leafKeys(td *tdict.TensorDict) (keys []nestedkey.Key) {
	for key := range td.Leaves() {
		keys = append(keys, key)
	}
	return keys
}

// sameBytes ends the test unless the rows of a leaf have the bytes of those of samples.
func (k *kit) sameBytes(key nestedkey.Key, rows *tdict.TensorDict, samples ...*tdict.TensorDict) {
	k.Helper()
	x := got(rows.Tensor(key))(k)
	var all, want bytes.Buffer
	_ = got(x.WriteTo(&all))(k)
	for _, sample := range samples {
		y := got(sample.Tensor(key))(k)
		_ = got(y.WriteTo(&want))(k)
		equal(k, fmt.Sprintf("%q", key), fmt.Sprint(x.DType(), x.Shape()), fmt.Sprint(y.DType(), append([]int{len(samples)}, y.Shape()...)))
	}
	if !bytes.Equal(all.Bytes(), want.Bytes()) {
		k.Fatalf("%q: got bytes %x, want %x", key, all.Bytes(), want.Bytes())
	}
}
