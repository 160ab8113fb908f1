package memmap_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Four goroutines fill a dataset that need not fit into memory. With 2,000,000 rows it would have 2
// GB, and the program would still take some 20 MB.
func ExampleCreate() {
	dir := temp()
	defer os.RemoveAll(dir)
	const rows, workers, batch = 2000, 4, 100

	zero := tensor.Must(tensor.New(tensor.Uint8))
	prototype := tdict.New(rows)
	_ = prototype.Set("frame", tensor.Must(zero.Expand(rows, 1000))) // takes one byte
	ds, err := memmap.Create(filepath.Join(dir, "frames"), prototype, memmap.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			values := tdict.New()
			_ = values.Set("frame", tensor.Must(tensor.Full(uint8(w+1), 1000)))
			for start := w * batch; start < rows; start += workers * batch {
				if err := ds.SetIndex(values, ix.Range(start, start+batch)); err != nil {
					fmt.Println(err)
				}
			}
		})
	}
	wg.Wait()
	last := tensor.Must(tensor.Must(ds.Tensor("frame")).Index(ix.Take(0, 150, 1999), ix.At(-1)))
	fmt.Println(last)
	fmt.Println(ds.Close())
	// Output:
	// uint8 [3]
	// [1 2 4]
	// <nil>
}

func ExampleNewWriter() {
	dir := temp()
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, "log")

	row := tdict.New() // what one row is like
	_ = row.Set("obs/pos", tensor.Vector[float32](0, 0))
	_ = row.Set("reward", tensor.Scalar[int64](0))
	w := tensor.Must(memmap.NewWriter(log, row, memmap.WriterOptions{}))
	for range 3 {
		_ = w.Append(row)
	}
	_ = w.Append(steps()) // four rows at once
	fmt.Println(w.Len(), w.Committed(), w.Commit(), w.Committed())

	ds := tensor.Must(memmap.Open(log)) // while the Writer is at work
	fmt.Println(tensor.Must(ds.Tensor("reward")))
	fmt.Println(ds.Close(), w.Finish())
	// Output:
	// 7 0 <nil> 7
	// int64 [7]
	// [ 0  0  0 10 20 30 40]
	// <nil> <nil>
}

func ExampleWriterOptions_resume() {
	dir := temp()
	defer os.RemoveAll(dir)
	log := filepath.Join(dir, "log")
	row := tensor.Must(tdict.FromMap(nil, tdict.Entries{"reward": tensor.Scalar[int64](7)}))
	for day := range 3 {
		w := tensor.Must(memmap.NewWriter(log, row, memmap.WriterOptions{Resume: true}))
		_ = w.Append(row)
		fmt.Println("day", day, w.Finish()) // in its final form until the next day
	}
	ds := tensor.Must(memmap.Open(log))
	fmt.Println(ds.Shape(), ds.Close())
	// Output:
	// day 0 <nil>
	// day 1 <nil>
	// day 2 <nil>
	// [3] <nil>
}

func ExampleOpenLive() {
	dir := temp()
	defer os.RemoveAll(dir)
	current := filepath.Join(dir, "current")
	_ = memmap.Save(current, steps())

	replaced := make(chan int)
	live := tensor.Must(memmap.OpenLive(current, memmap.LiveOptions{
		OnReplace: func(d *memmap.Dataset) { replaced <- d.Shape()[0] },
	}))
	defer live.Close()
	ds := tensor.Must(live.Acquire())
	_ = memmap.Save(current, tensor.Must(steps().Index(ix.Range(0, 3)))) // by another process, say
	fmt.Println("replaced by", <-replaced, "rows")
	fmt.Println("held:", ds.Shape(), live.Release(ds))

	ds = tensor.Must(live.Acquire())
	fmt.Println("now:", ds.Shape(), live.Release(ds))
	// Output:
	// replaced by 3 rows
	// held: [4] <nil>
	// now: [3] <nil>
}

// Each version is served with an index of its ids, which was made for it. A version that breaks
// the schema is refused.
func ExampleLiveOptions_onOpen() {
	dir := temp()
	defer os.RemoveAll(dir)
	current := filepath.Join(dir, "current")
	patients := func(ids ...int64) *tdict.TensorDict {
		td := tdict.New(len(ids))
		_ = td.Set("id", tensor.Vector(ids...))
		_ = td.Set("age", tensor.Must(tensor.Full[float32](40, len(ids))))
		return td
	}
	_ = memmap.Save(current, patients(7, 3))

	schema := tdict.SchemaOf(patients(0))
	replaced, refused := make(chan bool), make(chan error, 100)
	live := tensor.Must(memmap.OpenLive(current, memmap.LiveOptions{
		OnOpen: func(d *memmap.Dataset) (any, error) {
			if err := schema.Check(d.TensorDict); err != nil {
				return nil, err
			}
			ids, err := tdict.Slice[int64](d.TensorDict, "id")
			rows := make(map[int64]int, len(ids))
			for row, id := range ids {
				rows[id] = row
			}
			return rows, err
		},
		OnReplace: func(*memmap.Dataset) { replaced <- true },
		OnError:   func(err error) { refused <- err },
	}))
	defer live.Close()
	find := func(id int64) {
		ds := tensor.Must(live.Acquire())
		defer live.Release(ds)
		row, ok := ds.State().(map[int64]int)[id]
		fmt.Println(id, "is in row", row, ok)
	}
	find(3)
	_ = memmap.Save(current, patients(1, 2, 3))
	<-replaced
	find(3)
	_ = memmap.Save(current, steps())
	fmt.Println(errors.Is(<-refused, tdict.ErrSchema))
	find(3)
	// Output:
	// 3 is in row 1 true
	// 3 is in row 2 true
	// true
	// 3 is in row 2 true
}

func ExampleVerify() {
	dir := temp()
	defer os.RemoveAll(dir)
	_ = memmap.Save(dir, steps())
	report, err := memmap.Verify(context.Background(), dir, memmap.VerifyOptions{})
	fmt.Println(report.Leaves, report.Bytes, err)

	_ = os.WriteFile(filepath.Join(dir, "reward.memmap"), make([]byte, 32), 0o666)
	_ = os.Truncate(filepath.Join(dir, "obs", "pos.memmap"), 10)
	report, err = memmap.Verify(context.Background(), dir, memmap.VerifyOptions{})
	fmt.Println(errors.Is(err, memmap.ErrCorrupt))
	for _, damage := range report.Damage {
		fmt.Println(damage)
	}
	// Output:
	// 2 64 <nil>
	// true
	// "obs/pos": obs/pos.memmap: corrupt: got 10 bytes, want 32
	// "reward": reward.memmap: block 0: corrupt: changed or damaged: got CRC-32C 8a9136aa, want 89422309
}

func ExampleSeal() {
	dir := temp()
	defer os.RemoveAll(dir)
	_ = memmap.Save(dir, steps())
	_ = os.WriteFile(filepath.Join(dir, "reward.memmap"), make([]byte, 32), 0o666) // as Python writes in place
	err := memmap.Copy(context.Background(), dir, dir+"-copy", memmap.CopyOptions{})
	fmt.Println(errors.Is(err, memmap.ErrCorrupt))
	fmt.Println(memmap.Seal(context.Background(), dir))
	_, err = memmap.Verify(context.Background(), dir, memmap.VerifyOptions{})
	fmt.Println(err)
	// Output:
	// true
	// <nil>
	// <nil>
}

func ExampleSealWritten() {
	dir := temp()
	defer os.RemoveAll(dir)
	_ = memmap.Save(dir, steps())
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	other := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	_ = tensor.Must(ds.Tensor("reward")).CopyFrom(tensor.Vector[int64](5, 6, 7, 8))
	_, _ = ds.Close(), other.Close() // other could write until now, so Close set no checksums
	report, err := memmap.Verify(context.Background(), dir, memmap.VerifyOptions{})
	fmt.Println(report.Unsummed, err)
	fmt.Println(memmap.SealWritten(context.Background(), dir))
	report, err = memmap.Verify(context.Background(), dir, memmap.VerifyOptions{})
	fmt.Println(report.Unsummed, err)
	// Output:
	// [reward] <nil>
	// <nil>
	// [] <nil>
}

func ExampleDataset_AddLeaf() {
	dir := temp()
	defer os.RemoveAll(dir)
	_ = memmap.Save(dir, steps())
	reader := tensor.Must(memmap.Open(dir))
	defer reader.Close()

	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	fmt.Println(ds.AddLeaf("obs/speed", tensor.Vector[float32](1, 2, 3, 4)))
	fmt.Println(ds.AddLeaf("done", tensor.Vector(true)) != nil, ds.Close()) // a shape that does not fit

	again := tensor.Must(reader.Refresh())
	defer again.Close()
	fmt.Println(reader.Has("obs/speed"), again.Has("obs/speed"))
	// Output:
	// <nil>
	// true <nil>
	// false true
}

func ExampleDataset_Flush() {
	dir := temp()
	defer os.RemoveAll(dir)
	_ = memmap.Save(dir, steps())
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	reward := tensor.Must(ds.Tensor("reward"))
	_ = reward.SetIndex(tensor.Scalar[int64](-1), ix.At(2))

	_ = memmap.Save(dir, steps()) // another replaces the directory
	fmt.Println(tensor.Must(ds.Stale()))
	fmt.Println(errors.Is(ds.Flush(), memmap.ErrReplaced), "what was written is lost, and said to be")
	_ = ds.Close()
	// Output:
	// true
	// true what was written is lost, and said to be
}
