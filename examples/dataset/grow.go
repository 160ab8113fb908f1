package main

import (
	"fmt"
	"time"

	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// grow appends one visit after another to a dataset, commits every hundred, and finishes it.
// Meanwhile a reader sees it grow.
func grow(dir string) {
	visits := tensor.Must(data.LabVisits())
	first := tensor.Must(visits.Index(ix.At(0))) // a prototype of a row
	w := tensor.Must(memmap.NewWriter(dir, first, memmap.WriterOptions{}))
	live := tensor.Must(memmap.OpenLive(dir, memmap.LiveOptions{Interval: 10 * time.Millisecond}))
	for i := range visits.Shape()[0] {
		check(w.Append(tensor.Must(visits.Index(ix.At(i)))))
		if w.Len()%100 == 0 {
			check(w.Commit())
		}
		if w.Len() == 1000 {
			look(live, w.Committed())
		}
	}
	check(w.Finish())
	check(live.Close())
}

// look waits until a reader sees the committed rows.
func look(live *memmap.Live, committed int) {
	for seen := 0; seen < committed; time.Sleep(time.Millisecond) {
		ds := tensor.Must(live.Acquire())
		seen = ds.Shape()[0]
		check(live.Release(ds))
	}
	fmt.Printf("a reader sees %d visits, and the writer goes on\n", committed)
}
