package main

import (
	"compress/gzip"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/tensor"
)

// makeVisits writes the visits that the examples have as CSV to a Parquet file.
func makeVisits(path string) {
	open := func() *gzip.Reader {
		return tensor.Must(gzip.NewReader(tensor.Must(os.Open("../../../../examples/internal/data/pbcseq.csv.gz"))))
	}
	in := csv.NewInferrer(csv.Format{})
	check(in.Add(open(), 0))
	schema := tensor.Must(in.Schema())
	file := tensor.Must(os.Create(path))
	chunks := csv.Read(ctx, open(), schema, csv.ReadOptions{})
	check(tdparquet.Write(ctx, file, tensor.Must(csv.ChunkSchema(schema, csv.Format{})), chunks, tdparquet.WriteOptions{Rows: 500}))
	check(file.Close())
}

func Example() {
	dir := tensor.Must(os.MkdirTemp("", "visits-"))
	defer os.RemoveAll(dir)
	makeVisits(filepath.Join(dir, "visits.parquet"))
	run(filepath.Join(dir, "visits.parquet"), filepath.Join(dir, "visits"))
	// Output:
	// key            kind    dtype    shape  doc
	// age            tensor  float64  []     1945 of 1945 fields: numbers from 26.2778918548939 to 78.4394250513347
	// bili           tensor  float64  []     whole numbers without .0, 1945 of 1945 fields: numbers from 0.1 to 41
	// albumin        tensor  float64  []     whole numbers without .0, 1945 of 1945 fields: numbers from 1.17 to 8.01
	// platelet       tensor  int64    []     optional, mask platelet_mask, 1872 of 1945 fields: integers from 40 to 991
	// platelet_mask  tensor  bool     []     optional, where platelet is not missing
	// protime        tensor  float64  []     whole numbers without .0, 1945 of 1945 fields: numbers from 9 to 36
	// stage          tensor  int64    []     1945 of 1945 fields: integers from 1 to 4
	// age               bili  albumin  platelet  protime  stage
	// 58.7652292950034  14.5  2.6      190       12.2     4
	// 58.7652292950034  21.3  2.94     183       11.2     4
	// 56.4462696783025  1.1   4.14     221       10.6     3
	// 1942 rows more
	// epoch 1: loss 0.611, held-out accuracy 67.6 %
	// epoch 2: loss 0.582, held-out accuracy 67.9 %
	// epoch 3: loss 0.580, held-out accuracy 67.9 %
}
