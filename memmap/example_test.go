package memmap_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// steps returns a small dictionary: obs/pos float32 [4 2] and reward int64 [4].
func steps() *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(shapeops.Shape{4}, map[nestedkey.Key]tdict.Value{
		"obs/pos": tensor.Must(tensor.From([]float32{0, 1, 2, 3, 4, 5, 6, 7}, 4, 2)),
		"reward":  tensor.Vector[int64](10, 20, 30, 40),
	}))
}

// temp returns a new directory; the caller removes it.
func temp() string { return tensor.Must(os.MkdirTemp("", "memmap")) }

func Example() {
	dir := temp()
	defer os.RemoveAll(dir)
	if err := memmap.Save(dir, steps()); err != nil {
		fmt.Println(err)
	}

	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	batch := tensor.Must(ds.Index(ix.Take(3, 0)))
	fmt.Println(tensor.Must(batch.Tensor("reward")))
	// Output:
	// int64 [2]
	// [40 10]
}

// Save replaces what was saved before; what may not be lost is saved, made or begun so that it is
// not.
func ExampleSaveOptions_noReplace() {
	dir := temp()
	defer os.RemoveAll(dir)
	dir = filepath.Join(dir, "steps")
	fmt.Println(memmap.Save(dir, steps()), memmap.Save(dir, steps()))

	err := memmap.SaveWith(context.Background(), dir, steps(), memmap.SaveOptions{NoReplace: true})
	fmt.Println(errors.Is(err, fs.ErrExist))
	_, err = memmap.Create(dir, steps(), memmap.CreateOptions{})
	fmt.Println(errors.Is(err, fs.ErrExist))
	_, err = memmap.NewWriter(dir, tensor.Must(steps().Index(ix.At(0))), memmap.WriterOptions{})
	fmt.Println(errors.Is(err, fs.ErrExist))

	ds, err := memmap.Create(dir, steps(), memmap.CreateOptions{Replace: true})
	fmt.Println(err, ds.Close())
	// Output:
	// <nil> <nil>
	// true
	// true
	// true
	// <nil> <nil>
}

func ExampleSave() {
	dir := temp()
	defer os.RemoveAll(dir)
	err := memmap.Save(filepath.Join(dir, "steps"), steps())
	files, _ := filepath.Glob(filepath.Join(dir, "steps", "*", "*"))
	fmt.Println(err, len(files), filepath.Base(files[1]))

	odd := tdict.New()
	_ = odd.Set("shape", tensor.Scalar(1.5))
	err = memmap.Save(filepath.Join(dir, "odd"), odd)
	fmt.Println(strings.ReplaceAll(err.Error(), dir, "DIR"))
	// Output:
	// <nil> 2 pos.memmap
	// save DIR/odd: shape.memmap: key cannot be saved: "shape": the format has a field of that name
}

func ExampleSaveWith() {
	dir := temp()
	defer os.RemoveAll(dir)
	show := func(done, total int64) { fmt.Printf("%d of %d bytes\n", done, total) }
	err := memmap.SaveWith(context.Background(), dir, steps(), memmap.SaveOptions{Progress: show})
	fmt.Println(err)
	// Output:
	// 32 of 64 bytes
	// 64 of 64 bytes
	// <nil>
}

func ExampleOpen() {
	dir := temp()
	defer os.RemoveAll(dir)
	_ = memmap.Save(dir, steps())

	obs := tensor.Must(memmap.Open(filepath.Join(dir, "obs"))) // each directory is a dictionary of its own
	fmt.Println(obs)
	fmt.Println(obs.Close(), obs.Close())

	_ = os.Truncate(filepath.Join(dir, "reward.memmap"), 9)
	_, err := memmap.Open(dir)
	fmt.Println(strings.ReplaceAll(err.Error(), dir, "DIR"), errors.Is(err, memmap.ErrCorrupt))
	// Output:
	// TensorDict(
	//     fields={
	//         pos: Tensor(shape=[4 2], dtype=float32)},
	//     batch=[4])
	// <nil> already closed
	// open DIR: reward.memmap: corrupt: got 9 bytes, want 32 true
}

func ExampleOpenWith() {
	dir := temp()
	defer os.RemoveAll(dir)
	_ = memmap.Save(dir, steps())

	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	reward := tensor.Must(ds.Tensor("reward"))
	fmt.Println(reward.SetIndex(tensor.Scalar[int64](-1), ix.At(2)))
	fmt.Println(ds.Flush(), ds.Close())

	again := tensor.Must(memmap.Open(dir))
	defer again.Close()
	fmt.Println(tensor.Must(again.Tensor("reward")))
	// Output:
	// <nil>
	// <nil> <nil>
	// int64 [4]
	// [10 20 -1 40]
}

func ExampleDataset_Close() {
	dir := temp()
	defer os.RemoveAll(dir)
	_ = memmap.Save(dir, steps())
	ds := tensor.Must(memmap.Open(dir))
	tail := tensor.Must(ds.Index(ix.Range(2, ix.End))) // a view of the mapped files
	kept := tensor.Must(tail.Clone())
	_ = ds.Close()

	_, err := tail.Clone()
	fmt.Println(errors.Is(err, memmap.ErrClosed), strings.ReplaceAll(err.Error(), dir, "DIR"))
	fmt.Println(tensor.Must(kept.Tensor("reward")))
	// Output:
	// true clone "obs/pos": read DIR: obs/pos.memmap: already closed
	// int64 [2]
	// [30 40]
}

func ExampleDataset_CloseWait() {
	dir := temp()
	defer os.RemoveAll(dir)
	_ = memmap.Save(dir, steps())
	ds := tensor.Must(memmap.Open(dir))
	reward := tensor.Must(ds.Tensor("reward"))

	doubled, err := tensor.Map(reward, func(v int64) int64 {
		_ = ds.Close() // does not wait for Map, which goes on
		return 2 * v
	})
	fmt.Println(doubled, err)
	fmt.Println(ds.CloseWait(context.Background())) // no file is mapped any more
	// Output:
	// int64 [4]
	// [20 40 60 80] <nil>
	// <nil>
}
