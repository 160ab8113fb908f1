package csv_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// inferred returns the schema that an Inferrer with hints proposes.
func inferred(text string, f csv.Format, hints csv.Hints) (*csv.Inferrer, tdict.Schema, error) {
	in := csv.NewInferrer(f)
	in.Hints = hints
	if err := in.Add(strings.NewReader(text), 0); err != nil {
		return in, nil, err
	}
	s, err := in.Schema()
	return in, s, err
}

type (
	dates  = map[nestedkey.Key]string
	keys   = map[nestedkey.Key]bool
	dtypes = map[nestedkey.Key]tensor.DType
)

// TestHints: what is inferred with a hint is written back as it was.
func TestHints(t *testing.T) {
	tests := []struct {
		name, text string
		format     csv.Format
		hints      csv.Hints
		want       string // of String, without the headers of the table
		notes      []string
	}{
		{"a layout", "x\n24.12.2026\n01.01.0000\n", csv.Format{}, csv.Hints{Dates: dates{"x": "02.01.2006"}}, "x tensor int64 [] unit d, time 02.01.2006, 2 of 2 fields: times", nil},
		{"a layout with a zone", "x\n2026-11-29T12:00Z\nNA\n", csv.Format{}, csv.Hints{Dates: dates{"x": "2006-01-02T15:04Z07:00"}}, "x tensor int64 [] optional, unit s, time 2006-01-02T15:04Z07:00, 1 of 2 fields: times", nil},
		{"ISO 8601", "x\n2026-11-29\n", csv.Format{}, csv.Hints{Dates: dates{"x": ""}}, "x tensor int64 [] unit d, time 2006-01-02, 1 of 1 fields: dates from 2026-11-29 to 2026-11-29", nil},
		{"ISO 8601 without values", "x,y\nNA,1\n", csv.Format{}, csv.Hints{Dates: dates{"x": ""}, DTypes: dtypes{"y": tensor.Int8}}, "x text [] optional, 0 of 1 fields: no values, as text\ny tensor int8 [] 1 of 1 fields: values as int8", nil},
		{"categories", "x,y\nb,1\na,1\nNA,0\nb,NA\n", csv.Format{}, csv.Hints{Categories: keys{"x": true, "y": true}},
			"x tensor int32 [] optional, 2 categories \"a\" \"b\", 3 of 4 fields: texts of 1 to 1 bytes, 2 distinct\ny tensor int32 [] optional, 2 categories \"0\" \"1\", 3 of 4 fields: texts of 1 to 1 bytes, 2 distinct", nil},
		{"a category that looks missing", "x\n\"NA\"\n\"\"\na\n", csv.Format{}, csv.Hints{Categories: keys{"x": true}}, "x tensor int32 [] 3 categories \"\" \"NA\" \"a\", 3 of 3 fields: texts of 0 to 2 bytes, 3 distinct", nil},
		{"categories of elements", "x.0,x.1\nb,a\na,c\n", csv.Format{}, csv.Hints{Categories: keys{"x": true}}, "x tensor int32 [2] 3 categories \"a\" \"b\" \"c\", 4 of 4 fields: texts of 1 to 1 bytes, 3 distinct", nil},
		{"one of two elements", "x.0,x.1,y.0,y.1\n1,2,a,b\n", csv.Format{}, csv.Hints{DTypes: dtypes{"x.0": tensor.Int8}, Categories: keys{"y.1": true}},
			"x.0 tensor int8 [] 1 of 1 fields: values as int8\nx.1 tensor int64 [] 1 of 1 fields: integers from 2 to 2\ny.0 text [] 1 of 1 fields: texts of 1 to 1 bytes, 1 distinct\ny.1 tensor int32 [] 1 categories \"b\", 1 of 1 fields: texts of 1 to 1 bytes, 1 distinct", nil},
		{"all elements", "x.0,x.1\n1,2\n", csv.Format{}, csv.Hints{DTypes: dtypes{"x": tensor.Int8}}, "x tensor int8 [2] 2 of 2 fields: values as int8", nil},
		{"dates of elements", "x.0,x.1\n1/2/2026,2/2/2026\n", csv.Format{}, csv.Hints{Dates: dates{"x": "2/1/2006"}}, "x tensor int64 [2] unit d, time 2/1/2006, 2 of 2 fields: times", nil},
		{"the second of equal headers", "x,x\n1,1\n", csv.Format{}, csv.Hints{Categories: keys{"x_2": true}}, "x tensor int64 [] 1 of 1 fields: integers from 1 to 1\nx_2 tensor int32 [] 1 categories \"1\", column \"x\", 1 of 1 fields: texts of 1 to 1 bytes, 1 distinct", []string{`column "x" becomes the entry "x_2", since its name is taken`}},
		{"dtypes", "a,b,c\n1,2.5,007\n", csv.Format{}, csv.Hints{DTypes: dtypes{"a": tensor.Uint8, "b": tensor.Float16, "c": 0}}, "a tensor uint8 [] 1 of 1 fields: values as uint8\nb tensor float16 [] 1 of 1 fields: values as float16\nc text [] 1 of 1 fields: texts of 3 to 3 bytes, 1 distinct", nil},
		{"numbers that stay text", "a\n1\n2026-11-29\n", csv.Format{}, csv.Hints{DTypes: dtypes{"a": 0}}, "a text [] 2 of 2 fields: texts of 1 to 10 bytes, 2 distinct", nil},
		{"float32", "a,b\n0.5,1\n1e300,2\n", csv.Format{}, csv.Hints{Float32: true}, "a tensor float64 [] 2 of 2 fields: numbers from 0.5 to 1e300; float32 does not hold 1e+300\nb tensor int64 [] 2 of 2 fields: integers from 1 to 2", []string{`column "a" becomes float64: float32 does not hold 1e+300`}},
		{"float32 of a number close to 0", "a,b\n0.5,0.0\n1e-50,1e-45\n", csv.Format{}, csv.Hints{Float32: true}, "a tensor float64 [] 2 of 2 fields: numbers from 1e-50 to 0.5; float32 would make 0 of 1e-50 in line 3\nb tensor float32 [] 2 of 2 fields: numbers from 0.0 to 1e-45", []string{`column "a" becomes float64: float32 would make 0 of 1e-50 in line 3`}},
		{"float32 of all", "a\n0.5\nNaN\n", csv.Format{}, csv.Hints{Float32: true}, "a tensor float32 [] 2 of 2 fields: numbers from 0.5 to 0.5", nil},
		{"decimal commas", "x;n;d\n0,5;3;2026-11-29\n1,5;4;2026-11-30\n", csv.Format{Comma: ';', Decimal: ','}, csv.Hints{DTypes: dtypes{"n": tensor.Int8}}, "x tensor float64 [] 2 of 2 fields: numbers from 0.5 to 1.5\nn tensor int8 [] 2 of 2 fields: values as int8\nd tensor int64 [] unit d, time 2006-01-02, 2 of 2 fields: dates from 2026-11-29 to 2026-11-30", nil},
		{"a point among decimal commas", "x\n1,5\n1.5\n2,5\n", csv.Format{Comma: ';', Decimal: ','}, csv.Hints{}, "x text [] 3 of 3 fields: texts of 3 to 3 bytes, 3 distinct; 1 of 3 values are not numbers, first \"1.5\" in line 3", []string{`column "x" becomes text: 1 of 3 values are not numbers, first "1.5" in line 3`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inferrer, s, err := inferred(tt.text, tt.format, tt.hints)
			require.NoError(t, err)
			require.Equal(t, tt.want, lines(s))
			require.Equal(t, tt.notes, inferrer.Notes())
			rows, err := read(tt.text, s, in(tt.format))
			require.NoError(t, err, "what was seen can be read")
			if strings.Contains(tt.text, "1e300") {
				return // it is written 1e+300
			}
			require.Equal(t, tt.text, written(t, s, tt.format, rows...))
		})
	}
}

// in2 returns the options that have a format.
// TestSpellingsAreTold: a time that package time reads, and writes in another way.
func TestSpellingsAreTold(t *testing.T) {
	in, s, err := inferred("x\n2026-11-29 12:00\n2026-11-29 3:00\n", csv.Format{}, csv.Hints{Dates: dates{"x": "2006-01-02 15:04"}})
	require.NoError(t, err)
	require.Equal(t, []string{`column "x" becomes int64 of times as 2006-01-02 15:04 in s: 1 times would be written back in another spelling, first 2026-11-29 3:00 in line 3`}, in.Notes())
	require.NoError(t, testkit.Err(read("x\n2026-11-29 12:00\n2026-11-29 3:00\n", s, csv.ReadOptions{})))
}

func TestHintRefusals(t *testing.T) {
	day := csv.Hints{Dates: dates{"x": time.DateOnly}}
	tests := []struct {
		name, text string
		format     csv.Format
		hints      csv.Hints
		want       error
	}{
		{"a value that is no date", "s,x\na,2026-11-24\nb,never\n", csv.Format{}, day, csv.ErrValue},
		{"a value that is no date of ISO 8601", "s,x\na,2026-11-24\nb,never\n", csv.Format{}, csv.Hints{Dates: dates{"x": ""}}, csv.ErrValue},
		{"half of the values", "s,x\na,2026-11-24\nb,never\nc,ever\n", csv.Format{}, csv.Hints{Dates: dates{"x": ""}}, csv.ErrValue},
		{"a value out of range", "s,x\na,1\nb,300\n", csv.Format{}, csv.Hints{DTypes: dtypes{"x": tensor.Uint8}}, csv.ErrValue},
		{"a point instead of a comma", "s;x\na;1.5\n", csv.Format{Comma: ';', Decimal: ','}, csv.Hints{DTypes: dtypes{"x": tensor.Float32}}, csv.ErrValue},
		{"groups of two digits", "s;x\na;1.23,5\n", csv.Format{Comma: ';', Decimal: ',', Thousands: '.'}, csv.Hints{DTypes: dtypes{"x": tensor.Float32}}, csv.ErrValue},
		{"a key that is no column", "y\n1\n", csv.Format{}, day, tdict.ErrSchema},
		{"a key without a file", "1\n", csv.Format{NoHeader: true}, day, tdict.ErrSchema},
		{"two hints", "x\n1\n", csv.Format{}, csv.Hints{Dates: dates{"x": ""}, Categories: keys{"x": true}}, tdict.ErrSchema},
		{"a dtype that does not exist", "x\n1\n", csv.Format{}, csv.Hints{DTypes: dtypes{"x": 99}}, tdict.ErrSchema},
		{"categories that are not UTF-8", "x\n\xff\n", csv.Format{}, csv.Hints{Categories: keys{"x": true}}, csv.ErrValue},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := inferred(tt.text, tt.format, tt.hints)
			testkit.Fails(t, tt.want, err)
		})
	}
}

// TestExplain has a line for each column.
func TestExplain(t *testing.T) {
	const text = "id,name,age,born,sex,p.0,p.1,id,zip,none,at,big\n" +
		"1,Ada,30,2026-11-24,f,1,2.5,7,00100,NA,2026-11-29T12:00:00.5Z,18446744073709551615\n" +
		"2,,n/a,2026-11-25,m,1,2,8,01234,,2026-11-29T12:00:00.0Z,1\n" +
		"3,Carl,31,NA,f,1,,9,01234,,2026-11-29T12:00:01.0Z,1\n" +
		"4,Carl,32,0000-01-01,f,1,3,10,01234,,2026-11-29T12:00:01.0Z,1\n"
	in, s, err := inferred(text, csv.Format{}, csv.Hints{Categories: keys{"sex": true}})
	require.NoError(t, err)
	require.Equal(t, []string{
		`column "id": int64, 4 values, 0 missing: integers from 1 to 4`,
		`column "name": text, 3 values, 1 missing: texts of 3 to 4 bytes, 2 distinct`,
		`column "age": text, 4 values, 0 missing: texts of 2 to 3 bytes, 4 distinct; 1 of 4 values are not numbers, first "n/a" in line 3`,
		`column "born": int64 of times as 2006-01-02 in d, 3 values, 1 missing: dates from 0000-01-01 to 2026-11-25`,
		`column "sex": int32 of 2 categories, 4 values, 0 missing: texts of 1 to 1 bytes, 2 distinct`,
		`column "p.0": float64, 4 values, 0 missing: integers from 1 to 1`,
		`column "p.1": float64, 3 values, 1 missing: numbers from 2 to 3`,
		`column "id", entry "id_2": int64, 4 values, 0 missing: integers from 7 to 10`,
		`column "zip": text, 4 values, 0 missing: texts of 5 to 5 bytes, 2 distinct; a number would lose the spelling of 00100 in line 2`,
		`column "none": text, 0 values, 4 missing: no values, as text`,
		`column "at": int64 of times as 2006-01-02T15:04:05.0Z in ms, 4 values, 0 missing: times from 2026-11-29T12:00:00.0Z to 2026-11-29T12:00:01.0Z`,
		`column "big": uint64, 4 values, 0 missing: integers from 1 to 18446744073709551615`,
	}, in.Explain())
	again, err := in.Schema()
	require.NoError(t, err)
	require.Equal(t, s, again, "Schema can be called twice")
}

// TestHeaders: each header becomes a key, and comes back as it was.
func TestHeaders(t *testing.T) {
	long := strings.Repeat("é", 150)
	tests := []struct {
		name, headers string
		format        csv.Format
		keys          []nestedkey.Key
	}{
		{"one part", "km/h,~,device,shape,_type,., a ,300", csv.Format{}, []nestedkey.Key{"km~1h", "~0", "device", "shape", "_type", ".", " a ", "300"}},
		{"300 bytes", long + "," + long, csv.Format{}, []nestedkey.Key{nestedkey.Key(long), nestedkey.Key(long + "_2")}},
		{"equal headers", "a,a,a_2,a", csv.Format{}, []nestedkey.Key{"a", "a_3", "a_2", "a_4"}},
		{"empty headers", ",,", csv.Format{}, []nestedkey.Key{"", "_2", "_3"}},
		{"equal elements", "x.0,x.1,x.0,x.1", csv.Format{}, []nestedkey.Key{"x.0", "x.1", "x.0_2", "x.1_2"}},
		{"an element and its entry", "x.0,x", csv.Format{}, []nestedkey.Key{"x.0", "x"}},
		{"nested", "a/b,a/c,a/b,d", csv.Format{Separator: "/"}, []nestedkey.Key{"a/b", "a/c", "a/b_2", "d"}},
		{"a dictionary that is an entry", "a,a/b,c/d,c", csv.Format{Separator: "/"}, []nestedkey.Key{"a", "a~1b", "c/d", "c_2"}},
		{"too many parts", strings.Repeat("a/", 300) + "a", csv.Format{Separator: "/"}, []nestedkey.Key{nestedkey.Of(strings.Repeat("a/", 300) + "a")}},
		{"a part with the mark of keys", "a/b.c", csv.Format{Separator: "."}, []nestedkey.Key{"a~1b/c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			row := strings.Repeat("1,", len(tt.keys)-1) + "1\n"
			text := quotedBlanks(tt.headers) + "\n" + row
			in, s, err := inferred(text, tt.format, csv.Hints{})
			require.NoError(t, err)
			var got []nestedkey.Key
			for _, spec := range s {
				got = append(got, spec.Key)
			}
			require.Equal(t, tt.keys, got)
			rows, err := read(text, s, csv.ReadOptions{Format: tt.format})
			require.NoError(t, err)
			require.Equal(t, text, written(t, s, tt.format, rows...))
			require.NoError(t, tensor.Must(csv.ChunkSchema(s, tt.format)).Check(rows[0]))
			require.NoError(t, in.Add(strings.NewReader(text), 0), "another file with these headers")
			require.Equal(t, tt.keys[0], tensor.Must(in.Schema())[0].Key)
		})
	}
}

// quotedBlanks quotes headers with blanks around them, as Write does.
func quotedBlanks(headers string) string { return strings.ReplaceAll(headers, " a ", `" a "`) }
