package samplecachetest

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// An id says which sample it is of which producer. The elements of the sample follow from it.
type id struct {
	producer uint32 // made of the name
	number   uint64
}

// idOf returns the id of a number of a producer.
func idOf(name string, number uint64) id {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // it never fails
	return id{h.Sum32(), number}
}

// bodyBytes is how many bytes of a sample are made of its id.
const bodyBytes = 300

func (i id) body() []byte {
	b := make([]byte, bodyBytes)
	rng := rand.New(rand.NewPCG(uint64(i.producer), i.number))
	for at := range b {
		b[at] = byte(rng.Uint32())
	}
	return b
}

// sample returns the sample.
func (i id) sample() *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(nil, tdict.Entries{
		"body":          tensor.Must(tensor.From(i.body(), 3, bodyBytes/3)),
		"from/producer": tensor.Scalar(i.producer),
		"from/number":   tensor.Scalar(i.number),
		"from/nothing":  tensor.Must(tensor.New(tensor.Float32, 0, 2)),
	}))
}

// read returns which samples the rows of a dictionary are, each of which must be whole.
func read(td *tdict.TensorDict) (ids []id, err error) {
	producers, err := tdict.Slice[uint32](td, "from/producer")
	if err != nil {
		return nil, err
	}
	numbers, err := tdict.Slice[uint64](td, "from/number")
	if err != nil {
		return nil, err
	}
	bodies, err := tdict.Slice[uint8](td, "body")
	for i := 0; err == nil && i < len(numbers); i++ {
		ids = append(ids, id{producers[i], numbers[i]})
		if !slices.Equal(bodies[i*bodyBytes:][:bodyBytes], ids[i].body()) {
			err = fmt.Errorf("row %d: torn: the number is %d, and the body is of another sample", i, numbers[i])
		}
	}
	return ids, err
}

// write writes the sample of a slot.
func write(s *samplecache.Slot, name string) error {
	return s.Sample().UpdateInPlace(idOf(name, s.Number()).sample())
}

// commit writes the sample of a slot, and commits it.
func commit(ctx context.Context, s *samplecache.Slot, name string) error {
	if err := write(s, name); err != nil {
		return err
	}
	return s.Commit(ctx)
}

// put puts the next sample of a producer.
func put(ctx context.Context, p *samplecache.Producer) (number uint64, err error) {
	s, err := p.Reserve(ctx)
	if err != nil {
		return 0, fmt.Errorf("producer %q: %w", p.Name(), err)
	}
	return s.Number(), commit(ctx, s, p.Name())
}

// puts puts the next samples of a producer.
func puts(ctx context.Context, p *samplecache.Producer, n int) (err error) {
	for i := 0; i < n && err == nil; i++ {
		_, err = put(ctx, p)
	}
	return err
}
