// Transforms prepares real data for training. Visits of patients with missing values become a
// padded batch of normalised columns, saved with the statistics. Digits are cropped and flipped
// together with their masks, in the same way whatever batch they are in. Any error ends it: see
// Must.
//
//	go run ./examples/transforms
package main

import (
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/tensor"
)

func main() {
	dir := tensor.Must(os.MkdirTemp("", "transforms-"))
	defer os.RemoveAll(dir)
	visits(filepath.Join(dir, "visits"))
	digits()
}

// check panics if there is an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
