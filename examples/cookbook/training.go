package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

var training = []task{
	{"Images to floats, with random crops", imagesToFloats},
	{"A transform fitted on the training set only", fitOnTrain},
	{"Resume a run that was killed", resumeRun},
	{"Two ranks, for two GPUs", twoRanks},
	{"Feed a training in Python", feedPython},
}

func imagesToFloats() {
	ds := open("digits")
	defer ds.Close()

	src, err := loader.FromDataset(ds)
	check(err)
	l, err := loader.New(src, loader.Options{
		Batch: 64, Sampler: sampler.Random(), Seed: 1, Workers: 2,
		Transform: transform.OnKeys(transform.Compose(
			transform.RandomCrop(6, 6),                    // uint8 [64 8 8] to [64 6 6]
			transform.CastScale(tensor.Float32, 1./8, -1), // 0 to 16 becomes -1 to 1
		), "image"),
	})
	check(err)
	for batch, err := range l.Batches(ctx) {
		check(err)
		fmt.Println(batch)
		break
	}
}

func fitOnTrain() {
	ds := open("visits")
	defer ds.Close()
	some, err := ds.Select("id", "bili", "albumin", "chol", "chol_mask")
	check(err)
	patients, err := some.Tensor("id")
	check(err)

	parts, err := sampler.SplitGroups(patients, []float64{0.8, 0.2}, 1)
	check(err)
	known, err := some.Index(ix.Take(parts[0]...))
	check(err)
	standard, err := transform.FitStandard(known, ds.Schema()) // of the training set
	check(err)
	src, err := loader.From(some)
	check(err)
	unseen, err := loader.Subset(src, parts[1])
	check(err)
	test, err := loader.New(unseen, loader.Options{Batch: 64, Transform: standard})
	check(err)

	fmt.Println(standard.Mean().Head(1))
	for batch, err := range test.Batches(ctx) {
		check(err)
		fmt.Println(batch.Head(2))
		break
	}
}

// A model stands for one: a hash of all rows that it was trained on, in their order.
type model uint64

func (m *model) train(batch *tdict.TensorDict) {
	rows, err := tdict.Slice[int64](batch, "row")
	check(err)
	for _, row := range rows {
		*m = *m*31 + model(row)
	}
	if killAfter--; killAfter == 0 {
		panic("killed")
	}
}

// killAfter is the number of batches after which a run is killed.
var killAfter int

func resumeRun() {
	killed := func(after int) (killed any) {
		defer func() { killed = recover() }()
		killAfter = after
		return trainRun()
	}
	fmt.Println("in the first epoch:", killed(20))
	fmt.Println("in the second epoch:", killed(20))
	resumed := trainRun()
	check(os.Remove("run.json"))
	fmt.Println("as without a kill:", resumed == trainRun())
	check(os.Remove("run.json"))
}

// trainRun trains for two epochs.
func trainRun() model {
	ds := open("visits")
	defer ds.Close()
	src, err := loader.FromDataset(ds)
	check(err)
	var run struct {
		Model model
		State loader.State
	}

	l, err := loader.New(src, loader.Options{Batch: 64, Sampler: sampler.Random(), Seed: 1, RowsKey: "row"})
	check(err)
	if load("run.json", &run) { // the file is there after a kill
		check(l.Restore(run.State))
	}
	for l.Epoch() < 2 {
		for batch, err := range l.Batches(ctx) {
			check(err)
			run.Model.train(batch)
			run.State = l.State()
			save("run.json", run)
		}
	}
	return run.Model
}

// load reads a value from a file, if the file exists.
func load(path string, v any) bool {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	check(err)
	check(json.Unmarshal(text, v))
	return true
}

// save writes a value to a file, which has the old value or the new one whenever the program ends.
func save(path string, v any) {
	text, err := json.Marshal(v)
	check(err)
	check(os.WriteFile(path+".new", text, 0o666))
	check(os.Rename(path+".new", path))
}

func twoRanks() {
	ds := open("visits")
	defer ds.Close()
	src, err := loader.FromDataset(ds)
	check(err)
	for rank := range 2 {
		world := 2

		l, err := loader.New(src, loader.Options{
			Batch: 64, Sampler: sampler.Random(), Seed: 1, RowsKey: "row",
			Share: sampler.Share{Rank: rank, World: world}, // batches rank, rank+world, and so on
		})
		check(err)
		for batch, err := range l.Batches(ctx) {
			check(err)
			rows, err := tdict.Slice[int64](batch, "row")
			check(err)
			fmt.Println("rank", rank, "has", l.Len(), "batches, the first with rows", rows[:4])
			break
		}
	}
}

func feedPython() {
	ds := open("digits")
	defer ds.Close()

	src, err := loader.FromDataset(ds)
	check(err)
	f, err := feed.Listen("digits.sock", src, feed.Options{
		Loader: loader.Options{Batch: 64, Sampler: sampler.Random(), Seed: 1},
		Epochs: 1,
	})
	check(err)
	go func() { check(f.Serve(ctx)) }() // until a consumer has had all epochs

	c, err := feed.Dial(ctx, "digits.sock", feed.DialOptions{})
	check(err)
	rows := 0
	for batch, err := range c.Batches(ctx) {
		check(err)
		rows += batch.Shape()[0]
	}
	fmt.Println("a consumer got", rows, "rows")
	check(c.Close())
	check(f.Close())
}
