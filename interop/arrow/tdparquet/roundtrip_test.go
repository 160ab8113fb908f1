package tdparquet_test

import (
	"bytes"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func once(td *tdict.TensorDict) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) { yield(td, nil) }
}

// write returns td as a file.
func write(t testing.TB, td *tdict.TensorDict, schema tdict.Schema, opt tdparquet.WriteOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, tdparquet.Write(t.Context(), &b, schema, once(td), opt))
	return b.Bytes()
}

// readAll returns all rows of a file.
func readAll(t testing.TB, b []byte, opt tdparquet.Options) *tdict.TensorDict {
	t.Helper()
	var all []*tdict.TensorDict
	for td, err := range tdparquet.Read(t.Context(), bytes.NewReader(b), int64(len(b)), opt) {
		require.NoError(t, err)
		all = append(all, tensor.Must(td.Clone()))
	}
	return tensor.Must(cat(all))
}

// TestRoundTrip: each kind of entry comes back with an equal schema.
func TestRoundTrip(t *testing.T) {
	const n = 5
	for name, entries := range kinds(t, n) {
		t.Run(name, func(t *testing.T) {
			td, schema := entries.td, entries.schema
			for _, rows := range []int{0, 2} {
				b := write(t, td, schema, tdparquet.WriteOptions{Rows: rows})
				got, err := tdparquet.Infer(bytes.NewReader(b), int64(len(b)), tdparquet.Options{})
				require.NoError(t, err)
				require.Equal(t, jsonOf(t, schema), jsonOf(t, got))
				back := readAll(t, b, tdparquet.Options{})
				require.NoError(t, schema.Check(back))
				equal(t, td, back)
			}
		})
	}
}

type kind struct {
	td     *tdict.TensorDict
	schema tdict.Schema
}

func kinds(t testing.TB, n int) map[string]kind {
	all := map[string]kind{}
	add := func(name string, entries tdict.Entries, edit func(s tdict.Schema) tdict.Schema) {
		td, err := tdict.FromMap([]int{n}, entries)
		require.NoError(t, err, name)
		s := tdict.SchemaOf(td)
		if edit != nil {
			s = edit(s)
		}
		require.NoError(t, s.Validate(), name)
		all[name] = kind{td, s}
	}
	spec := func(key string, change func(*tdict.Spec)) func(tdict.Schema) tdict.Schema {
		return func(s tdict.Schema) tdict.Schema {
			for i := range s {
				if string(s[i].Key) == key {
					change(&s[i])
				}
			}
			return s
		}
	}
	for _, d := range []tensor.DType{tensor.Bool, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Float16, tensor.Float32, tensor.Float64} {
		x := numbers(t, d, n)
		add(d.String(), tdict.Entries{"x": x}, nil)
		add(d.String()+" masked", tdict.Entries{"x": zeroed(t, x), "x_mask": mask(n)}, spec("x", func(s *tdict.Spec) { s.Mask = "x_mask" }))
		add(d.String()+" dims", tdict.Entries{"x": numbers(t, d, n, 2, 3)}, nil)
	}
	add("vector of one", tdict.Entries{"x": numbers(t, tensor.Float32, n, 1)}, nil)
	add("no elements", tdict.Entries{"x": numbers(t, tensor.Float32, n, 0), "y": numbers(t, tensor.Int8, n)}, nil)
	texts := tensor.Must(ragged.FromStrings([]string{"a", "", "ccc", "ä", "long text that is longer"}[:n]))
	add("text", tdict.Entries{"s": texts}, spec("s", func(s *tdict.Spec) { *s = tdict.Spec{Key: "s", Kind: tdict.KindText} }))
	add("bytes", tdict.Entries{"s": texts}, nil)
	lists := tensor.Must(ragged.From[int64]([][]int64{{1, 2}, {}, {3}, {4, 5, 6}, {7}}[:n]))
	add("ragged", tdict.Entries{"r": lists}, nil)
	add("categories", tdict.Entries{"c": tensor.Vector[int32](0, 2, 1, 0, 2)}, spec("c", func(s *tdict.Spec) { s.Categories = []string{"x", "y", "z"} }))
	for unit, layout := range map[string]string{"d": "2006-01-02", "s": "2006-01-02T15:04:05Z", "ms": "2006-01-02T15:04:05.000", "us": "2006-01-02T15:04:05.000000Z", "ns": "2006-01-02T15:04:05.000000000"} {
		add("time "+unit, tdict.Entries{"t": tensor.Vector[int64](0, -1, 2, 19000, 5)}, spec("t", func(s *tdict.Spec) { s.Unit, s.Time = unit, layout }))
		add("unit "+unit, tdict.Entries{"t": tensor.Vector[int64](0, -1, 2, 19000, 5)}, spec("t", func(s *tdict.Spec) { s.Unit = unit }))
	}
	add("other units", tdict.Entries{"t": tensor.Vector[float32](0, -1, 2, 19000, 5)}, spec("t", func(s *tdict.Spec) { s.Unit, s.Doc, s.Bare = "mmHg", "pressure", true }))
	add("nested", tdict.Entries{"a/x": numbers(t, tensor.Int16, n), "a/b/y": numbers(t, tensor.Float64, n, 2), "a/b/s": texts, "z": numbers(t, tensor.Bool, n)}, nil)
	return all
}

// TestChunksAreNotKept: Write does not use a chunk after it has taken the next one.
func TestChunksAreNotKept(t *testing.T) {
	const n = 5
	for name, k := range kinds(t, n) {
		t.Run(name, func(t *testing.T) {
			other := tensor.Must(k.schema.Zeros(n))
			chunks := func(yield func(*tdict.TensorDict, error) bool) {
				for i := range 3 {
					chunk := tensor.Must(k.td.Clone())
					if i == 1 {
						chunk = tensor.Must(other.Clone())
					}
					if !yield(chunk, nil) {
						return
					}
					for _, leaf := range chunk.Leaves() { // garbage, so that what is kept shows
						x, _ := leaf.(*tensor.Tensor)
						if r, ok := leaf.(*ragged.Tensor); ok {
							x = tensor.Must(r.Values())
						}
						ones := tensor.Must(tensor.Must(tensor.Full[int8](1, x.Shape()...)).Cast(x.DType()))
						require.NoError(t, x.CopyFrom(ones))
					}
				}
			}
			var b bytes.Buffer
			require.NoError(t, tdparquet.Write(t.Context(), &b, k.schema, chunks, tdparquet.WriteOptions{}))
			equal(t, tensor.Must(cat([]*tdict.TensorDict{k.td, other, k.td})), readAll(t, b.Bytes(), tdparquet.Options{}))
		})
	}
}

// TestNoSchema: without a schema it is the schema of the first chunk.
func TestNoSchema(t *testing.T) {
	td := tensor.Must(tdict.FromMap([]int{3}, tdict.Entries{"x": tensor.Vector[int64](1, 2, 3)}))
	equal(t, td, readAll(t, write(t, td, nil, tdparquet.WriteOptions{}), tdparquet.Options{}))
	none := func(func(*tdict.TensorDict, error) bool) {}
	require.ErrorIs(t, tdparquet.Write(t.Context(), new(bytes.Buffer), nil, none, tdparquet.WriteOptions{}), tdict.ErrMissing)
}
