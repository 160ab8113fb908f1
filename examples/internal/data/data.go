// Package data has the data of the examples, which are embedded in the program.
package data

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Mayo Clinic primary biliary cirrhosis, sequential data, as R's package survival has it: a line
// for each visit of 312 patients; NA is not measured.
//
//go:embed pbcseq.csv.gz
var visits []byte

// The UCI "Optical Recognition of Handwritten Digits" test set (E. Alpaydin, C. Kaynak, 1998; CC BY
// 4.0): a row for each digit, 64 pixels from 0 to 16 and the label.
//
//go:embed digits.csv.gz
var digits []byte

// Visits returns the table of visits: a line of names, and a line for each visit, those of a
// patient in the order of days.
func Visits() ([][]string, error) { return table(visits) }

// VisitsCSV returns the text of pbcseq.csv, the table that Visits returns.
func VisitsCSV() (io.Reader, error) { return gzip.NewReader(bytes.NewReader(visits)) }

// table returns the lines of a zipped file of comma-separated values.
func table(file []byte) ([][]string, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	return csv.NewReader(unzipped).ReadAll()
}

// Digits returns the digits: image uint8 [N 8 8], meta/label int64 [N], meta/index int32 [N].
func Digits() (*tdict.TensorDict, error) {
	lines, err := table(digits)
	if err != nil {
		return nil, err
	}
	const pixels = 64
	images, labels := make([]uint8, 0, len(lines)*pixels), make([]int64, 0, len(lines))
	for i, line := range lines {
		if len(line) != pixels+1 {
			return nil, fmt.Errorf("digits: line %d: got %d fields, want %d", i+1, len(line), pixels+1)
		}
		for j, field := range line {
			v, err := strconv.ParseUint(field, 10, 8)
			if err != nil {
				return nil, fmt.Errorf("digits: line %d: %w", i+1, err)
			}
			if j < pixels {
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
