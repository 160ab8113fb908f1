// Package data has the data of the examples, embedded in the program.
package data

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"io"
	"iter"
	"math"

	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Mayo Clinic primary biliary cirrhosis, sequential data, as R's package survival has it: a line
// for each visit of 312 patients; NA means not measured.
//
//go:embed pbcseq.csv.gz
var visits []byte

// The UCI "Optical Recognition of Handwritten Digits" test set (E. Alpaydin, C. Kaynak, 1998; CC BY
// 4.0): a row for each digit, 64 pixels from 0 to 16 and the label.
//
//go:embed digits.csv.gz
var digits []byte

// VisitsCSV returns the text of pbcseq.csv, the table of visits.
func VisitsCSV() (io.Reader, error) { return gzip.NewReader(bytes.NewReader(visits)) }

// visitColumns are the columns that Visits reads: patient, visit and the measurements.
var visitColumns = tdict.Schema{
	{Key: "id", DType: tensor.Int32, Doc: "patient"},
	{Key: "trt", DType: tensor.Int8, Doc: "1 D-penicillamine, 0 placebo"},
	{Key: "age", DType: tensor.Float32, Doc: "years, at the first visit"},
	{Key: "sex", Kind: tdict.KindText, Doc: "f or m"},
	{Key: "day", DType: tensor.Int32, Doc: "since the first visit"},
	{Key: "bili", DType: tensor.Float32, Doc: "serum bilirubin, mg/dl"},
	{Key: "chol", DType: tensor.Float32, Doc: "serum cholesterol, mg/dl"},
	{Key: "albumin", DType: tensor.Float32, Doc: "serum albumin, mg/dl"},
	{Key: "alk.phos", DType: tensor.Float32, Doc: "alkaline phosphatase, U/l"},
	{Key: "ast", DType: tensor.Float32, Doc: "aspartate aminotransferase, U/ml"},
	{Key: "platelet", DType: tensor.Float32, Doc: "platelets, thousands in a cubic ml"},
	{Key: "protime", DType: tensor.Float32, Doc: "prothrombin time, s"},
	{Key: "stage", DType: tensor.Int32, Doc: "histologic, 1 to 4"},
}

// Visits returns the table of visits, ordered by patient and day, with the entries of visitColumns:
// [N]. A missing measurement is NaN.
func Visits() (*tdict.TensorDict, error) {
	file, err := VisitsCSV()
	if err != nil {
		return nil, err
	}
	missing := map[nestedkey.Key]string{}
	for _, lab := range Labs {
		missing[nestedkey.Of(lab)] = "NaN"
	}
	return one(csv.Read(context.Background(), file, visitColumns, csv.ReadOptions{
		Rows: math.MaxInt, SkipUnknown: true, Format: csv.Format{Fill: missing},
	}))
}

// one returns the rows of a table that has only one chunk.
func one(chunks iter.Seq2[*tdict.TensorDict, error]) (td *tdict.TensorDict, err error) {
	for chunk, err := range chunks {
		switch {
		case err != nil:
			return nil, err
		case td != nil:
			return nil, errors.New("got a second chunk, want one")
		}
		if td, err = chunk.Clone(); err != nil {
			return nil, err
		}
	}
	return td, nil
}

// Digits returns the digits: image uint8 [N 8 8], meta/label int64 [N], meta/index int32 [N].
func Digits() (*tdict.TensorDict, error) {
	file, err := gzip.NewReader(bytes.NewReader(digits))
	if err != nil {
		return nil, err
	}
	td, err := one(csv.Read(context.Background(), file, tdict.Schema{
		{Key: "image", DType: tensor.Uint8, Shape: shapeops.Shape{8, 8}},
		{Key: "meta/label", DType: tensor.Int64},
	}, csv.ReadOptions{Rows: math.MaxInt, Format: csv.Format{NoHeader: true}}))
	if err != nil {
		return nil, err
	}
	index, err := tensor.Arange(0, int32(td.Shape()[0]), 1)
	if err != nil {
		return nil, err
	}
	err = td.Set("meta/index", index)
	return td.SortKeys(), err
}
