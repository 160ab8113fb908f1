package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copyAll copies the rows of all batches into one buffer, which is the least work to load an epoch.
// It pads rows of different lengths with zeros.
func (t *table) copyAll(batches [][]int) {
	var buffer []float32
	for _, rows := range batches {
		width := t.width(rows)
		if need := len(rows) * width; need > len(buffer) {
			buffer = make([]float32, need)
		}
		t.copyRows(buffer, rows, width)
	}
}

// copyRows copies the rows of a batch.
func (t *table) copyRows(to []float32, rows []int, width int) {
	if t.dense {
		t.copyDense(to, rows, width)
	} else {
		t.copyPadded(to, rows, width)
	}
}

// width returns the length of the longest row.
func (t *table) width(rows []int) int {
	if t.dense {
		return int(t.offsets[1])
	}
	longest := int64(0)
	for _, row := range rows {
		longest = max(longest, t.offsets[row+1]-t.offsets[row])
	}
	return int(longest)
}

// copyDense copies rows that have the same length.
func (t *table) copyDense(to []float32, rows []int, width int) {
	for i, row := range rows {
		copy(to[i*width:(i+1)*width], t.values[row*width:(row+1)*width])
	}
}

// copyPadded copies rows, each followed by zeros.
func (t *table) copyPadded(to []float32, rows []int, width int) {
	for i, row := range rows {
		line := to[i*width : (i+1)*width]
		n := copy(line, t.values[t.offsets[row]:t.offsets[row+1]])
		clear(line[n:])
	}
}

// readAll reads all files of a directory from beginning to end.
func readAll(dir string) error {
	buffer := make([]byte, 1<<20)
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		return readFile(path, buffer)
	})
}

// readFile reads a file into a buffer, a piece at a time.
func readFile(path string, buffer []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	for err == nil {
		_, err = f.Read(buffer)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
