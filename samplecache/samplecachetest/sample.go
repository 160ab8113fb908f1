package samplecachetest

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// An id identifies a sample: a hash of the producer's name in the upper 32 bits, and the number in
// the lower 32 bits. The elements of the sample are computed from it.
type id uint64

// idOf returns the id of the sample with a number of a producer.
func idOf(name string, number uint64) id {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return id(h.Sum32())<<32 | id(number)
}

// bodyBytes is how many bytes of a sample are made of its id.
const bodyBytes = 300

func (i id) body() []byte {
	b := make([]byte, bodyBytes)
	rng := rand.New(rand.NewPCG(uint64(i), 0))
	for at := range b {
		b[at] = byte(rng.Uint32())
	}
	return b
}

// sample returns the sample with id i.
func (i id) sample() *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"body":         tensor.Must(tensor.From(i.body(), 3, bodyBytes/3)),
		"from/number":  tensor.Scalar(uint64(i)),
		"from/nothing": tensor.Must(tensor.New(tensor.Float32, 0, 2)),
	}))
}

// read returns the ids of the rows of a dictionary. It ends the test if a row is not whole.
func (k *kit) read(td *tdict.TensorDict) (ids []id) {
	k.Helper()
	bodies := got(tdict.Slice[uint8](td, "body"))(k)
	for row, number := range got(tdict.Slice[uint64](td, "from/number"))(k) {
		ids = append(ids, id(number))
		if !slices.Equal(bodies[row*bodyBytes:][:bodyBytes], id(number).body()) {
			k.fatalf("row %d: torn: the number is %#x, and the body is of another sample", row, number)
		}
	}
	return ids
}

// write writes the sample of a slot.
func (k *kit) write(s *samplecache.Slot, name string) {
	k.Helper()
	k.must(s.Sample().UpdateInPlace(idOf(name, s.Number()).sample()))
}

// commit writes the sample of a slot, and commits it.
func (k *kit) commit(s *samplecache.Slot, name string) {
	k.Helper()
	k.write(s, name)
	k.must(s.Commit(k.ctx))
}

// puts puts the next n samples of a producer. It returns the number after the last one.
func (k *kit) puts(p *samplecache.Producer, n int) (next uint64) {
	k.Helper()
	for range n {
		s := got(p.Reserve(k.ctx))(k)
		k.commit(s, p.Name())
		next = s.Number() + 1
	}
	return next
}
