package csv_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/internal/table/tabletest"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var bg = context.Background()

// read reads all rows, as clones of the chunks.
func read(text string, schema tdict.Schema, opt csv.ReadOptions) ([]*tdict.TensorDict, error) {
	return tabletest.Clones(csv.Read(bg, strings.NewReader(text), schema, opt))
}

// values returns the entries of all rows, in lines: texts quoted, all else as JSON.
func values(t testing.TB, chunks []*tdict.TensorDict) string {
	t.Helper()
	if len(chunks) == 0 {
		return ""
	}
	all := tensor.Must(shapeops.Cat(chunks, 0))
	var parts []string
	for key, v := range all.Leaves() {
		if r, ok := v.(*ragged.Tensor); ok {
			parts = append(parts, fmt.Sprintf("%s %q", key, tensor.Must(ragged.Strings(r))))
			continue
		}
		var node struct{ Values json.RawMessage }
		require.NoError(t, json.Unmarshal(tensor.Must(json.Marshal(v)), &node))
		parts = append(parts, fmt.Sprintf("%s %s", key, node.Values))
	}
	return strings.Join(parts, "; ")
}

// in returns the options that have a format.
func in(f csv.Format) csv.ReadOptions { return csv.ReadOptions{Format: f} }

var (
	number   = tdict.Schema{{Key: "x", DType: tensor.Int64}}
	optional = tdict.Schema{{Key: "x", DType: tensor.Float64, Optional: true}}
	text     = tdict.Schema{{Key: "s", Kind: tdict.KindText}}
	both     = tdict.Schema{{Key: "s", Kind: tdict.KindText}, {Key: "x", DType: tensor.Int64}}
)

func TestRead(t *testing.T) {
	pairs := tdict.Schema{{Key: "p", DType: tensor.Int8, Shape: shapeops.Shape{2}}, {Key: "in/q", Kind: tdict.KindText, Optional: true}}
	tests := []struct {
		name, text string
		schema     tdict.Schema
		opt        csv.ReadOptions
		want       string
	}{
		{"a header and rows", "x\n1\n2\n", number, csv.ReadOptions{}, "x [1,2]"},
		{"the last line has no end", "x\n1\n2", number, csv.ReadOptions{}, "x [1,2]"},
		{"CRLF", "x\r\n1\r\n2\r\n", number, csv.ReadOptions{}, "x [1,2]"},
		{"a carriage return at the end", "x\n1\r", number, csv.ReadOptions{}, "x [1]"},
		{"CR alone", "s,x\ra,1\rb,2\r", both, csv.ReadOptions{}, `s ["a" "b"]; x [1,2]`},
		{"CR alone, without an end", "s,x\ra,1\rb,2", both, csv.ReadOptions{}, `s ["a" "b"]; x [1,2]`},
		{"CR CR LF", "s,x\r\r\na,1\r\r\nb,2\r\r\n", both, csv.ReadOptions{}, `s ["a" "b"]; x [1,2]`},
		{"CR in a file with LF and CRLF", "x\n1\r2\r\n3\n", number, csv.ReadOptions{}, "x [1,2,3]"},
		{"CR in quotes", "s,x\r\"a\rb\",1\r\"a\r\nb\r\",2\r", both, csv.ReadOptions{}, `s ["a\rb" "a\r\nb\r"]; x [1,2]`},
		{"CR behind quotes", "s,x\r\"a\"\"\",1\r\"b\",2\r", both, csv.ReadOptions{}, `s ["a\"" "b"]; x [1,2]`},
		{"CR behind a comment", "\ufeff# it's \"one\rs,x\r#\ra,1\r\"b\",2", both, in(csv.Format{Comment: '#'}), `s ["a" "b"]; x [1,2]`},
		{"empty lines", "\n\nx\n\n1\n\r\n2\n\n", number, csv.ReadOptions{}, "x [1,2]"},
		{"a byte order mark", "\ufeffx\n1\n", number, csv.ReadOptions{}, "x [1]"},
		{"a quoted header behind the mark", "\ufeff\"x\"\n1\n", number, csv.ReadOptions{}, "x [1]"},
		{"quotes", "s\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"\"\n", text, csv.ReadOptions{}, `s ["a,b" "say \"hi\"" ""]`},
		{"lines in quotes", "s,x\n\"a\nb\",1\n\"a\r\nb\",2\n", both, csv.ReadOptions{}, `s ["a\nb" "a\r\nb"]; x [1,2]`},
		{"columns in another order", "x,s\n1,a\n", both, csv.ReadOptions{}, `s ["a"]; x [1]`},
		{"blanks stay", "s,x\n a ,1\n", both, csv.ReadOptions{}, `s [" a "]; x [1]`},
		{"another delimiter", "s;x\na,b;1\n", both, in(csv.Format{Comma: ';'}), `s ["a,b"]; x [1]`},
		{"tabs", "s\tx\na\t1\n", both, in(csv.Format{Comma: '\t'}), `s ["a"]; x [1]`},
		{"comments", "# one\ns,x\n#\"two\na#,1\n", both, in(csv.Format{Comment: '#'}), `s ["a#"]; x [1]`},
		{"no header", "a,1\nb,2\n", both, in(csv.Format{NoHeader: true}), `s ["a" "b"]; x [1,2]`},
		{"elements and nested keys", "in/q,p.0,p.1\na,1,2\nNA,3,4\n", pairs, in(csv.Format{Separator: "/"}), `p [[1,2],[3,4]]; in/q ["a" ""]; in/q_mask [true,false]`},
		{"another separator", "in.q,p.0,p.1\na,1,2\n", pairs, in(csv.Format{Separator: "."}), `p [[1,2]]; in/q ["a"]; in/q_mask [true]`},
		{"an optional entry is lacking", "p.0,p.1\n1,2\n", pairs, csv.ReadOptions{}, `p [[1,2]]; in/q [""]; in/q_mask [false]`},
		{"unknown columns are skipped", "y,x,z\na,1,\"b\nc\"\n", number, csv.ReadOptions{SkipUnknown: true}, "x [1]"},
		{"missing numbers", "x\n1.5\nNA\n\"\"\nNaN\n", optional, csv.ReadOptions{}, `x [1.5,0,0,"NaN"]; x_mask [true,false,false,true]`},
		{"spellings of missing values", "x\n1\n-\nNA\n", optional, in(csv.Format{NA: []string{"-", "NA"}}), `x [1,0,0]; x_mask [true,false,false]`},
		{"a value that fills", "x\n1\nNA\n", number, in(csv.Format{Fill: map[nestedkey.Key]string{"x": "-1"}}), `x [1,-1]`},
		{"a mask and a value that fills", "x\n1\nNA\n", optional, in(csv.Format{Fill: map[nestedkey.Key]string{"x": "NaN"}}), `x [1,"NaN"]; x_mask [true,false]`},
		{"NA is a text", "s\nNA\n", text, csv.ReadOptions{}, `s ["NA"]`},
		{"a missing text has no quotes", "s,x\nNA,1\n\"NA\",2\n,3\n\"\",4\n", tdict.Schema{{Key: "s", Kind: tdict.KindText, Optional: true}, both[1]}, csv.ReadOptions{},
			`s ["" "NA" "" ""]; s_mask [false,true,false,true]; x [1,2,3,4]`},
		{"bytes that are not UTF-8", "s\n\xff\n", text, csv.ReadOptions{}, `s ["\xff"]`},
		{"times", "x\n1970-01-02\n1969-12-31\n", tdict.Schema{{Key: "x", DType: tensor.Int64, Time: time.DateOnly, Unit: "d"}}, csv.ReadOptions{}, "x [1,-1]"},
		{"categories", "x.0,x.1\nb,a\nNA,\"NA\"\n", tdict.Schema{{Key: "x", DType: tensor.Uint8, Shape: shapeops.Shape{2}, Categories: []string{"a", "b", "NA"}, Optional: true}}, csv.ReadOptions{}, "x [[1,0],[0,2]]; x_mask [[true,true],[false,true]]"},
		{"equal headers", "x,y,x\n1,2,3\n", tdict.Schema{{Key: "x", DType: tensor.Int64}, {Key: "x_2", DType: tensor.Int64, Columns: []string{"x"}}}, csv.ReadOptions{SkipUnknown: true}, "x [1]; x_2 [3]"},
		{"the second of equal headers", "x,y,x\n1,2,3\n", tdict.Schema{{Key: "x_2", DType: tensor.Int64, Columns: []string{"x"}}}, csv.ReadOptions{SkipUnknown: true}, "x_2 [3]"},
		{"equal headers with other keys", "x,y,x\n1,2,3\n", tdict.Schema{{Key: "b", DType: tensor.Int64, Columns: []string{"x"}}, {Key: "a", DType: tensor.Int64, Columns: []string{"x"}}}, csv.ReadOptions{SkipUnknown: true}, "b [1]; a [3]"},
		{"decimal commas", "x;n\n1,5;1.234.567\n-1.234,25;12\n1e3;0\nNaN;-1.000\n", tdict.Schema{{Key: "x", DType: tensor.Float64}, {Key: "n", DType: tensor.Int64}}, in(csv.Format{Comma: ';', Decimal: ',', Thousands: '.'}), `x [1.5,-1234.25,1000,"NaN"]; n [1234567,12,0,-1000]`},
		{"thousands", "x\n\"1,234.5\"\n\"1,234\"\n1234\n", optional, in(csv.Format{Thousands: ','}), "x [1234.5,1234,1234]; x_mask [true,true,true]"},
		{"extremes", "x\n9223372036854775807\n-9223372036854775808\n", number, csv.ReadOptions{}, "x [9223372036854775807,-9223372036854775808]"},
		{"no rows", "x\n", number, csv.ReadOptions{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, workers := range []int{0, 1, 3} {
				opt := tt.opt
				opt.Workers = max(opt.Workers, workers)
				chunks, err := read(tt.text, tt.schema, opt)
				require.NoError(t, err)
				require.Equal(t, tt.want, values(t, chunks))
			}
		})
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, text   string
		want         error
		line, column int
	}{
		{"too few fields", "a\n", csv.ErrFields, 4, 0},
		{"too many fields", "a,1,2,3\n", csv.ErrFields, 4, 0},
		{"a fraction", "a,1.5\n", csv.ErrValue, 4, 3},
		{"out of range", "a,9223372036854775808\n", csv.ErrValue, 4, 3},
		{"a blank", "a, 1\n", csv.ErrValue, 4, 3},
		{"a missing value", "a,NA\n", csv.ErrValue, 4, 3},
		{"behind lines in quotes", "\"a\nb\",x\n", csv.ErrValue, 5, 4},
		{"a quote in a field", "a\"b,1\n", csv.ErrSyntax, 4, 1},
		{"a letter after a quote", "\"a\"b,1\n", csv.ErrSyntax, 4, 1},
		{"a quote that is not closed", "\"a,1\n", csv.ErrSyntax, 4, 1},
		{"a long record", "\"" + strings.Repeat("x", 1<<10) + "\",1\n", csv.ErrTooLong, 4, 0},
		{"a long record of many lines", "\"" + strings.Repeat("x\n", 1<<10) + "\",1\n", csv.ErrTooLong, 4, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chunks, err := read("s,x\na,1\n\n"+tt.text+"b,2\n", both, csv.ReadOptions{MaxRecord: 1 << 9})
			testkit.Fails(t, tt.want, err)
			e, ok := errors.AsType[*csv.ParseError](err)
			require.True(t, ok)
			require.Equal(t, []int{tt.line, tt.column}, []int{e.Line, e.Column})
			require.Equal(t, `s ["a"]; x [1]`, values(t, chunks), "the rows before")
		})
	}
}

func TestRefusals(t *testing.T) {
	ragged := tdict.Schema{{Key: "r", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1}}
	pair := tdict.Schema{{Key: "p", DType: tensor.Int8, Shape: shapeops.Shape{2}}}
	tests := []struct {
		name, text string
		schema     tdict.Schema
		opt        csv.ReadOptions
		want       error
	}{
		{"an empty file", "", number, csv.ReadOptions{}, csv.ErrHeader},
		{"an unknown column", "x,y\n", number, csv.ReadOptions{}, csv.ErrHeader},
		{"a column twice", "x,x\n", number, csv.ReadOptions{}, csv.ErrHeader},
		{"behind comments", "# a\n\ny\n", number, in(csv.Format{Comment: '#'}), csv.ErrHeader},
		{"a column that lacks", "s\n", both, csv.ReadOptions{}, csv.ErrHeader},
		{"elements in another order", "p.1,p.0\n", pair, csv.ReadOptions{}, csv.ErrHeader},
		{"an element that lacks", "p.0\n", pair, csv.ReadOptions{}, csv.ErrHeader},
		{"a bad quote in the header", "\"x\"y\n", number, csv.ReadOptions{}, csv.ErrSyntax},
		{"ragged numbers", "r\n", ragged, csv.ReadOptions{}, tdict.ErrSchema},
		{"an entry of too many columns", "p.0\n", tdict.Schema{{Key: "p", DType: tensor.Int8, Shape: shapeops.Shape{1 << 40}}}, csv.ReadOptions{}, tdict.ErrSchema},
		{"two entries of one header that the file has once", "a.b\n", tdict.Schema{{Key: "a/b", DType: tensor.Int8}, {Key: "a.b", DType: tensor.Int8}}, in(csv.Format{Separator: "."}), csv.ErrHeader},
		{"one of equal headers with another key", "x,x\n", tdict.Schema{{Key: "a", DType: tensor.Int64, Columns: []string{"x"}}}, csv.ReadOptions{SkipUnknown: true}, csv.ErrHeader},
		{"a header once more than the schema", "x,x\n", number, csv.ReadOptions{}, csv.ErrHeader},
		{"lists of texts", "r\n", tdict.Schema{{Key: "r", Kind: tdict.KindText, Depth: 1}}, csv.ReadOptions{}, tdict.ErrSchema},
		{"no entries", "x\n", nil, csv.ReadOptions{}, tdict.ErrSchema},
		{"a delimiter that numbers have", "x\n", number, in(csv.Format{Comma: '.'}), csv.ErrFormat},
		{"one delimiter for two things", "x\n", number, in(csv.Format{Comment: ','}), csv.ErrFormat},
		{"a decimal mark that begins comments", "x\n", number, in(csv.Format{Decimal: '#', Comment: '#'}), csv.ErrFormat},
		{"a decimal digit", "x\n", number, in(csv.Format{Decimal: '1'}), csv.ErrFormat},
		{"one mark for two things", "x\n", number, in(csv.Format{Thousands: '.'}), csv.ErrFormat},
		{"a sign between thousands", "x\n", number, in(csv.Format{Thousands: '-'}), csv.ErrFormat},
		{"a missing value with quotes", "x\n", number, in(csv.Format{NA: []string{"a,b"}}), csv.ErrFormat},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chunks, err := read(tt.text, tt.schema, tt.opt)
			testkit.Fails(t, tt.want, err)
			require.Empty(t, chunks)
		})
	}
}
