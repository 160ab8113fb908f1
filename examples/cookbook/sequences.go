package main

import (
	"fmt"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var sequences = []task{
	{"A row for each patient", rowForEachPatient},
	{"Padded batches, by length", paddedBatches},
	{"Windows of a time series", windows},
	{"Returns over n steps", nStepReturns},
	{"A replay buffer in a file", replayBuffer},
}

func rowForEachPatient() {
	ds := open("visits")
	defer ds.Close()
	fmt.Println(rowsOfPatients(ds))
}

// rowsOfPatients returns the visits of each patient as a row.
func rowsOfPatients(ds *memmap.Dataset) *tdict.TensorDict {
	visits, err := ds.Select("day", "bili", "albumin")
	check(err)
	groups, err := ds.Schema().GroupBy(ds, "id")
	check(err)
	sorted, err := visits.Take(0, groups.Rows) // patient by patient
	check(err)
	parts, err := shapeops.Split(sorted, 0, groups.Sizes()...)
	check(err)
	patients, err := tdict.StackRagged(parts)
	check(err)
	return patients
}

func paddedBatches() {
	ds := open("patients")
	defer ds.Close()

	days, err := tdict.Get[*ragged.Tensor](ds, "day")
	check(err)
	lengths, err := days.Layout().Lengths(1)
	check(err)
	buckets, err := sampler.Buckets(lengths, sampler.BucketOptions{Tokens: 128}) // of a padded batch
	check(err)
	src, err := loader.FromDataset(ds)
	check(err)
	l, err := loader.New(src, loader.Options{
		Batching: buckets, Sampler: sampler.Random(), Seed: 1,
		Collate: loader.Pad(ragged.DensifyOptions{Masks: "masks"}),
	})
	check(err)

	n := 0
	for batch, err := range l.Batches(ctx) {
		check(err)
		days, err := batch.Tensor("day")
		check(err)
		if n++; n <= 3 {
			fmt.Println(days.Shape(), batch.Has("masks/day"))
		}
	}
	fmt.Println(n, "batches")
}

func windows() {
	ds := open("visits")
	defer ds.Close()
	visits, err := ds.Select("id", "day", "bili")
	check(err)

	groups, err := ds.Schema().GroupBy(visits, "id")
	check(err)
	parts, err := shapeops.Split(visits, 0, groups.Sizes()...) // visits are in the order of patients
	check(err)
	var windows []*tdict.TensorDict
	for _, part := range parts {
		if part.Shape()[0] >= 4 {
			four, err := shapeops.Unfold(part, 0, 4, 1) // [n] -> [n-3 4]
			check(err)
			windows = append(windows, four)
		}
	}
	all, err := shapeops.Cat(windows, 0)
	check(err)

	fmt.Println(all.Shape())
	fmt.Println(tensor.Must(tensor.Must(all.Tensor("bili")).Index(ix.Range(0, 2))))
}

func nStepReturns() {
	const n, gamma = 3, 0.5
	reward := tensor.Must(tensor.From([]float32{1, 2, 4, 8, 16, 1, 2, 4, 8, 16}, 2, 5))
	done := tensor.Must(tensor.From([]bool{4: true, 6: true, 9: true}, 2, 5))

	gammas, err := tensor.Full[float32](gamma, 2, 5)
	check(err)
	discount, err := arith.MaskedFill(gammas, done, 0)
	check(err)
	returns := reward
	for range n - 1 {
		later, err := returns.Index(ix.All, ix.Range(1, ix.End)) // of the next step
		check(err)
		later, err = later.Pad(nil, 0, 0, 0, 1)
		check(err)
		returns, err = arith.AddCMul(reward, discount, later) // reward + discount*later
		check(err)
	}
	fmt.Println(returns)
}

func replayBuffer() {
	step := func(i int) *tdict.TensorDict {
		return tensor.Must(tdict.FromValues(nil, tdict.Values{"obs": []float32{float32(i), 1}, "action": int64(i % 3)}))
	}
	weights := make([]float64, 8)

	room, err := step(0).Expand(len(weights)) // takes the memory of one step
	check(err)
	ring, err := memmap.Create("ring", room, memmap.CreateOptions{NoSums: true})
	check(err)
	for i := range 20 {
		check(ring.SetIndex(step(i), ix.At(i%len(weights))))
		weights[i%len(weights)] = float64(i) // later steps are drawn more often
	}
	weighted, err := sampler.Weighted(weights, sampler.WeightedOptions{})
	check(err)
	src, err := loader.FromDataset(ring)
	check(err)
	l, err := loader.New(src, loader.Options{Batch: 4, Sampler: sampler.Endless(weighted), Seed: 1})
	check(err)

	n := 0
	for batch, err := range l.Batches(ctx) {
		check(err)
		steps := tensor.Must(tensor.Must(batch.Tensor("obs")).Index(ix.All, ix.At(0)))
		fmt.Println(tensor.Must(tensor.Slice[float32](steps)))
		if n++; n == 3 {
			break // the order never ends
		}
	}
	check(ring.Close())
}
