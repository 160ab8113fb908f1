package main

import (
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tensor"
)

//go:embed cookbook_test.go
var cookbook string

// Example_cookbook has the lines of the section of docs/cookbook.md about Parquet.
func Example_cookbook() {
	back := tensor.Must(os.Getwd())
	dir := tensor.Must(os.MkdirTemp("", "cookbook-"))
	defer os.RemoveAll(dir)
	makeVisits(dir + "/visits.parquet")
	check(os.Chdir(dir))
	defer os.Chdir(back)

	opt := tdparquet.Options{Keys: []nestedkey.Key{"id", "day", "chol"}} // nil: all columns
	schema, err := tdparquet.InferFile("visits.parquet", opt)
	check(err)
	opt.Schema = schema
	chunks := tdparquet.ReadFile(ctx, "visits.parquet", opt)
	check(memmap.SaveRows(ctx, "from-parquet", chunks, memmap.SaveOptions{Schema: schema}))

	ds, err := memmap.Open("from-parquet")
	check(err)
	defer ds.Close()
	fmt.Println(ds.Schema().Head(ds.TensorDict, 2))
	// Output:
	// id  day  chol
	// 1   0    261
	// 1   192  NA
	// 1943 rows more
}

// TestCookbook compares the page with the example.
func TestCookbook(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/cookbook.md")
	require.NoError(t, err)
	fence := regexp.MustCompile("(?s)\n### From a Parquet file\n.*?```go\n(.*?)```").FindSubmatch(text)
	require.NotNil(t, fence)
	lines := strings.Split(strings.TrimSpace(string(fence[1])), "\n")
	require.Contains(t, strings.ReplaceAll(cookbook, "\n\t", "\n"), "\n"+strings.Join(lines, "\n")+"\n")
}
