package main

import (
	"bytes"
	_ "embed"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/tdarrow"
	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

//go:embed page_test.go
var source string

// page has the lines of docs/tables.md.
func page(td *tdict.TensorDict) (rec arrow.RecordBatch, err error) {
	opt := tdparquet.Options{Keys: []nestedkey.Key{"day", "price"}}
	opt.Schema, err = tdparquet.InferFile("sales.parquet", opt)
	if err != nil {
		return nil, err
	}
	chunks := tdparquet.ReadFile(ctx, "sales.parquet", opt)
	err = memmap.SaveRows(ctx, "sales", chunks, memmap.SaveOptions{Schema: opt.Schema})
	if err != nil {
		return nil, err
	}

	return tdarrow.FromDict(td, opt.Schema)
}

// TestPage runs the lines of the page: each is in this file.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/tables.md")
	require.NoError(t, err)
	lines := regexp.MustCompile(`(?m)^    .*\b(tdparquet|memmap)\..*$`).FindAllString(string(text), -1)
	require.Len(t, lines, 4)
	for _, line := range lines {
		require.Contains(t, source, "\t"+strings.TrimSpace(line)+"\n")
	}
	t.Chdir(t.TempDir())
	td, err := tdict.FromMap([]int{2}, tdict.Entries{"day": tensor.Vector[int64](1, 2), "price": tensor.Vector(0.5, 1), "shop": tensor.Vector[int8](1, 2)})
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, tdparquet.Write(ctx, &file, nil, func(yield func(*tdict.TensorDict, error) bool) { yield(td, nil) }, tdparquet.WriteOptions{}))
	require.NoError(t, os.WriteFile("sales.parquet", file.Bytes(), 0o600))
	two, err := td.Select("day", "price")
	require.NoError(t, err)
	rec, err := page(two)
	require.NoError(t, err)
	require.EqualValues(t, 2, rec.NumCols())
	ds, err := memmap.Open("sales")
	require.NoError(t, err)
	defer ds.Close()
	require.True(t, ds.Equal(two))
}
