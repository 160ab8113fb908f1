package csv_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// typed is a schema of a text, a date, a category and a number.
var typed = tdict.Schema{
	{Key: "s", Kind: tdict.KindText},
	{Key: "d", DType: tensor.Int64, Time: time.DateOnly, Unit: "d"},
	{Key: "c", DType: tensor.Int8, Categories: []string{"a", "b"}},
	{Key: "x", DType: tensor.Int64},
}

// TestBadInput: an error says line, column and key; the rows before it are read.
func TestBadInput(t *testing.T) {
	tests := []struct {
		name, text   string
		want         error
		line, column int
		key          nestedkey.Key
	}{
		{"too many fields", "s,2026-11-29,a,1,2", csv.ErrFields, 3, 0, ""},
		{"too few fields", "s,2026-11-29,a", csv.ErrFields, 3, 0, "x"},
		{"a quote that never closes", "\"s,2026-11-29,a,1\ns,2026-11-29,a,1", csv.ErrSyntax, 3, 1, "s"},
		{"a huge field", "s" + strings.Repeat("s", 1<<12) + ",2026-11-29,a,1", csv.ErrTooLong, 3, 0, ""},
		{"NUL in a number", "s,2026-11-29,a,1\x00", csv.ErrValue, 3, 16, "x"},
		{"NUL in a date", "s,2026-11-2\x00,a,1", csv.ErrValue, 3, 3, "d"},
		{"an integer beyond int64", "s,2026-11-29,a,9223372036854775808", csv.ErrValue, 3, 16, "x"},
		{"an integer with an underscore", "s,2026-11-29,a,1_000", csv.ErrValue, 3, 16, "x"},
		{"hexadecimal", "s,2026-11-29,a,0x10", csv.ErrValue, 3, 16, "x"},
		{"an integer with an exponent", "s,2026-11-29,a,1e400", csv.ErrValue, 3, 16, "x"},
		{"year 10000", "s,10000-01-01,a,1", csv.ErrValue, 3, 3, "d"},
		{"a year with a sign", "s,-0001-01-01,a,1", csv.ErrValue, 3, 3, "d"},
		{"a date with a zone", "s,2026-11-29+02:00,a,1", csv.ErrValue, 3, 3, "d"},
		{"a day that does not exist", "s,2026-02-29,a,1", csv.ErrValue, 3, 3, "d"},
		{"a date with a time", "s,2026-11-29T00:00,a,1", csv.ErrValue, 3, 3, "d"},
		{"a missing date", "s,NA,a,1", csv.ErrValue, 3, 3, "d"},
		{"a category that is not listed", "s,2026-11-29,A,1", csv.ErrValue, 3, 14, "c"},
		{"a missing category", "s,2026-11-29,,1", csv.ErrValue, 3, 14, "c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, end := range []string{"\n", "\r\n", "\r"} {
				text := "\ufeffs,d,c,x\n\"\x00\",0000-01-01,b,-1\n" + tt.text + "\n"
				chunks, err := read(strings.ReplaceAll(text, "\n", end), typed, csv.ReadOptions{MaxRecord: 1 << 12})
				if i == 0 {
					testkit.Fails(t, tt.want, err)
				}
				require.ErrorIs(t, err, tt.want)
				e, ok := errors.AsType[*csv.ParseError](err)
				require.True(t, ok)
				require.Equal(t, []any{tt.line, tt.column, tt.key}, []any{e.Line, e.Column, e.Key})
				require.Equal(t, `s ["\x00"]; d [-719528]; c [1]; x [-1]`, values(t, chunks), "the rows before")
			}
		})
	}
}

// TestBadFilesAreNotInferred: an error says line, column and key.
func TestBadFilesAreNotInferred(t *testing.T) {
	for text, want := range map[string]string{
		"a,b\n1,2\n1\n":     `line 3, "b": wrong number of fields: got 1, want 2`,
		"a,b\n1,2\n1,2,3\n": "line 3: wrong number of fields: got 3, want 2",
		"a,b\n1,\"2\n\n\n":  `line 2, column 3, "b": bad quote: got the end of the record, want a closing quote`,
		"a,b\n1,2\"\n":      `line 2, column 3, "b": bad quote: got one in a field without quotes, want the field quoted and its quotes doubled`,
		"a,b\n" + strings.Repeat("x", 100) + "\n": "line 2: row is too long: got more than 50 bytes: raise MaxRecord",
		"a,b,\xff\n": `line 1: columns do not fit the schema: column 3: got the header "\xff", want UTF-8`,
	} {
		in := csv.NewInferrer(csv.Format{})
		in.MaxRecord = 50
		require.EqualError(t, in.Add(strings.NewReader(text), 0), want)
	}
}

// TestNumbersThatNoDTypeHolds become text, with the reason.
func TestNumbersThatNoDTypeHolds(t *testing.T) {
	for text, want := range map[string]string{
		"1_000":                 "a number would lose the spelling of 1_000 in line 2",
		"0x10":                  "a number would lose the spelling of 0x10 in line 2",
		"0b1":                   "a number would lose the spelling of 0b1 in line 2",
		"-007":                  "a number would lose the spelling of -007 in line 2",
		"1e400":                 "float64 does not hold 1e400 in line 2",
		"-1e-400":               "float64 does not hold -1e-400 in line 2",
		"18446744073709551616":  "no dtype holds 18446744073709551616 in line 2",
		"-9223372036854775809":  "no dtype holds -9223372036854775809 in line 2",
		"10000-01-01":           "",
		"2026-11-29T12:00+0200": "1 of 1 values have a zone, first 2026-11-29T12:00+0200 in line 2, and would be written back in UTC",
	} {
		in, s, err := inferred("x\n"+text+"\n", csv.Format{}, csv.Hints{})
		require.NoError(t, err)
		require.Equal(t, tdict.KindText, s[0].Kind, text)
		var notes []string
		if want != "" {
			notes = []string{`column "x" becomes text: ` + want}
		}
		require.Equal(t, notes, in.Notes(), text)
	}
	_, s, err := inferred("x\n9223372036854775808\n", csv.Format{}, csv.Hints{})
	require.NoError(t, err)
	require.Equal(t, tensor.Uint64, s[0].DType)
}

// TestManyColumns takes time in proportion to them: with their square it would be many minutes.
func TestManyColumns(t *testing.T) {
	n := longtests.Times(20_000, 100_000)
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d%c", i%(n/2), ",\n"[i/(n-1)]) // each header twice
	}
	text := b.String() + strings.Repeat("2026-11-29,", n-1) + "2026-11-29\n"
	start := time.Now()
	_, s, err := inferred(text, csv.Format{}, csv.Hints{})
	require.NoError(t, err)
	require.Len(t, s, n)
	rows, err := read(text, s, csv.ReadOptions{Workers: 1})
	require.NoError(t, err)
	require.True(t, text == written(t, s, csv.Format{}, rows...))
	require.Less(t, time.Since(start), 2*time.Minute)
}

// FuzzRoundTrip infers, reads and writes: dates, categories and texts come back as they were, and
// so does all else after one more round.
func FuzzRoundTrip(f *testing.F) {
	f.Add("d,d,c\n2026-11-29,2026-11-29T12:00:00.5Z,a\n0000-02-29,1969-12-31T23:59:59.0Z,b\nNA,NA,\"NA\"\n", false)
	f.Add("x;x\n1,5;1.234,5\n-0,5;1.234.567\n", true)
	f.Add("x\n2026-11-29 24:00\n2026-11-29 23:59\n", false)
	f.Add("x\n2026-11-29 23:59:59.25\n2026-11-29 23:59:59\n1969-12-31 23:59:59.000000001\n", false)
	f.Add("c,c\n,\"\"\nNA,\"NA\"\n", false)
	f.Add(",,\n1_000,1e400,0x10\n9999-12-31,10000-01-01,2026-11-29T12:00+02:00\n", false)
	f.Fuzz(func(t *testing.T, text string, marks bool) {
		format := csv.Format{}
		if marks {
			format = csv.Format{Comma: ';', Decimal: ',', Thousands: '.'}
		}
		in := csv.NewInferrer(format)
		in.Hints.Categories = map[nestedkey.Key]bool{}
		if strings.HasPrefix(text, "c") {
			in.Hints.Categories["c"] = true
		}
		s, err := tdict.Schema(nil), in.Add(strings.NewReader(text), 0)
		if err == nil {
			s, err = in.Schema()
		}
		if err != nil {
			_, ok := errors.AsType[*csv.ParseError](err)
			require.True(t, ok)
			return
		}
		in.Notes()
		require.NotEmpty(t, in.Explain())
		rows, err := read(text, s, csv.ReadOptions{Format: format})
		require.NoError(t, err)
		once := written(t, s, format, rows...)
		again, err := read(once, s, csv.ReadOptions{Format: format})
		require.NoError(t, err)
		require.Equal(t, once, written(t, s, format, again...))
		if len(rows) == 0 {
			return
		}
		require.Equal(t, values(t, rows), values(t, again))
		checkSpelled(t, text, once, s, format)
	})
}

// checkSpelled compares the fields of texts, dates and categories in two files.
func checkSpelled(t *testing.T, text, once string, s tdict.Schema, format csv.Format) {
	all := slices.Clone(s)
	for i, spec := range all {
		all[i] = tdict.Spec{Key: spec.Key, Kind: tdict.KindText, Shape: spec.Shape, Columns: spec.Columns, Optional: true}
	}
	opt := csv.ReadOptions{Format: format}
	want, err := read(text, all, opt)
	require.NoError(t, err)
	got, err := read(once, all, opt)
	require.NoError(t, err)
	for _, spec := range s {
		if spec.Kind == tdict.KindText || spec.Time != "" || spec.Categories != nil {
			require.Equal(t, fields(want, spec), fields(got, spec), spec.Key)
		}
	}
}

// fields returns the fields of an entry; NA of a date is missing in quotes, too.
func fields(chunks []*tdict.TensorDict, spec tdict.Spec) (all []string) {
	for _, chunk := range chunks {
		texts := tensor.Must(ragged.Strings(tensor.Must(tdict.Get[*ragged.Tensor](chunk, spec.Key))))
		for i, present := range tensor.Must(tdict.Slice[bool](chunk, spec.Key+"_mask")) {
			if !present || spec.Time != "" && (texts[i] == "" || texts[i] == "NA") {
				texts[i] = "missing"
			}
		}
		all = append(all, texts...)
	}
	return all
}
