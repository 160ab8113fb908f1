package tdict_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A replay buffer keeps the last steps of a game in files, which may be larger than memory, and
// returns random ones. rows.NewZeros(room) would make one in memory.
func Example_replayBuffer() {
	step := func(i int) *tdict.TensorDict {
		return tensor.Must(tdict.FromValues(nil, tdict.Values{
			"obs": []float32{float32(i), 1}, "action": int64(i % 3), "reward": float32(i), "done": i == 10, "game": "pong",
		}))
	}
	const room, batch = 8, 3
	dir := tensor.Must(os.MkdirTemp("", "replay"))
	defer os.RemoveAll(dir)
	rows := tensor.Must(step(0).Expand(room)) // takes the memory of one row
	ring := tensor.Must(memmap.Create(filepath.Join(dir, "ring"), rows, memmap.CreateOptions{NoSums: true}))
	defer ring.Close()

	draw := tensor.Must(rows.NewZeros(batch)) // filled again and again
	for i := range 11 {
		if err := ring.SetIndex(step(i), ix.At(i%room)); err != nil {
			fmt.Println(err)
			return
		}
		filled := min(i+1, room)
		if i%4 != 2 { // learns from time to time
			continue
		}
		order := tensor.Must(sampler.Random().Order(sampler.Epoch{Units: filled, Seed: 1, Number: uint64(i)}))
		if err := ring.IndexInto(draw, ix.Take(order.AppendTo(nil, 0, batch)...)); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tensor.Must(tdict.Slice[float32](draw, "reward")), tensor.Must(tdict.Item[int64](draw, "action", 0)))
	}
	fmt.Println(tdict.Slice[float32](ring.TensorDict, "reward")) // the last eight
	// Output:
	// [1 2 0] 1
	// [0 3 2] 0
	// [3 9 8] 0
	// [8 9 10 3 4 5 6 7] <nil>
}

// The return of a step is its reward plus the discounted rewards of the next n-1 steps, up to the
// end of the game.
func Example_nStepReturn() {
	const n, gamma = 3, 0.5
	games := tensor.Must(tdict.FromValues(shapeops.Shape{2, 5}, tdict.Values{ // [B T]
		"reward": tensor.Must(tensor.From([]float32{1, 2, 4, 8, 16, 1, 2, 4, 8, 16}, 2, 5)),
		"done":   tensor.Must(tensor.From([]bool{4: true, 6: true, 9: true}, 2, 5)),
	}))
	reward, done := tensor.Must(games.Tensor("reward")), tensor.Must(games.Tensor("done"))
	discount := tensor.Must(arith.MaskedFill(tensor.Must(tensor.Full[float32](gamma, 2, 5)), done, 0))

	returns := reward
	for range n - 1 {
		later := tensor.Must(returns.Index(ix.All, ix.Range(1, ix.End))) // of the next step; a view
		later = tensor.Must(later.Pad(nil, 0, 0, 0, 1))
		returns = tensor.Must(arith.AddCMul(reward, discount, later)) // reward + discount*later
	}
	fmt.Println(returns, games.Set("return", returns))
	// Output:
	// float32 [2 5]
	// [[ 3  6 12 16 16]
	//  [ 2  2 12 16 16]] <nil>
}
