package natscache_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// One process serves, and any process that reaches it puts and reads samples.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "server")
	check(err)
	defer os.RemoveAll(dir)
	server, err := natscache.Serve(natscache.ServeOptions{Dir: dir})
	check(err)
	defer server.Close()

	schema := tdict.New() // what one sample is like: its elements are not looked at
	check(schema.Set("image", tensor.Must(tensor.NewMeta(tensor.Uint8, 64, 64, 64))))
	check(schema.Set("label", tensor.Must(tensor.NewMeta(tensor.Int64))))
	check(natscache.Create(ctx, server.URL(), "brains", schema, natscache.Config{Config: samplecache.Config{Samples: 2}}))

	c, err := samplecache.Open(ctx, natscache.Engine{URL: server.URL(), Name: "brains"}, samplecache.Options{})
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
	g, err := c.Latest(ctx)
	check(err)
	defer g.Close()
	batch, err := g.Fetch(ctx, []int{1, 0}, nil)
	check(err)
	fmt.Println(tdict.Slice[int64](batch, "label"))
	// Output: [1 0] <nil>
}

// Three servers keep the cache. One of them may fail.
func ExampleCreate() {
	ctx, schema := context.Background(), tdict.New()
	url := "nats://cache1:4222,nats://cache2:4222,nats://cache3:4222"
	err := natscache.Create(ctx, url, "brains", schema, natscache.Config{
		Config: samplecache.Config{Samples: 100}, Replicas: 3})
	check(err)

	c, err := samplecache.Open(ctx, natscache.Engine{URL: url, Name: "brains"}, samplecache.Options{})
	check(err)
	check(c.Close())
}

// One process of a machine copies generations to it, and the others read the copies.
func ExampleMirror() {
	ctx, url, errs := context.Background(), "nats://cache1:4222", make(chan error, 1)
	e := natscache.Engine{URL: url, Name: "brains", Mirror: "/dev/shm/brains"}
	go func() { errs <- natscache.Mirror(ctx, e, e.Mirror) }() // in one process of the machine
	c, err := samplecache.Open(ctx, e, samplecache.Options{})  // in each process
	check(err)
	check(c.Close())
}
