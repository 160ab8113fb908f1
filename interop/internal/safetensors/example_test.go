package safetensors_test

import (
	"bytes"
	"fmt"

	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
)

func ExamplePlan() {
	h, head, err := safetensors.Plan([]safetensors.Entry{
		{Name: "mask", DType: "BOOL", Shape: []int{3}},
		{Name: "weight", DType: "F32", Shape: []int{3, 2}},
	}, nil)
	fmt.Println(h.Entries, err)
	fmt.Printf("%s\n", bytes.ReplaceAll(bytes.TrimSpace(head[8:]), []byte("},"), []byte("},\n")))
	// Output:
	// [{weight F32 [3 2] 0 24} {mask BOOL [3] 24 27}] <nil>
	// {"weight":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},
	// "mask":{"dtype":"BOOL","shape":[3],"data_offsets":[24,27]}}
}

func ExampleRead() {
	file := []byte("\x40\x00\x00\x00\x00\x00\x00\x00" +
		`{"id":{"dtype":"I16","shape":[2],"data_offsets":[0,4]}}         ` + "\x07\x00\x08\x00")
	h, err := safetensors.Read(bytes.NewReader(file), int64(len(file)))
	fmt.Println(h.Entries, h.DataStart, err)
	// Output: [{id I16 [2] 0 4}] 72 <nil>
}
