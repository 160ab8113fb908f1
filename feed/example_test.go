package feed_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tensor"
)

func Example() {
	dir, err := os.MkdirTemp("", "feed-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "numbers.sock")

	// The feed: two epochs of the numbers 0 to 9.
	src, err := loader.FromTensors(tensor.Vector[int64](0, 1, 2, 3, 4, 5, 6, 7, 8, 9))
	if err != nil {
		log.Fatal(err)
	}
	f, err := feed.Listen(socket, src, feed.Options{Loader: loader.Options{Batch: 4}, Epochs: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	served := make(chan error)
	go func() { served <- f.Serve(context.Background()) }()

	// A consumer, usually in another process.
	c, err := feed.Dial(context.Background(), socket, feed.DialOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for !c.Ended() {
		for batch, err := range c.Batches(context.Background()) {
			if err != nil {
				log.Fatal(err)
			}
			x, err := tensor.Of[int64](tensor.Must(batch.Tensor("0")))
			fmt.Println(c.Epoch(), x, err)
		}
	}
	fmt.Println(<-served)
	// Output:
	// 0 [0 1 2 3] <nil>
	// 0 [4 5 6 7] <nil>
	// 0 [8 9] <nil>
	// 1 [0 1 2 3] <nil>
	// 1 [4 5 6 7] <nil>
	// 1 [8 9] <nil>
	// <nil>
}
