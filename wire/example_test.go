package wire_test

import (
	"fmt"
	"net"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/wire"
)

// One side of a connection sends dictionaries, the other receives them: the first makes the memory
// for those that follow.
func Example() {
	here, there := net.Pipe()
	go func() {
		defer here.Close()
		enc := wire.NewEncoder(here)
		for step := range 3 {
			td := tdict.New(2)
			_ = td.Set("reward", tensor.Vector(float32(step), 0.5))
			if err := enc.Encode(td); err != nil {
				fmt.Println(err)
			}
		}
	}()
	dec := wire.NewDecoder(there, wire.DecoderOptions{MaxFrame: 1 << 20})
	first, err := dec.Decode()
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := tensor.Must(first.Clone())
	for {
		fmt.Println(tensor.Must(tdict.Slice[float32](batch, "reward")))
		if err := dec.DecodeInto(batch); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// [0 0.5]
	// [1 0.5]
	// [2 0.5]
	// EOF
}

// A Message is bytes, and again a dictionary.
func ExampleMessage() {
	td := tdict.New(2)
	_ = td.Set("obs/x", tensor.Vector[int16](1, 2))
	b := tensor.Must(wire.Message{Dict: td}.MarshalBinary())
	fmt.Println(len(b) == tensor.Must(wire.Size(td)))

	var m wire.Message
	if err := m.UnmarshalBinary(b); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Dict.Equal(td))
	// Output:
	// true
	// true
}
