package csv_test

import (
	enc "encoding/csv"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/internal/source"
	"github.com/go-tensordict/tensordict/interop/internal/table/tabletest"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// FuzzRead reads three columns of texts as encoding/csv does.
func FuzzRead(f *testing.F) {
	f.Add("a,b,c\n\"1\n2\",\"\"\"\",\n\n# x\r\nx,y,z\r\n", true)
	f.Add("\"a\"b,c,d\n1,2", false)
	f.Add("a\"b,c,d\n1,2,3\n\"", false)
	f.Fuzz(func(t *testing.T, file string, comments bool) {
		if strings.Contains(strings.ReplaceAll(file, "\r\n", ""), "\r") || source.Name([]byte(file)) != "" {
			return // for encoding/csv a CR alone does not end a line, and all bytes are a text
		}
		s := tdict.Schema{{Key: "a", Kind: tdict.KindText}, {Key: "b", Kind: tdict.KindText}, {Key: "c", Kind: tdict.KindText}}
		opt := csv.ReadOptions{Format: csv.Format{NoHeader: true}, Rows: 3, MaxRecord: 1 << 16}
		want := enc.NewReader(strings.NewReader(strings.TrimPrefix(file, "\ufeff")))
		want.FieldsPerRecord = 3
		if comments {
			opt.Comment, want.Comment = '#', '#'
		}
		var got []*tdict.TensorDict
		var failed error
		if testkit.Allocated(func() { got, failed = read(file, s, opt) }) > 8<<20 {
			t.Fatal("much memory")
		}
		for _, td := range got {
			var columns [3][]string
			for i, spec := range s {
				columns[i] = tensor.Must(ragged.Strings(tensor.Must(td.Get(spec.Key)).(*ragged.Tensor)))
			}
			for row := range td.Shape()[0] {
				record, err := want.Read()
				require.NoError(t, err)
				for i := range record {
					require.Equal(t, record[i], strings.ReplaceAll(columns[i][row], "\r\n", "\n"))
				}
			}
		}
		_, err := want.Read()
		if failed == nil {
			require.Equal(t, io.EOF, err)
			return
		}
		_, ok := errors.AsType[*csv.ParseError](failed)
		require.True(t, ok)
		if !errors.Is(failed, csv.ErrTooLong) {
			require.Error(t, err)
			require.NotEqual(t, io.EOF, err)
		}
	})
}

// FuzzLineEnds reads a file whose lines end with CR, CRLF, CR CR LF, or all of them, as one whose
// lines end with LF, from a reader that returns a few bytes at a time.
func FuzzLineEnds(f *testing.F) {
	f.Add("a,\"b\n\"\n#\"\n\n1,2\n", uint64(1), true)
	f.Fuzz(func(t *testing.T, file string, seed uint64, comments bool) {
		if strings.Contains(file, "\r") || source.Name([]byte(file)) != "" {
			return
		}
		opt := csv.ReadOptions{Format: csv.Format{NoHeader: true}}
		if comments {
			opt.Comment = '#'
		}
		rng, quoted, comment, start := rand.New(rand.NewPCG(seed, 1)), false, false, true
		var other strings.Builder
		for _, c := range []byte(strings.TrimPrefix(file, "\ufeff")) {
			switch {
			case start && !quoted && comments && c == '#':
				comment = true
			case c == '"' && !comment:
				quoted = !quoted
			case c == '\n' && !quoted:
				other.WriteString([]string{"\r", "\r\n", "\n", "\r\r\n"}[rng.IntN(4)])
				comment, start = false, true
				continue
			}
			start = c == '\n'
			other.WriteByte(c)
		}
		s := tdict.Schema{{Key: "a", Kind: tdict.KindText}, {Key: "b", Kind: tdict.KindText}}
		want, failed := read(file, s, opt)
		got, err := tabletest.Clones(csv.Read(bg, iotest.OneByteReader(strings.NewReader(other.String())), s, opt))
		require.Equal(t, failed == nil, err == nil, "%q: %v, %v", other.String(), failed, err)
		require.Equal(t, values(t, want), values(t, got), "%q", other.String())
	})
}

// FuzzInfer reads what was inferred.
func FuzzInfer(f *testing.F) {
	f.Add("a.0,a.1,b/c\n1,2.5,x\nNA,,\"NA\"\n")
	f.Add("x\n007\n1e5\n18446744073709551615\ntrue\n")
	f.Fuzz(func(t *testing.T, file string) {
		s, err := csv.Infer(strings.NewReader(file), 0, csv.Format{})
		if err != nil {
			_, ok := errors.AsType[*csv.ParseError](err)
			require.True(t, ok)
			return
		}
		_, err = read(file, s, csv.ReadOptions{})
		require.NoError(t, err)
	})
}
