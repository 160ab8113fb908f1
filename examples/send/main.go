// Send sends batches over TCP and receives them in place: the trainer owns the memory of one batch,
// and the elements of each batch are read straight into it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/wire"
)

const rows = 1000

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run starts a producer and trains on the batches that it sends.
func run(ctx context.Context, w io.Writer) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	produced := make(chan error, 1)
	go func() { produced <- produce(ctx, listener.Addr().String(), 4) }()
	conn, err := listener.Accept()
	if err != nil {
		return errors.Join(err, <-produced)
	}
	defer conn.Close()
	return errors.Join(train(ctx, w, conn), <-produced)
}

// produce connects and sends batches.
func produce(ctx context.Context, to string, batches int) error {
	conn, err := net.Dial("tcp", to)
	if err != nil {
		return err
	}
	defer conn.Close()
	enc := wire.NewEncoder(conn)
	for i := range batches {
		batch, err := batchOf(float32(i))
		if err != nil {
			return err
		}
		if err := wire.Within(ctx, conn, func() error { return enc.Encode(batch) }); err != nil {
			return err
		}
	}
	return nil
}

// batchOf returns a batch whose elements all are v.
func batchOf(v float32) (*tdict.TensorDict, error) {
	image, err := tensor.Full(v, rows, 28, 28)
	if err != nil {
		return nil, err
	}
	label, err := tensor.Full(uint8(v), rows)
	if err != nil {
		return nil, err
	}
	return tdict.FromMap([]int{rows}, tdict.Entries{"image": image, "label": label})
}

// train receives batches until the producer is done. The first batch allocates the memory for the
// others.
func train(ctx context.Context, w io.Writer, conn net.Conn) error {
	dec := wire.NewDecoder(conn, wire.DecoderOptions{MaxFrame: 64 << 20})
	first, err := dec.Decode()
	if err != nil {
		return err
	}
	batch, err := first.Clone()
	if err != nil {
		return err
	}
	for step := 0; ; step++ {
		image, err := batch.Tensor("image")
		if err != nil {
			return err
		}
		mean, err := arith.Mean(image, arith.Whole)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "batch %d: %v\n", step, tensor.Must(tensor.Item[float32](mean)))
		err = wire.Within(ctx, conn, func() error { return dec.DecodeInto(batch) })
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
