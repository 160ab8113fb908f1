package csv_test

import (
	"bytes"
	"io"
	"iter"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// chunks yields dictionaries.
func chunks(tds ...*tdict.TensorDict) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		for _, td := range tds {
			if !yield(td, nil) {
				return
			}
		}
	}
}

// written returns what Write writes.
func written(t testing.TB, s tdict.Schema, f csv.Format, tds ...*tdict.TensorDict) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, csv.Write(bg, &b, s, chunks(tds...), f))
	return b.String()
}

// textsOf returns rows of texts under the key "s".
func textsOf(texts ...string) *tdict.TensorDict {
	return tensor.Must(tdict.FromMap(shapeops.Shape{len(texts)}, tdict.Entries{"s": tensor.Must(ragged.FromStrings(texts))}))
}

func TestWrite(t *testing.T) {
	maybe := tdict.Schema{{Key: "s", Kind: tdict.KindText, Optional: true}}
	tests := []struct {
		name   string
		schema tdict.Schema
		format csv.Format
		td     *tdict.TensorDict
		want   string
	}{
		{"texts", text, csv.Format{}, textsOf("a", "b,c", `say "hi"`, "a\nb", "a\r", " a", "a ", "é\xff", "NA"),
			"s\na\n\"b,c\"\n\"say \"\"hi\"\"\"\n\"a\nb\"\n\"a\r\"\n\" a\"\n\"a \"\né\xff\n\"NA\"\n"},
		{"texts that Infer would take for floats", text, csv.Format{}, textsOf("NaN", "-Inf"), "s\n\"NaN\"\n\"-Inf\"\n"},
		{"a text that begins like UTF-16", text, csv.Format{NoHeader: true}, textsOf("\xff\xfea"), "\"\xff\xfea\"\n"},
		{"floats that are integers", tdict.Schema{{Key: "x", DType: tensor.Float64}}, csv.Format{}, tensor.Must(tdict.FromMap(shapeops.Shape{5}, tdict.Entries{"x": tensor.Vector(1, math.Copysign(0, -1), 1e21, 1e6, 100)})),
			"x\n1.0\n-0.0\n1e+21\n1e+06\n100.0\n"},
		{"an empty text alone", text, csv.Format{}, textsOf("", "a"), "s\n\"\"\na\n"},
		{"texts that look missing", maybe, csv.Format{}, textsOf("NA", "", "a"), "s\n\"NA\"\n\"\"\na\n"},
		{"a missing number alone, spelled as nothing", optional, csv.Format{NA: []string{""}},
			tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{"x": tensor.Vector(1.0, 0), "x_mask": tensor.Vector(true, false)})), "x\n1.0\n\"\"\n"},
		{"a comment", text, csv.Format{Comment: '#'}, textsOf("#a", "a#"), "s\n\"#a\"\na#\n"},
		{"a byte order mark", text, csv.Format{NoHeader: true}, textsOf("\ufeffa"), "\"\ufeffa\"\n"},
		{"another delimiter", text, csv.Format{Comma: ';'}, textsOf("a;b", "a,b"), "s\n\"a;b\"\na,b\n"},
		{"no rows", text, csv.Format{}, textsOf(), "s\n"},
		{"decimal commas", tdict.Schema{{Key: "x", DType: tensor.Float64}}, csv.Format{Decimal: ',', Comma: ';'}, tensor.Must(tdict.FromMap(shapeops.Shape{4}, tdict.Entries{"x": tensor.Vector(1234567.5, 1e21, math.Inf(1), -0.25)})),
			"x\n1,2345675e+06\n1e+21\n+Inf\n-0,25\n"},
		{"decimal commas between commas", tdict.Schema{{Key: "x", DType: tensor.Float64}}, csv.Format{Decimal: ','}, tensor.Must(tdict.FromMap(shapeops.Shape{1}, tdict.Entries{"x": tensor.Vector(1.5)})), "x\n\"1,5\"\n"},
		{"numbers", tdict.Schema{{Key: "in/f", DType: tensor.Float32, Shape: shapeops.Shape{2}}}, csv.Format{Separator: "."},
			tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{"in/f": tensor.Must(tensor.From([]float32{0.1, 1e-45, 3, float32(math.Inf(-1))}, 2, 2))})),
			"in.f.0,in.f.1\n0.1,1e-45\n3.0,-Inf\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := written(t, tt.schema, tt.format, tt.td)
			require.Equal(t, tt.want, got)
			back, err := read(got, tt.schema, in(tt.format))
			require.NoError(t, err)
			if tt.td.Shape()[0] > 0 {
				key := tt.schema[0].Key
				require.Equal(t, values(t, []*tdict.TensorDict{tensor.Must(tt.td.Select(key))}), values(t, []*tdict.TensorDict{tensor.Must(back[0].Select(key))}))
			}
		})
	}
}

func TestWriteRefusals(t *testing.T) {
	nan := tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{"x": tensor.Vector(1, math.NaN())}))
	lengths := tensor.Must(tdict.FromMap(shapeops.Shape{1}, tdict.Entries{"s": tensor.Must(ragged.From[int8]([][]int8{{1}}))}))
	far := make([]float64, 5000)
	far[4999] = math.NaN()
	tests := []struct {
		name   string
		schema tdict.Schema
		format csv.Format
		td     *tdict.TensorDict
		want   error
	}{
		{"the last of many rows", optional, csv.Format{NA: []string{"NaN"}}, tensor.Must(tdict.FromMap(shapeops.Shape{5000}, tdict.Entries{"x": tensor.Vector(far...)})), csv.ErrValue},
		{"a number that reads back as missing", optional, csv.Format{NA: []string{"NaN"}}, nan, csv.ErrValue},
		{"no spelling of what is missing", optional, csv.Format{NA: []string{}}, nan, csv.ErrFormat},
		{"a missing text that is an empty line", tdict.Schema{{Key: "s", Kind: tdict.KindText, Optional: true}}, csv.Format{NA: []string{""}}, textsOf("a"), csv.ErrFormat},
		{"ragged numbers", tdict.SchemaOf(lengths), csv.Format{}, lengths, tdict.ErrSchema},
		{"a bad format", number, csv.Format{Comma: 'x'}, nan, csv.ErrFormat},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, tt.want, csv.Write(bg, io.Discard, tt.schema, chunks(tt.td), tt.format))
		})
	}
}

// TestQuotedTimes have a delimiter or a quote in them, or begin a comment.
func TestQuotedTimes(t *testing.T) {
	f := csv.Format{Comment: '#'}
	for _, layout := range []string{time.RFC1123, "#2006-01-02", `"02" January 2006`, "2006\n01\r\n02", " 2006"} {
		s := tdict.Schema{{Key: "x", DType: tensor.Int64, Time: layout, Unit: "s"}}
		td := tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{"x": tensor.Vector[int64](0, 365*86400)}))
		back := tensor.Must(read(written(t, s, f, td), s, in(f)))
		require.True(t, td.Equal(back[0]), layout)
	}
}
