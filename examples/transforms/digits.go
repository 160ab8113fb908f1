package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// digits crops and flips digits and the masks of their ink: first all at once, then in shuffled
// batches. It compares the results.
func digits() {
	td := tensor.Must(data.Digits())
	check(td.Set("mask", tensor.Must(arith.GreaterEqual(tensor.Must(td.Tensor("image")), 8))))
	both := transform.Compose(transform.RandomCrop(6, 6), transform.RandomFlip(0.5, 1))
	augment := transform.OnKeys(both, "image", "mask")
	fmt.Println(augment)
	draw := transform.Draw{Seed: 1, Epoch: 5}
	whole := tensor.Must(augment.Apply(td, draw))
	fmt.Println(tensor.Must(tensor.Must(whole.Tensor("image")).Index(ix.At(0))))
	fmt.Println(tensor.Must(tensor.Must(whole.Tensor("mask")).Index(ix.At(0))))
	for _, size := range []int{1, 64, 1000} {
		same := true
		for draw.Rows = range slices.Chunk(rand.New(rand.NewPCG(1, 2)).Perm(td.Shape()[0]), size) {
			batch := tensor.Must(td.Index(ix.Take(draw.Rows...)))
			want := tensor.Must(whole.Index(ix.Take(draw.Rows...)))
			same = same && tensor.Must(augment.Apply(batch, draw)).Equal(want)
		}
		fmt.Printf("in shuffled batches of %d, the same: %v\n", size, same)
	}
}
