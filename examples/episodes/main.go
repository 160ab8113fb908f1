// Episodes keeps episodes of a random walk, which differ in length. It appends them to a directory,
// which Python opens as a LazyStackedTensorDict. Then it draws some episodes, pads them with masks,
// and saves all of them as one dataset of ragged rows. Any error ends it: see Must.
//
//	go run ./examples/episodes
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func main() {
	dir := tensor.Must(os.MkdirTemp("", "episodes-"))
	defer os.RemoveAll(dir)
	path, rng := filepath.Join(dir, "walks"), rand.New(rand.NewPCG(1, 2))

	first := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{walk(rng)}, 0)) // a stack of one episode
	check(memmap.Save(path, first))
	for range 5 {
		check(memmap.AppendMember(path, walk(rng))) // atomic
	}
	ds := tensor.Must(memmap.Open(path)) // mapped: no element is read yet
	defer ds.Close()
	fmt.Println(ds)

	batch := tensor.Must(ds.Index(ix.Take(rng.Perm(ds.Shape()[0])[:3]...)))
	pad(batch)
	check(asRows(filepath.Join(dir, "rows"), ds.TensorDict))
}

// walk returns an episode of a random length: positions [T 2] and rewards [T]. Only an episode that
// goes far enough has a goal.
func walk(rng *rand.Rand) *tdict.TensorDict {
	var positions, rewards []float32
	x, y := float32(0), float32(0)
	for x+y < 5 && len(rewards) < 9 {
		x, y = x+float32(rng.IntN(2)), y+float32(rng.IntN(2))
		positions, rewards = append(positions, x, y), append(rewards, x+y)
	}
	td := tdict.New(len(rewards))
	check(td.Set("obs/position", tensor.Must(tensor.From(positions, len(rewards), 2))))
	check(td.Set("reward", tensor.Vector(rewards...)))
	if x+y >= 5 {
		check(td.Set("goal", tensor.Must(tensor.Full(true, len(rewards)))))
	}
	return td
}

// pad prints the rewards of some episodes, padded to the longest, and the mask.
func pad(batch *tdict.TensorDict) {
	rewards := tensor.Must(tdict.Get[*tdict.Stacked](batch, "reward"))
	padded, mask, err := rewards.Padded(tdict.PaddedOptions{Fill: -1, Mask: true})
	check(err)
	fmt.Printf("\n%v, padded: %v\nmask: %v\n", rewards, padded, mask)
}

// asRows saves all episodes as rows of ragged leaves: a few files for each leaf, whatever the
// number of episodes.
func asRows(path string, td *tdict.TensorDict) error {
	_, episodes, err := tdict.Members(td)
	if err != nil {
		return err
	}
	for i, episode := range episodes {
		episodes[i] = episode.Exclude("goal") // some episodes have none
	}
	rows, err := tdict.StackRagged(episodes)
	if err != nil {
		return err
	}
	fmt.Printf("\nas rows: %v\n", rows)
	return memmap.Save(path, rows)
}

// check panics if there is an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
