// Pytorch reads batches from a feed in Go, as plain.py does in Python without any package, and
// train.py with torch:
//
//	tdict feed digits --socket /tmp/digits.sock --batch 64 --shuffle --epochs 2
//	go run ./examples/pytorch /tmp/digits.sock
//
// The other programs of this directory read datasets in Python: live.py while they are replaced,
// text.py with texts and lists.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/tdict"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: pytorch SOCKET")
	}
	if err := run(context.Background(), os.Args[1], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run prints the sum of the labels of each epoch.
func run(ctx context.Context, socket string, out io.Writer) (err error) {
	c, err := feed.Dial(ctx, socket, feed.DialOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for !c.Ended() {
		epoch, rows, total := c.Epoch(), 0, int64(0)
		for batch, err := range c.Batches(ctx) {
			if err != nil {
				return err
			}
			labels, err := tdict.Slice[int64](batch, "meta/label")
			if err != nil {
				return err
			}
			for _, label := range labels {
				total += label
			}
			rows += len(labels)
		}
		fmt.Fprintf(out, "epoch %d: %d rows, the labels add up to %d\n", epoch, rows, total)
	}
	return nil
}
