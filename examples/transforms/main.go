// Transforms prepares real data for training: visits of patients, with values that were not
// measured, become a padded batch of normalised columns, saved with its statistics; and digits are
// cropped and flipped together with their masks, alike in any batch. Any error ends it: see Must.
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
