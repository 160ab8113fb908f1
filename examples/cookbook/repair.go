package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

var repair = []task{
	{"Find damaged files", findDamage},
	{"Keep what was changed on purpose", seal},
	{"Go on writing after a kill", goOnWriting},
	{"Clean up after a kill", cleanUp},
}

func findDamage() {
	check(memmap.Copy(ctx, "visits", "damaged", memmap.CopyOptions{}))
	damage("damaged/day.memmap")

	report, err := memmap.Verify(ctx, "damaged", memmap.VerifyOptions{})
	if !errors.Is(err, memmap.ErrCorrupt) {
		check(err)
	}
	for _, d := range report.Damage {
		fmt.Println(d)
	}
	fmt.Println(report.Leaves, "leaves,", len(report.Unsummed), "without checksums")
}

// damage changes a byte of a file.
func damage(path string) {
	text, err := os.ReadFile(path)
	check(err)
	text[100] ^= 1
	check(os.WriteFile(path, text, 0o666))
}

func seal() {
	check(memmap.Copy(ctx, "visits", "sealed", memmap.CopyOptions{}))
	damage("sealed/day.memmap") // as Python does in place
	_, err := memmap.Verify(ctx, "sealed", memmap.VerifyOptions{})
	fmt.Println(errors.Is(err, memmap.ErrCorrupt))
	check(memmap.Seal(ctx, "sealed")) // computes the checksums again
	_, err = memmap.Verify(ctx, "sealed", memmap.VerifyOptions{})
	fmt.Println(err)
}

func goOnWriting() {
	ds := open("visits")
	defer ds.Close()
	row, err := ds.Index(ix.At(0))
	check(err)
	killed, err := memmap.NewWriter("log", row, memmap.WriterOptions{Schema: ds.Schema(), NoSync: true})
	check(err)
	for i := range 1000 {
		if i == 900 {
			check(killed.Commit())
		}
		visit, err := ds.Index(ix.At(i))
		check(err)
		check(killed.Append(visit))
	}
	check(killed.Close()) // keeps what was committed, as a kill does

	w, err := memmap.NewWriter("log", row, memmap.WriterOptions{Schema: ds.Schema()})
	check(err)
	fmt.Println("goes on at row", w.Committed())
	for i := w.Committed(); i < ds.Shape()[0]; i++ {
		visit, err := ds.Index(ix.At(i))
		check(err)
		check(w.Append(visit))
		if w.Len()%500 == 0 {
			check(w.Commit()) // a kill loses the rows since the last commit
		}
	}
	check(w.Finish())

	log := open("log")
	defer log.Close()
	fmt.Println("the log has all visits:", log.Equal(ds.TensorDict))
}

func cleanUp() {
	check(os.CopyFS("data/visits", os.DirFS("visits")))
	check(os.Mkdir("data/.saving-ABCDEFGH", 0o777)) // as a save leaves it that is killed
	check(os.WriteFile("data/.saving-ABCDEFGH/.saving", nil, 0o666))
	ds := open("visits")
	defer ds.Close()

	report, err := inspect.Dataset("data/visits")
	check(err)
	fmt.Println("left by killed saves:", report.Leftovers)
	// The first save of a process in the directory data removes leftovers.
	check(memmap.Save("data/visits", ds))
	report, err = inspect.Dataset("data/visits")
	check(err)
	fmt.Println("left by killed saves:", report.Leftovers)
}
