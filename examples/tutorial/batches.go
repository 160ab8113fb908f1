package main

import (
	"context"
	"fmt"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// batches prints the first batches of an epoch.
func batches(dir string) {
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	l, _ := loaders(ds)
	fmt.Println(l.Len(), "batches in an epoch")
	for batch, err := range l.Batches(context.Background()) {
		check(err)
		splits := tensor.Must(tdict.Get[*tdict.Unbatched](batch, "splits"))
		at := tensor.Must(tensor.Of[int64](splits.Tensor()))
		fmt.Println(batch.Shape()[0], "visits of", len(at)-1, "patients, splits", at[:4])
		if l.Left() == l.Len()-3 {
			break
		}
	}
}

// loaders returns loaders of the training and the test set, both normalised.
func loaders(ds *memmap.Dataset) (training, test *loader.Loader) {
	rows, held := split(ds)
	stats := tensor.Must(transform.FitStandard(tensor.Must(ds.Index(ix.Take(rows...))), ds.Schema()))
	training = byPatient(ds, rows, 16, loader.Options{
		Sampler: sampler.Random(), Seed: 1, Transform: pipeline(stats), Dataset: "visits v1",
	})
	test = byPatient(ds, held, 1000, loader.Options{Transform: pipeline(stats)})
	return training, test
}

// byPatient returns a loader of some rows, in batches of whole patients.
func byPatient(ds *memmap.Dataset, rows []int, patients int, opt loader.Options) *loader.Loader {
	part := tensor.Must(loader.Subset(tensor.Must(loader.FromDataset(ds)), rows))
	ids := tensor.Must(tensor.Must(ds.Tensor("patient")).Index(ix.Take(rows...)))
	groups := tensor.Must(sampler.NewGroups(ids, sampler.GroupOptions{}))
	opt.Batching = tensor.Must(groups.Batches(sampler.GroupBatchOptions{Groups: patients}))
	return tensor.Must(loader.New(part, opt))
}
