package tdparquet_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestMissingDims writes tensors with dims of which rows are missing, alone, in dictionaries that
// are missing, and in both: they come back, and so does the schema.
func TestMissingDims(t *testing.T) {
	for _, text := range []string{
		`{"v":[1.5,2]} {"v":null} {"v":[1,2]}`,
		`{"v":null} {"v":[1,2]} {"v":null}`,
		`{"v":[1,null]} {"v":null} {"v":[null,2]}`,
		`{"v":[[1,2],[3,4]]} {"v":null} {"v":[[5,6],[7,8]]} {"v":[[5,6],[null,8]]}`,
		`{"d":{"v":[1,2]}} {"d":null} {"d":{"v":[3,4]}}`,
		`{"d":{"v":[1,2],"w":[[1,2]]}} {"d":null} {"d":{"v":null,"w":null}} {"d":{"v":[3,4],"w":[[5,6]]}}`,
		`{"d":{"e":{"v":[1,2]}}} {"d":null} {"d":{"e":null}} {"d":{"e":{"v":[3,4]}}}`,
		`{"l":[{"v":null},{"v":[[1,2],[3,4]]}]}`,
		`{"l":[{"v":null}]} {"l":[{"v":[[1,2],[3,4]]}]}`,
		`{"l":[{"v":[1,2]},null,{"v":[3,4]}]} {"l":[]} {"l":null} {"l":[{"v":null},{"v":[5,6]}]}`,
	} {
		text = strings.ReplaceAll(text, "} {", "}\n{") + "\n"
		schema, err := jsonl.Infer(strings.NewReader(text), 0)
		require.NoError(t, err)
		whole, err := jsonl.ChunkSchema(schema, jsonl.ReadOptions{})
		require.NoError(t, err)
		var file, again bytes.Buffer
		require.NoError(t, tdparquet.Write(t.Context(), &file, whole, jsonl.Read(t.Context(), strings.NewReader(text), schema, jsonl.ReadOptions{}), tdparquet.WriteOptions{}), text)
		r := bytes.NewReader(file.Bytes())
		got, err := tdparquet.Infer(r, r.Size(), tdparquet.Options{})
		require.NoError(t, err)
		require.Empty(t, whole.Diff(got), text)
		require.NoError(t, jsonl.Write(t.Context(), &again, got, tdparquet.Read(t.Context(), r, r.Size(), tdparquet.Options{Schema: got}), jsonl.WriteOptions{}))
		require.Equal(t, strings.ReplaceAll(text, ".0", ""), strings.ReplaceAll(again.String(), ".0", ""))
	}
}

// TestNoRows refuses a chunk without rows.
func TestNoRows(t *testing.T) {
	for _, td := range []*tdict.TensorDict{nil, tdict.New()} {
		err := tdparquet.Write(t.Context(), io.Discard, nil, func(yield func(*tdict.TensorDict, error) bool) { yield(td, nil) }, tdparquet.WriteOptions{})
		require.ErrorIs(t, err, shapeops.ErrDim)
	}
}

// TestMissingHalves writes float16 in dictionaries, and in lists of objects, that are missing.
func TestMissingHalves(t *testing.T) {
	halves := tensor.Must(tensor.Vector[float32](0, 9.5, 0, 11.25).Cast(tensor.Float16))
	layout := tensor.Must(ragged.LayoutOf(shapeops.Shape{2}, []int64{1, 3}))
	present := tensor.Vector(false, true, false, true)
	td := tdict.New(2)
	require.NoError(t, td.Set("l", tdict.New(2)))
	require.NoError(t, td.Set("l/h", tensor.Must(ragged.New(halves, layout))))
	require.NoError(t, td.Set("l_mask", tensor.Must(ragged.New(present, layout))))
	list := tdict.Schema{{Key: "l", Kind: tdict.KindDict, Depth: 1, Mask: "l_mask"}, {Key: "l/h", Kind: tdict.KindRagged, DType: tensor.Float16, Depth: 1}, {Key: "l_mask", Kind: tdict.KindRagged, DType: tensor.Bool, Depth: 1}}
	flat, err := tdict.FromMap(shapeops.Shape{4}, tdict.Entries{"d/h": halves, "d_mask": present})
	require.NoError(t, err)
	dict := tdict.Schema{{Key: "d", Kind: tdict.KindDict, Mask: "d_mask"}, {Key: "d/h", DType: tensor.Float16}, {Key: "d_mask", DType: tensor.Bool}}
	for _, tt := range []struct {
		td     *tdict.TensorDict
		schema tdict.Schema
	}{{td, list}, {flat, dict}} {
		b := write(t, tt.td, tt.schema, tdparquet.WriteOptions{})
		for got, err := range tdparquet.Read(t.Context(), bytes.NewReader(b), int64(len(b)), tdparquet.Options{}) {
			require.NoError(t, err)
			equal(t, tt.td, got)
		}
	}
}
