package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// The UCI "Optical Recognition of Handwritten Digits" test set (E. Alpaydin, C. Kaynak, 1998; CC BY
// 4.0): a row for each digit, 64 pixels from 0 to 16 and the label.
//
//go:embed digits.csv.gz
var digitsFile []byte

const pixels = 64

// readDigits returns the digits: image uint8 [N 8 8], meta/label int64 [N], meta/index int32 [N].
func readDigits() (*tdict.TensorDict, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(digitsFile))
	if err != nil {
		return nil, err
	}
	table, err := csv.NewReader(unzipped).ReadAll()
	if err != nil {
		return nil, err
	}
	images, labels := make([]uint8, 0, len(table)*pixels), make([]int64, 0, len(table))
	for line, row := range table {
		if len(row) != pixels+1 {
			return nil, fmt.Errorf("digits: line %d: got %d fields, want %d", line+1, len(row), pixels+1)
		}
		for i, field := range row {
			v, err := strconv.ParseUint(field, 10, 8)
			if err != nil {
				return nil, fmt.Errorf("digits: line %d: %w", line+1, err)
			}
			if i < pixels {
				images = append(images, uint8(v))
			} else {
				labels = append(labels, int64(v))
			}
		}
	}
	return assemble(images, labels)
}

func assemble(images []uint8, labels []int64) (*tdict.TensorDict, error) {
	n := len(labels)
	image, err := tensor.From(images, n, 8, 8)
	if err != nil {
		return nil, err
	}
	index, err := tensor.Arange(0, int32(n), 1)
	if err != nil {
		return nil, err
	}
	return tdict.FromMap(shapeops.Shape{n}, tdict.Entries{
		"image":      image,
		"meta/label": tensor.Vector(labels...),
		"meta/index": index,
	})
}
