package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-tensordict/tensordict/memmap"
)

// grow appends one visit after the other to a dataset, commits every hundred, and finishes it.
// Meanwhile a reader sees it grow.
func grow(dir string) error {
	visits, err := readVisits()
	if err != nil {
		return err
	}
	row, err := visits[0].row()
	if err != nil {
		return err
	}
	w, err := memmap.NewWriter(dir, row, memmap.WriterOptions{})
	if err != nil {
		return err
	}
	live, err := memmap.OpenLive(dir, memmap.LiveOptions{Interval: 10 * time.Millisecond})
	if err != nil {
		return errors.Join(err, w.Close())
	}
	if err := appendAll(w, live, visits); err != nil {
		return errors.Join(err, live.Close(), w.Close())
	}
	if err := errors.Join(w.Finish(), live.Close()); err != nil {
		return err
	}
	ds, err := memmap.Open(dir)
	if err != nil {
		return err
	}
	fmt.Println("the visits:", ds)
	return ds.Close()
}

// appendAll appends the visits, and tells how many a reader sees after a thousand.
func appendAll(w *memmap.Writer, live *memmap.Live, visits []visit) error {
	for _, v := range visits {
		row, err := v.row()
		if err != nil {
			return err
		}
		if err := w.Append(row); err != nil {
			return err
		}
		if w.Len()%100 != 0 {
			continue
		}
		if err := w.Commit(); err != nil {
			return err
		}
		if w.Len() == 1000 {
			if err := look(w, live); err != nil {
				return err
			}
		}
	}
	return nil
}

// look waits until a reader sees what is committed.
func look(w *memmap.Writer, live *memmap.Live) error {
	for {
		ds, err := live.Acquire()
		if err != nil {
			return err
		}
		rows := ds.Shape()[0]
		if err := live.Release(ds); err != nil {
			return err
		}
		if rows == w.Committed() {
			fmt.Printf("a reader sees %d visits, and the writer goes on\n", rows)
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}
