package csv_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

func TestInfer(t *testing.T) {
	tests := []struct {
		name, text string
		format     csv.Format
		want       string // of String, without the headers of the table
	}{
		{"bools", "x\ntrue\nFALSE\n", csv.Format{}, "x tensor bool [] 2 of 2 fields: true or false"},
		{"0 and 1 are integers", "x\n0\n1\n", csv.Format{}, "x tensor int64 [] 2 of 2 fields: integers from 0 to 1"},
		{"integers", "x\n-3\n17\nNA\n", csv.Format{}, "x tensor int64 [] optional, 2 of 3 fields: integers from -3 to 17"},
		{"integers with a plus", "x\n+5\n-0\n", csv.Format{}, "x tensor int64 [] 2 of 2 fields: integers from -0 to +5"},
		{"signs beside fractions", "x\n-0\n18446744073709551615\n0.5\n", csv.Format{}, "x text [] 3 of 3 fields: texts of 2 to 20 bytes, 3 distinct; float64 would round 18446744073709551615 in line 3, and 0.5 in line 4 is not an integer"},
		{"one text among many numbers", "x\n1\n2\n3\n4\n5\n6\n7\nn/a\n8\n9\n", csv.Format{}, "x text [] 10 of 10 fields: texts of 1 to 3 bytes, 10 distinct; 1 of 10 values are not numbers, first \"n/a\" in line 9"},
		{"NaN and infinities as Write spells them", "x\nNaN\n-Inf\n", csv.Format{}, "x tensor float64 [] 2 of 2 fields: no numbers but NaN and infinities"},
		{"a sign in one element", "p.0,p.1\n+5,18446744073709551615\n", csv.Format{}, "p.0 tensor int64 [] 1 of 1 fields: integers from +5 to +5\np.1 tensor uint64 [] 1 of 1 fields: integers from 18446744073709551615 to 18446744073709551615"},
		{"underscores", "x\n1_0.5\n", csv.Format{}, "x text [] 1 of 1 fields: texts of 5 to 5 bytes, 1 distinct; a number would lose the spelling of 1_0.5 in line 2"},
		{"NaN alone", "x\nnan\n", csv.Format{}, "x text [] 1 of 1 fields: texts of 3 to 3 bytes, 1 distinct"},
		{"zeros before", "x\n007\n10\n", csv.Format{}, "x text [] 2 of 2 fields: texts of 2 to 3 bytes, 2 distinct; a number would lose the spelling of 007 in line 2"},
		{"hexadecimal", "x\n0x10\n", csv.Format{}, "x text [] 1 of 1 fields: texts of 4 to 4 bytes, 1 distinct; a number would lose the spelling of 0x10 in line 2"},
		{"texts", "x\na\nNA\n\"NA\"\n\"\"\na\n", csv.Format{}, "x text [] optional, 4 of 5 fields: texts of 0 to 2 bytes, 3 distinct"},
		{"quoted missing numbers", "x\n1\n\"NA\"\n", csv.Format{}, "x tensor int64 [] optional, 1 of 2 fields: integers from 1 to 1"},
		{"nothing", "x,y\n,1\n", csv.Format{}, "x text [] optional, 0 of 1 fields: no values, as text\ny tensor int64 [] 1 of 1 fields: integers from 1 to 1"},
		{"no rows", "x\n", csv.Format{}, "x text [] 0 of 0 fields: no values, as text"},
		{"a value that fills", "x\n1\nNA\n", csv.Format{Fill: map[nestedkey.Key]string{"x": "0"}}, "x tensor int64 [] 1 of 2 fields: integers from 1 to 1"},
		{"dates", "x\n2026-11-24\nNA\n", csv.Format{}, "x tensor int64 [] optional, unit d, time 2006-01-02, 1 of 2 fields: dates from 2026-11-24 to 2026-11-24"},
		{"times without zeros at their ends", "x\n2026-11-24 12:00:00.5\n2026-11-24 12:00:01\n2026-11-24 12:00:01.000025\n", csv.Format{}, "x tensor int64 [] unit us, time 2006-01-02 15:04:05.999999, 3 of 3 fields: times from 2026-11-24 12:00:00.5 to 2026-11-24 12:00:01.000025"},
		{"elements", "p.0,p.1,x\n1,2.5,3\n", csv.Format{}, "p tensor float64 [2] whole numbers without .0, 2 of 2 fields: numbers from 1 to 2.5\nx tensor int64 [] 1 of 1 fields: integers from 3 to 3"},
		{"elements that are filled", "p.0,p.1\n1,NA\n2,3\n", csv.Format{Fill: map[nestedkey.Key]string{"p": "0"}}, "p tensor int64 [2] 3 of 4 fields: integers from 1 to 3"},
		{"elements that are dates", "x.0,x.1\n2026-11-24,2026-11-25\n", csv.Format{}, "x tensor int64 [2] unit d, time 2006-01-02, 2 of 2 fields: dates from 2026-11-24 to 2026-11-25"},
		{"elements that are dates and times", "x.0,x.1\n2026-11-24,2026-11-25T12:00\n", csv.Format{}, "x.0 tensor int64 [] unit d, time 2006-01-02, 1 of 1 fields: dates from 2026-11-24 to 2026-11-24\nx.1 tensor int64 [] unit s, time 2006-01-02T15:04, 1 of 1 fields: times from 2026-11-25T12:00 to 2026-11-25T12:00"},
		{"elements of two dims", "p.0.0,p.0.1,p.1.0,p.1.1\n1,2,3,4\n", csv.Format{}, "p tensor int64 [2 2] 4 of 4 fields: integers from 1 to 4"},
		{"elements of two types", "p.0,p.1\n1,a\n", csv.Format{}, "p.0 tensor int64 [] 1 of 1 fields: integers from 1 to 1\np.1 text [] 1 of 1 fields: texts of 1 to 1 bytes, 1 distinct"},
		{"elements that lack", "p.0.0,p.0.1,p.1.1\n1,2,3\n", csv.Format{}, "p.0.0 tensor int64 [] 1 of 1 fields: integers from 1 to 1\np.0.1 tensor int64 [] 1 of 1 fields: integers from 2 to 2\np.1.1 tensor int64 [] 1 of 1 fields: integers from 3 to 3"},
		{"elements and a column of their name", "p,p.0\n1,2\n", csv.Format{}, "p tensor int64 [] 1 of 1 fields: integers from 1 to 1\np.0 tensor int64 [] 1 of 1 fields: integers from 2 to 2"},
		{"elements apart", "p.0,x,p.1\n1,2,3\n", csv.Format{}, "p.0 tensor int64 [] 1 of 1 fields: integers from 1 to 1\nx tensor int64 [] 1 of 1 fields: integers from 2 to 2\np.1 tensor int64 [] 1 of 1 fields: integers from 3 to 3"},
		{"another delimiter", "a;b\n1;2\n", csv.Format{}, "a;b text [] 1 of 1 fields: texts of 3 to 3 bytes, 1 distinct; one column: is ';' the delimiter?"},
		{"headers of one part", "a/b,~,device,.,..,shape,\n1,2,3,4,5,6,7\n", csv.Format{}, "a~1b tensor int64 [] 1 of 1 fields: integers from 1 to 1\n~0 tensor int64 [] 1 of 1 fields: integers from 2 to 2\ndevice tensor int64 [] 1 of 1 fields: integers from 3 to 3\n. tensor int64 [] 1 of 1 fields: integers from 4 to 4\n.. tensor int64 [] 1 of 1 fields: integers from 5 to 5\nshape tensor int64 [] 1 of 1 fields: integers from 6 to 6\ntensor int64 [] 1 of 1 fields: integers from 7 to 7"},
		{"nested", "a/b,a/c\n1,2\n", csv.Format{Separator: "/"}, "a/b tensor int64 [] 1 of 1 fields: integers from 1 to 1\na/c tensor int64 [] 1 of 1 fields: integers from 2 to 2"},
		{"no headers", "a;1\n", csv.Format{NoHeader: true, Comma: ';'}, "column0 text [] 1 of 1 fields: texts of 1 to 1 bytes, 1 distinct\ncolumn1 tensor int64 [] 1 of 1 fields: integers from 1 to 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := csv.Infer(strings.NewReader(tt.text), 0, tt.format)
			require.NoError(t, err)
			require.Equal(t, tt.want, lines(s))
			_, err = read(tt.text, s, in(tt.format))
			require.NoError(t, err, "what was seen can be read")
		})
	}
}

// lines returns the entries of a schema, with single blanks.
func lines(s tdict.Schema) string {
	lines := strings.Split(s.String(), "\n")[1:]
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	return strings.Join(lines, "\n")
}

// TestNotes: columns with another key than their header, and columns of numbers that become text,
// are told.
func TestNotes(t *testing.T) {
	in := csv.NewInferrer(csv.Format{})
	require.NoError(t, in.Add(strings.NewReader("a,n,id,s,a\n1,1,135217135789158401,a,1\n2,-1,1e5,b,2\n3,18446744073709551615,1,1,3\n"), 0))
	require.NoError(t, testkit.Err(in.Schema()))
	require.Equal(t, []string{
		`column "n" becomes text: no dtype holds both -1 and 18446744073709551615`,
		`column "id" becomes text: float64 would round 135217135789158401 in line 2, and 1e5 in line 3 is not an integer`,
		`column "a" becomes the entry "a_2", since its name is taken`,
	}, in.Notes())
}

// TestEmptyLinesAreTold: in a file of one column an empty line is no row, though it may be meant as
// a missing value. At the end of a file it is none.
func TestEmptyLinesAreTold(t *testing.T) {
	for text, line := range map[string]int{
		"x\n1\n\n\n3\n": 3, "x\r\n1\r\n\r\n3\r\n": 3, "x\r\ra\r": 2, "x\n\n": 2,
		"x\n1\n\n": 0, "x\n1\n\"\"\n3": 0, "x\nNA\n": 0, "x,y\n1,2\n\n3,4\n": 0, "x\n": 0, "x\n\"a\n\nb\"\n": 0,
	} {
		in := csv.NewInferrer(csv.Format{})
		require.NoError(t, in.Add(strings.NewReader(text), 0))
		require.NoError(t, testkit.Err(in.Schema()))
		var want []string
		if line > 0 {
			want = []string{fmt.Sprintf("line %d is empty, and so no row: a missing value is written NA", line)}
		}
		require.Equal(t, want, in.Notes(), "%q", text)
	}
}

func TestInferRefusals(t *testing.T) {
	tests := []struct {
		name, text string
		want       error
	}{
		{"an empty file", "", csv.ErrHeader},
		{"a header that is not UTF-8", "\xff\n1\n", csv.ErrHeader},
		{"a record of two lengths", "a,b\n1\n", csv.ErrFields},
		{"a bad quote", "a\n\"1\"2\n", csv.ErrSyntax},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, tt.want, testkit.Err(csv.Infer(strings.NewReader(tt.text), 0, csv.Format{})))
		})
	}
}

// TestInferrer proposes one schema for several files.
func TestInferrer(t *testing.T) {
	tests := []struct {
		name   string
		files  []string
		format csv.Format
		want   string // of String, without the headers of the table, or of the error
	}{
		{"a wider type", []string{"x\n1\n", "x\n0.5\n"}, csv.Format{}, "x tensor float64 [] whole numbers without .0, 2 of 2 fields: numbers from 0.5 to 1"},
		{"missing in the second", []string{"x\n1\n", "x\nNA\n"}, csv.Format{}, "x tensor int64 [] optional, 1 of 2 fields: integers from 1 to 1"},
		{"columns in another order", []string{"x,s\n1,a\n", "s,x\nb,2\n"}, csv.Format{}, "x tensor int64 [] 2 of 2 fields: integers from 1 to 2\ns text [] 2 of 2 fields: texts of 1 to 1 bytes, 2 distinct"},
		{"elements", []string{"p.0,p.1\n1,2\n", "p.0,p.1\n3,4.5\n"}, csv.Format{}, "p tensor float64 [2] whole numbers without .0, 4 of 4 fields: numbers from 1 to 4.5"},
		{"a file without rows", []string{"x\n", "x\n1\n"}, csv.Format{}, "x tensor int64 [] 1 of 1 fields: integers from 1 to 1"},
		{"no headers", []string{"1\n", "2\n"}, csv.Format{NoHeader: true}, "column0 tensor int64 [] 2 of 2 fields: integers from 1 to 2"},
		{"no headers and an empty file", []string{"", "2\n"}, csv.Format{NoHeader: true}, "column0 tensor int64 [] 1 of 1 fields: integers from 2 to 2"},
		{"nothing", []string{""}, csv.Format{NoHeader: true}, "columns do not fit the schema: got no columns, want at least one"},
		{"a column more", []string{"x\n1\n", "x,y\n1,2\n"}, csv.Format{}, `line 1: columns do not fit the schema: got "y", want the columns of the first file`},
		{"a column less", []string{"x,y\n1,2\n", "x\n1\n"}, csv.Format{}, `line 1: columns do not fit the schema: got no "y", want the columns of the first file`},
		{"a column twice", []string{"x\n1\n", "x,x\n1,2\n"}, csv.Format{}, `line 1: columns do not fit the schema: got "x", want the columns of the first file`},
		{"a field more", []string{"1\n", "1,2\n"}, csv.Format{NoHeader: true}, "line 1: wrong number of fields: got 2, want 1: set Comma to what separates the fields, if it is another character"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := csv.NewInferrer(test.format)
			var err error
			for _, text := range test.files {
				if err = in.Add(strings.NewReader(text), 0); err != nil {
					break
				}
			}
			schema, failed := in.Schema()
			if err == nil {
				err = failed
			}
			if err != nil {
				require.Equal(t, test.want, err.Error())
				return
			}
			require.Equal(t, test.want, lines(schema))
		})
	}
}
