package dircache_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A cache is made once, and opened by each process that puts or reads samples. A generation can be
// kept as a dataset.
func Example() {
	ctx := context.Background()
	top, err := os.MkdirTemp("", "cache") // better a directory of a tmpfs, such as /dev/shm
	check(err)
	defer os.RemoveAll(top)
	dir := filepath.Join(top, "brains")

	schema := tdict.New() // what one sample is like: its elements are not looked at
	check(schema.Set("image", tensor.Must(tensor.NewMeta(tensor.Uint8, 64, 64, 64))))
	check(schema.Set("label", tensor.Must(tensor.NewMeta(tensor.Int64))))
	check(dircache.Create(dir, schema, samplecache.Config{Samples: 2}))

	c, err := samplecache.Open(ctx, dircache.Engine{Dir: dir}, samplecache.Options{})
	check(err)
	defer c.Close()
	p, err := c.Producer("gen-0")
	check(err)
	for range 2 {
		slot, err := p.Reserve(ctx)
		check(err)
		label, err := slot.Sample().Tensor("label")
		check(err)
		check(label.CopyFrom(tensor.Must(tensor.Full(int64(slot.Number())))))
		check(slot.Commit(ctx))
	}
	for _, e := range tensor.Must(os.ReadDir(dir)) {
		fmt.Println(e.Name())
	}

	check(c.Keep(ctx, 1, filepath.Join(top, "kept")))
	ds, err := memmap.Open(filepath.Join(top, "kept"))
	check(err)
	fmt.Println(tdict.Slice[int64](ds.TensorDict, "label"))
	check(ds.Close())
	// Output:
	// MANIFEST
	// control
	// gen-0000000001
	// gen-0000000002
	// gen-0000000003
	// [0 1] <nil>
}

// A program that is not a member looks at a cache, prints what producers and groups wait for, and
// removes the cache.
func ExampleEngine_Observe() {
	top, err := os.MkdirTemp("", "cache")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(top)
	dir := filepath.Join(top, "brains")
	schema := tdict.New()
	err = schema.Set("image", tensor.Must(tensor.NewMeta(tensor.Uint8, 16, 16)))
	if err == nil {
		err = dircache.Create(dir, schema, samplecache.Config{Samples: 100})
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	about, stats, err := dircache.Engine{Dir: dir}.Observe(context.Background())
	fmt.Println(stats.Latest, stats.Committed, stats.Samples, err)
	for _, w := range stats.Waits(about.Config) {
		fmt.Println(w.Text)
	}
	fmt.Println(dircache.Remove(dir))
	// Output:
	// 0 0 100 <nil>
	// Nobody puts samples: the cache has no members.
	// <nil>
}
