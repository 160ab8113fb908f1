package samplecachetest

import (
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// otherSamples are samples that differ from the usual ones.
func otherSamples(k *kit) map[string]*tdict.TensorDict {
	k.Helper()
	with := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		td := id{}.sample()
		k.must(td.Set(key, v))
		return td
	}
	less := id{}.sample()
	k.must(less.Delete("from/number"))
	empty := id{}.sample()
	k.must(empty.Delete("from/nothing"))
	batch := got(id{}.sample().Unsqueeze(0))(k)
	return map[string]*tdict.TensorDict{
		"nil":                           nil,
		"a key less":                    less,
		"a key less, without elements":  empty,
		"a key more":                    with("from/more", tensor.Scalar(uint8(1))),
		"another dtype":                 with("sum", tensor.Scalar(int32(1))),
		"another shape":                 with("body", tensor.Must(tensor.Zeros[uint8](bodyBytes))),
		"another shape, of no elements": with("from/nothing", tensor.Must(tensor.Zeros[float32](0, 3))),
		"a dictionary for a tensor":     with("sum", tdict.New()),
		"data for a tensor":             with("sum", tensor.Must(tdict.NewData("text"))),
		"rows of several lengths":       with("body", tensor.Must(ragged.From[uint8]([][]uint8{{1}, {2, 3}}))),
		"a batch shape":                 batch,
	}
}

// schemaRefused checks that samples like no other are ErrSchema, before anything is reserved.
func schemaRefused(k *kit) {
	c := k.create(samplecache.Config{Samples: 1}).join()
	p := k.producer(c, "gen")
	for what, td := range otherSamples(k) {
		k.wants("Put of "+what, p.Put(k.ctx, td), samplecache.ErrSchema)
		k.wants("PutAt of "+what, p.PutAt(k.ctx, 0, td), samplecache.ErrSchema)
	}
	s := k.stats(c)
	equal(k, "slots reserved or committed", s.Reserved+s.Committed, 0)
	equal(k, "Next", p.Next(), 0)
	k.must(p.Put(k.ctx, idOf("gen", 0).sample()))
	k.must(newBook().see(k.ctx, got(c.Latest(k.ctx))(k), 1))
}
