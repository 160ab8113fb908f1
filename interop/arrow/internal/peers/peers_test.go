package peers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/tdarrow"
	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// A converter writes a file in another form with another library.
type converter func(t testing.TB, from, to string)

// program returns a converter that runs a command.
func program(env []string, args ...string) converter {
	return func(t testing.TB, from, to string) {
		cmd := exec.CommandContext(t.Context(), args[0], append(args[1:], from, to)...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", cmd.Args, out)
	}
}

// node returns a converter of a library for Node.js.
func node(t testing.TB, library string) converter {
	dir := os.Getenv("TENSORDICT_NODE")
	if dir == "" {
		t.Skip("TENSORDICT_NODE is not set")
	}
	script, err := filepath.Abs("peers.js")
	require.NoError(t, err)
	return program([]string{"NODE_PATH=" + filepath.Join(dir, "node_modules")}, "node", script, library)
}

// pyarrow returns a converter of pyarrow.
func pyarrow(t testing.TB) converter {
	python := os.Getenv("TENSORDICT_PYTHON")
	if python == "" {
		t.Skip("TENSORDICT_PYTHON is not set")
	}
	if exec.CommandContext(t.Context(), python, "-c", "import pyarrow").Run() != nil {
		t.Skip("TENSORDICT_PYTHON has no pyarrow")
	}
	script, err := os.ReadFile("peers.py")
	require.NoError(t, err)
	at := filepath.Join(t.TempDir(), "peers.py")
	require.NoError(t, os.WriteFile(at, script, 0o600))
	return program(nil, python, at)
}

// rows returns random rows as JSON lines, with columns of all kinds that JSON can say.
func rows(rng *rand.Rand, n int) string {
	words := []string{"", "a", "é", "tab\t\"quote\"", "a longer text than twelve bytes"}
	word := func() string { return fmt.Sprintf("%q", words[rng.IntN(len(words))]) }
	number := func() string { return fmt.Sprint(rng.IntN(2000) - 1000) }
	list := func(of func() string) func() string {
		return func() string {
			var all []string
			for range rng.IntN(4) {
				all = append(all, of())
			}
			return "[" + strings.Join(all, ",") + "]"
		}
	}
	maybe := func(of func() string) func() string {
		return func() string {
			if rng.IntN(4) == 0 {
				return "null"
			}
			return of()
		}
	}
	object := func() string { return `{"name":` + word() + `,"day":` + number() + `}` }
	date := func() string { return fmt.Sprintf(`"20%02d-0%d-1%d"`, rng.IntN(30), 1+rng.IntN(9), rng.IntN(10)) }
	float := func() string { return fmt.Sprintf("%d.%d", rng.IntN(100)-50, 25+50*rng.IntN(2)) }
	columns := []struct {
		key string
		of  func() string
	}{
		{"int", number}, {"float", float}, {"bool", func() string { return fmt.Sprint(rng.IntN(2) == 0) }},
		{"text", word}, {"date", date}, {"sex", func() string { return fmt.Sprintf("%q", words[1+rng.IntN(2)]) }},
		{"maybe_int", maybe(number)}, {"maybe_float", maybe(float)}, {"maybe_text", maybe(word)}, {"maybe_date", maybe(date)},
		{"three", func() string { return "[" + float() + "," + float() + "," + float() + "]" }},
		{"list", list(number)}, {"lists", list(list(float))}, {"texts", list(word)}, {"maybe_list", maybe(list(number))}, {"list_of_maybe", list(maybe(number))},
		{"object", object}, {"maybe_object", maybe(object)}, {"objects", list(object)},
	}
	var s strings.Builder
	for range n {
		for i, c := range columns {
			s.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
			fmt.Fprintf(&s, "%q:%s", c.key, c.of())
		}
		s.WriteString("}\n")
	}
	return s.String()
}

// parse returns the rows of JSON lines.
func parse(t testing.TB, text string, schema tdict.Schema) *tdict.TensorDict {
	return all(t, jsonl.Read(t.Context(), strings.NewReader(text), schema, jsonl.ReadOptions{Rows: 100}))
}

// all returns the rows of all chunks.
func all(t testing.TB, chunks iter.Seq2[*tdict.TensorDict, error]) *tdict.TensorDict {
	var list []*tdict.TensorDict
	for td, err := range chunks {
		require.NoError(t, err)
		copied, err := td.Clone()
		require.NoError(t, err)
		list = append(list, copied)
	}
	td, err := shapeops.Cat(list, 0)
	require.NoError(t, err)
	return td
}

// form is a form of files of this module.
type form struct {
	name  string // of a file
	write func(ctx context.Context, w io.Writer, schema tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error]) error
	infer func(path string, opt tdarrow.Options) (tdict.Schema, error)
	read  func(ctx context.Context, path string, opt tdarrow.Options) iter.Seq2[*tdict.TensorDict, error]
}

func forms() []form {
	arrow := func(name string, opt tdarrow.WriteOptions) form {
		return form{name, func(ctx context.Context, w io.Writer, s tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error]) error {
			return tdarrow.Write(ctx, w, s, chunks, opt)
		}, tdarrow.InferFile, tdarrow.ReadFile}
	}
	parquet := func(name string, opt tdparquet.WriteOptions) form {
		return form{name, func(ctx context.Context, w io.Writer, s tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error]) error {
			return tdparquet.Write(ctx, w, s, chunks, opt)
		}, tdparquet.InferFile, tdparquet.ReadFile}
	}
	return []form{
		arrow("x.arrow", tdarrow.WriteOptions{}), arrow("x.lz4.arrow", tdarrow.WriteOptions{Compression: "lz4"}), arrow("x.zstd.arrow", tdarrow.WriteOptions{Compression: "zstd"}),
		arrow("x.arrows", tdarrow.WriteOptions{Stream: true}),
		parquet("x.parquet", tdparquet.WriteOptions{}), parquet("x.zstd.parquet", tdparquet.WriteOptions{Compression: "zstd"}),
	}
}

// A peer is a library, with the forms that it reads and writes.
type peer struct {
	name          string
	reads, writes string // suffixes
	of            func(t testing.TB) converter
}

var peers = []peer{
	{"DuckDB", ".parquet", ".parquet", func(t testing.TB) converter { return node(t, "duckdb") }},
	{"polars", ".arrow .parquet", ".arrow .parquet", func(t testing.TB) converter { return node(t, "polars") }},
	{"Arrow for JavaScript", "x.arrow .arrows", "", func(t testing.TB) converter { return node(t, "arrow") }},
	{"pyarrow", ".arrow .arrows .parquet", ".arrow .arrows .parquet", pyarrow},
}

// has reports whether a list of suffixes has the one of a name.
func has(suffixes, name string) bool {
	for _, s := range strings.Fields(suffixes) {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}

// inferred returns the schema of the rows, in which "sex" has categories.
func inferred(t testing.TB, text string) tdict.Schema {
	var in jsonl.Inferrer
	in.Hints.Categories = map[nestedkey.Key]bool{"sex": true}
	require.NoError(t, in.Add(strings.NewReader(text), 0))
	schema, err := in.Schema()
	require.NoError(t, err)
	return schema
}

// TestPeersRead: the peers find in our files what we have written.
func TestPeersRead(t *testing.T) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			convert := p.of(t)
			text := rows(rand.New(rand.NewPCG(1, 2)), 300)
			schema := inferred(t, text)
			want := parse(t, text, schema)
			whole, err := jsonl.ChunkSchema(schema, jsonl.ReadOptions{})
			require.NoError(t, err)
			for _, f := range forms() {
				if !has(p.reads, f.name) {
					continue
				}
				var b bytes.Buffer
				require.NoError(t, f.write(t.Context(), &b, whole, func(yield func(*tdict.TensorDict, error) bool) { yield(want, nil) }), f.name)
				dir := t.TempDir()
				from, to := filepath.Join(dir, f.name), filepath.Join(dir, "out.jsonl")
				require.NoError(t, os.WriteFile(from, b.Bytes(), 0o600))
				convert(t, from, to)
				got, err := os.ReadFile(to)
				require.NoError(t, err)
				requireEqual(t, want, parse(t, string(got), schema), f.name)
			}
		})
	}
}

// TestPeersWrite: we find in files of the peers what they have written. UPDATE_PEERS=1 keeps small
// ones as testdata.
func TestPeersWrite(t *testing.T) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			convert := p.of(t)
			text := rows(rand.New(rand.NewPCG(3, 4)), 300)
			in := filepath.Join(t.TempDir(), "in.jsonl")
			require.NoError(t, os.WriteFile(in, []byte(text), 0o600))
			for _, f := range forms() {
				if !has(p.writes, f.name) {
					continue
				}
				file := filepath.Join(t.TempDir(), f.name)
				convert(t, in, file)
				requireRows(t, text, f, file)
				if os.Getenv("UPDATE_PEERS") != "" {
					require.NoError(t, os.MkdirAll(filepath.Join("testdata", p.name), 0o777))
					convert(t, kept, filepath.Join("testdata", p.name, f.name))
				}
			}
		})
	}
}

// kept has the rows of the files in testdata.
const kept = "testdata/rows.jsonl"

// TestKept reads files that the peers have written, without the peers.
func TestKept(t *testing.T) {
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	n := 0
	for _, p := range peers {
		for _, f := range forms() {
			file := filepath.Join("testdata", p.name, f.name)
			if _, err := os.Stat(file); err == nil {
				requireRows(t, string(text), f, file)
				n++
			}
		}
	}
	require.GreaterOrEqual(t, n, 7)
}

// requireRows infers and reads a file, and compares it with the rows of a text.
func requireRows(t testing.TB, text string, f form, file string) {
	t.Helper()
	says, err := f.infer(file, tdarrow.Options{})
	require.NoError(t, err, file)
	var b bytes.Buffer
	require.NoError(t, jsonl.Write(t.Context(), &b, says, f.read(t.Context(), file, tdarrow.Options{Schema: says}), jsonl.WriteOptions{}), file)
	schema := inferred(t, text)
	requireEqual(t, parse(t, text, schema), parse(t, b.String(), schema), file)
}

// requireEqual compares two dictionaries.
func requireEqual(t testing.TB, want, got *tdict.TensorDict, name string) {
	t.Helper()
	var lines []string
	for d := range got.Diffs(want) {
		lines = append(lines, d.String())
	}
	require.Empty(t, lines, name)
}
