package command

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestOddKeysStayOnALine has keys that do not print in the table of stats.
func TestOddKeysStayOnALine(t *testing.T) {
	dir := testkit.TempDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "odd.jsonl"), []byte(`{"a\nb\tc":1}`+"\n"), 0o666))
	out := command(t, dir, "stats", "odd.jsonl").stdout
	require.Contains(t, out, "\n\"a\\nb\\tc\"  int64  1 ")
	require.Equal(t, 2, strings.Count(out, "\n"), out)
}

// TestSparseQuantiles has one number among more than a million that are missing.
func TestSparseQuantiles(t *testing.T) {
	dir := testkit.TempDir(t)
	x := slices.Repeat([]float32{float32(math.NaN())}, 3<<20)
	x[5] = 7
	require.NoError(t, npy.Save(filepath.Join(dir, "x.npy"), tensor.Vector(x...)))
	require.Contains(t, command(t, dir, "stats", "x.npy").stdout, "  7    7    7    7    7    7     0\n")
}

// TestShowMetadata prints the metadata of a safetensors file.
func TestShowMetadata(t *testing.T) {
	dir := testkit.TempDir(t)
	td := tdict.New(2)
	require.NoError(t, td.Set("x", tensor.Vector[int8](1, 2)))
	opt := safetensors.SaveOptions{Metadata: map[string]string{"by": "a\x1b[31m", "format": "pt"}}
	require.NoError(t, safetensors.SaveWith(t.Context(), filepath.Join(dir, "m.safetensors"), td, opt))
	require.Contains(t, command(t, dir, "show", "m.safetensors").stdout, `m.safetensors: safetensors, metadata: "by": "a\x1b[31m", "format": "pt"`+"\n")
	require.Contains(t, command(t, dir, "show", "m.safetensors", "--json").stdout, `"metadata":{"by":"a\u001b[31m","format":"pt"}`)
	require.Equal(t, result{3, "", "tdict: convert: directory cannot hold metadata \"by\"; --lossy leaves it out\n"}, command(t, dir, "convert", "m.safetensors", "m"))
}

// TestExitCodes runs each kind of end.
func TestExitCodes(t *testing.T) {
	dir := testkit.TempDir(t)
	visits(t, dir)
	require.Equal(t, result{}, command(t, dir, "convert", "visits.csv", "visits"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "note.txt"), []byte("a note"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ragged.csv"), []byte("a,b\n1,2\n3\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other.json"), []byte(`{"version":1,"entries":[{"key":"id","kind":"tensor","dtype":"int64"}]}`), 0o666))
	for name, text := range map[string]string{
		"commas.csv": "day;score\n1,5;2\n", "texts.json": `{"version":1,"entries":[{"key":"a","kind":"text","dtype":"int64"}]}`,
		"broken.json": "{\"version\":1,\n  x", "note.tsv": "a\tb\n1\t2\n", "tabs.csv": "a\tb\n1\t2\n", "scores.csv": "day;score\n1;7.5\n",
		"scores.json": `{"version":1,"entries":[{"key":"day","kind":"tensor","dtype":"int64"},{"key":"score","kind":"tensor","dtype":"float64"}]}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	ds := tensor.Must(memmap.Open(filepath.Join(dir, "visits")))
	others := tensor.Must(ds.Clone())
	require.NoError(t, ds.Close())
	age := tensor.Must(others.Tensor("age"))
	require.NoError(t, arith.AddInto(age, age, 1.))
	require.NoError(t, memmap.Save(filepath.Join(dir, "others"), others))
	require.Equal(t, 0, command(t, dir, "convert", "visits", "cut.tdz").code)
	require.NoError(t, os.Truncate(filepath.Join(dir, "cut.tdz"), 10_000))
	for _, tt := range []struct {
		rule string
		args string
		code int
		says string // in standard error if the code is 2 or 3, otherwise in standard output
	}{
		{"no arguments print the help", "", 0, "Usage: tdict <command>"},
		{"help of a command", "slice --help", 0, "tdict slice visits adults"},
		{"the command help", "help slice", 0, "tdict slice visits adults"},
		{"its own help", "help help", 0, "Usage: tdict <command>"},
		{"help of no command", "help shwo", 2, "tdict: unexpected argument shwo, did you mean \"show\"?; see tdict --help"},
		{"the version", "--version", 0, "tdict "},
		{"no such command", "shwo visits", 2, "tdict: unexpected argument shwo, did you mean \"show\"?; see tdict --help"},
		{"no such flag", "show visits --deep", 2, "tdict: show: unknown flag --deep"},
		{"a number that is not one", "head visits -n x", 2, "tdict: head: "},
		{"a negative number counts from the end", "head visits id -n -1943", 0, "int64 [2]"},
		{"a form that is not one", "convert visits.csv out --to xls", 2, "tdict: convert: "},
		{"one path", "convert visits", 2, "tdict: convert: got one path, want inputs and an output; see tdict convert --help"},
		{"an index that does not parse", "head visits --index 5:x", 2, "tdict: head: --index: "},
		{"a condition that does not parse", "slice visits out --where age>", 2, "tdict: slice: --where: "},
		{"rows by two flags", "slice visits out --where age>1 --index 5", 2, "tdict: slice: got --index and --where, want one of them"},
		{"sizes by two flags", "split visits out --sizes 1 --count 1945", 2, "tdict: split: --sizes and --count can't be used together"},
		{"npy without a key", "head visits --as npy", 2, "tdict: head: --as npy needs the KEY of a tensor"},
		{"a separator of two characters", "show visits.csv --comma ::", 2, "tdict: show: --comma "},

		{"an empty flag", "slice visits out --where=", 2, "tdict: slice: --where: got an empty value"},
		{"an empty list", "slice visits out --keys=", 2, "tdict: slice: --keys: got an empty value"},
		{"an empty key in a list", "slice visits out --drop id,,day", 2, "tdict: slice: --drop: got an empty value"},
		{"empty sizes", "split visits out --sizes=", 2, "tdict: split: --sizes"},
		{"empty counts", "split visits out --count=", 2, "tdict: split: --count"},
		{"an empty path", "show ", 2, "tdict: show: "},
		{"an empty index", "head visits --index=", 2, "tdict: head: --index: got an empty value"},
		{"an empty key of groups", "split visits out --count 1945 --by=", 2, "tdict: split: --by: got an empty value"},
		{"standard input twice", "diff - -", 2, "tdict: diff: -: got standard input twice, want it once"},
		{"standard input", "show -", 2, "tdict: show: -: standard input is read once: give --from csv or jsonl, and --schema with a file that tdict schema has printed"},
		{"a schema in standard input", "show visits.csv --schema -", 2, "tdict: show: --schema: got -, want a file"},
		{"a form of parts", "split visits out --count 1945 --to npz", 2, "tdict: split: unknown flag --to"},
		{"a negative number of last rows", "tail visits -n -3", 2, "tdict: tail: -n takes 0 or more rows, got -3"},
		{"a negative number of differences", "diff visits visits --max -1", 2, "tdict: diff: --max"},
		{"a misspelt subcommand", "schema chek visits other.json", 2, `did you mean "schema check"?`},
		{"shares that are numbers of rows", "split visits out --sizes 80,20", 2, "--sizes takes shares from 0 to 1, got 80; --count takes numbers of rows"},
		{"shares that do not add up", "split visits out --sizes 0.5,0.4", 2, "add up to 0.9, want 1"},
		{"a negative count", "split visits out --count=1946,-1", 2, "--count takes 0 or more rows, got -1"},
		{"a name too few", "split visits out --sizes 0.5,0.5 --names a", 2, "--names: got 1 names for 2 parts"},
		{"a name twice", "split visits out --sizes 0.5,0.5 --names a,A", 2, "want distinct names of files"},
		{"a name of no form", "split visits out --sizes 0.5,0.5 --names a,b.xls", 2, "--names: unknown form"},
		{"an output of no form", "convert visits out.xls", 2, "tdict: convert: unknown form: got \"out.xls\""},
		{"an output of a slice of no form", "slice visits out.xls --index 0:1", 2, "tdict: slice: unknown form"},

		{"a delimiter of no table", "show visits --comma ;", 3, "tdict: show: --comma is for csv, got [directory]"},
		{"a schema of no table", "diff visits visits --schema other.json", 3, "tdict: diff: --schema is for tables"},
		{"missing values of no table", "convert visits out --na -", 3, "tdict: convert: --na is for csv"},
		{"a delimiter of jsonl", "convert visits out.jsonl --comma ;", 3, "tdict: convert: --comma is for csv, got [jsonl directory]"},
		{"a broken schema", "show visits.csv --schema broken.json", 3, "broken.json: line 2, column 3: invalid character"},
		{"a header with another delimiter", "show scores.csv --schema scores.json", 3, "give --comma"},
		{"records with another delimiter", "show commas.csv", 3, "give --comma"},
		{"a schema of an impossible dtype", "show visits.csv --schema texts.json", 3, `schema "a": schema mismatch: got dtype int64 for kind text, want none`},
		{"the empty field is missing by a flag", "slice visits.csv out --na= --where nokey>1", 3, "nokey"},
		{"a field that the schema lacks", "show visits.csv --schema other.json", 3, "give a --schema with it"},
		{"a table of another suffix", "show note.tsv", 3, "give --from csv"},
		{"a device", "convert /dev/null visits", 3, "neither a directory nor a regular file"},
		{"a device of a given form", "show /dev/null --from csv", 3, "neither a directory nor a regular file"},
		{"a key that is misspelt", "stats visits aeg", 3, `did you mean "age"?`},
		{"keys of a difference that are misspelt", "diff visits visits --keys aeg", 3, `did you mean "age"?`},
		{"groups of floats", "split visits out --sizes 1 --by age", 3, `tdict: split: visits: split by "age": dtype mismatch: got float64, want integers, bools or text`},
		{"more counts than groups", "split visits out --count 1500,445 --by id", 3, "more than 312"},
		{"several arrays for npy", "slice visits out.npy --keys id,day", 3, "use --keys"},
		{"verify of what has no checksums", "verify visits.csv", 3, "tdict: verify: visits.csv: csv has no checksums: verify is for directories, tdz, tdc and npz"},
		{"verify of what is no dataset", "verify .", 3, "not a saved dictionary"},
		{"verify of an archive that is cut", "verify cut.tdz", 1, "cut.tdz: "},
		{"tab for a name", "head tabs.csv --comma \\t --as jsonl", 0, `{"a":1,"b":2}`},
		{"all elements that differ", "diff visits others --max 2", 1, `"age": 1,945 elements differ: [0] is 58.7652292950034, other 59.7652292950034; [1] is 58.7652292950034, other 59.7652292950034` + "\n"},
		{"tables on both sides", "diff scores.csv scores.csv --comma ;", 0, ""},
		{"a table of another delimiter fits", "schema check scores.csv scores.json --comma ;", 0, ""},

		{"nothing is there", "show nowhere", 3, "nowhere"},
		{"no form", "show note.txt", 3, "note.txt"},
		{"no such key", "head visits nokey", 3, "nokey"},
		{"a key of a condition that is not there", "slice visits out --where nokey>1", 3, "nokey"},
		{"the output is there", "convert visits.csv visits", 3, "visits"},
		{"the output is the input", "convert visits visits --force", 3, "visits"},
		{"the output is in the input", "convert visits visits/x", 3, "visits"},
		{"a table with a line of one field", "convert ragged.csv out", 3, "ragged.csv"},
		{"a form that cannot hold the input", "convert visits out.npy", 3, `npy cannot hold "sex"`},
		{"no schema", "schema check visits nowhere.json", 3, "nowhere.json"},
		{"verify of nothing", "verify visits nowhere", 3, "nowhere"},

		{"a sound dataset", "verify visits", 0, "visits: sound, "},
		{"datasets that are equal", "diff visits visits.csv", 0, ""},
		{"a schema that does not fit", "schema check visits other.json", 1, "futime"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got := command(t, dir, strings.Fields(tt.args)...)
			require.Equal(t, tt.code, got.code, "%+v", got)
			if tt.code < 2 {
				require.Empty(t, got.stderr)
				require.Contains(t, got.stdout, tt.says)
				return
			}
			require.Contains(t, got.stderr, tt.says)
			requireOneLine(t, note.ReplaceAllString(got.stderr, ""))
			require.NoFileExists(t, filepath.Join(dir, "out"))
		})
	}
}

// note matches a line about something that is not an error.
var note = regexp.MustCompile(`(?m)^tdict: [a-z ]+: note: .*\n`)

// requireOneLine requires one line of an error.
func requireOneLine(t testing.TB, stderr string) {
	t.Helper()
	require.True(t, strings.HasPrefix(stderr, "tdict: "), stderr)
	require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	require.Less(t, len(stderr), 2048)
}

// TestVerifyGoesOn verifies paths after a damaged one and one that is not there.
func TestVerifyGoesOn(t *testing.T) {
	dir := testkit.TempDir(t)
	visits(t, dir)
	for _, name := range []string{"a", "b"} {
		require.Equal(t, result{}, command(t, dir, "convert", "visits.csv", name))
	}
	path := filepath.Join(dir, "a", "age.memmap")
	leaf, err := os.ReadFile(path)
	require.NoError(t, err)
	leaf[100] ^= 1
	require.NoError(t, os.WriteFile(path, leaf, 0o666))

	got := command(t, dir, "verify", "a", "b")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stdout, `a: "age": age.memmap: block 0: `)
	require.Contains(t, got.stdout, "b: sound, ")
	require.Equal(t, "tdict: verify: a: if the changes are right, tdict seal accepts them\n", got.stderr)

	got = command(t, dir, "verify", "visits.csv", "a", "b")
	require.Equal(t, 3, got.code)
	require.Contains(t, got.stdout, "b: sound, ")
	first, rest, _ := strings.Cut(got.stderr, "\n")
	requireOneLine(t, first+"\n")
	requireOneLine(t, rest)
}

// TestSealWritten seals leaves that a program has written, and finds damage in the others.
func TestSealWritten(t *testing.T) {
	dir := testkit.TempDir(t)
	visits(t, dir)
	require.Equal(t, result{}, command(t, dir, "convert", "visits.csv", "v"))
	ds, err := memmap.OpenWith(filepath.Join(dir, "v"), memmap.OpenOptions{Writable: true})
	require.NoError(t, err)
	age, err := ds.Tensor("age")
	require.NoError(t, err)
	require.NoError(t, age.SetIndex(tensor.Scalar(50.0), ix.At(0)))
	require.Contains(t, command(t, dir, "verify", "v").stdout, "without checksums: 1,")
	require.Equal(t, 3, command(t, dir, "seal", "v", "--written").code, "it is being written")
	require.NoError(t, ds.Close())
	require.Equal(t, result{}, command(t, dir, "seal", "v", "--written"))
	require.Contains(t, command(t, dir, "verify", "v").stdout, "without checksums: 0,")
}

// TestVerifyWithoutSums says that nothing was compared.
func TestVerifyWithoutSums(t *testing.T) {
	dir := testkit.TempDir(t)
	ds := tensor.Must(memmap.Create(filepath.Join(dir, "v"), tensor.Must(tdict.FromValues(nil, tdict.Values{"x": []int64{1, 2}})), memmap.CreateOptions{NoSums: true}))
	require.NoError(t, ds.Close())
	got := command(t, dir, "verify", "v")
	require.Equal(t, "v: sound, leaves: 1, without checksums: 1, bytes: 16\n", got.stdout)
	require.Equal(t, "tdict: verify: v: no leaf has checksums, so no element was compared: a copy by tdict convert has them\n", got.stderr)
	require.Equal(t, result{}, command(t, dir, "convert", "v", "w"))
	require.Empty(t, command(t, dir, "verify", "w").stderr)
}

// TestClosedPipe writes to a pipe that nobody reads.
func TestClosedPipe(t *testing.T) {
	dir := testkit.TempDir(t)
	visits(t, dir)
	require.Equal(t, result{}, command(t, dir, "convert", "visits.csv", "visits"))
	path := executable(t)
	for _, args := range []string{"head visits -n 2000 --as csv", "head visits -n 2000 --as jsonl", "head visits age -n 2000 --as npy", "head visits -n 2000", "show visits", "tail -f visits"} {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", path+" "+args+` | true; echo "${PIPESTATUS[0]}"`)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err)
		require.Equal(t, "0\n", string(out), args)
	}
}

// TestNames shows a dataset whose keys would command a terminal.
func TestNames(t *testing.T) {
	dir := testkit.TempDir(t)
	header := "a\x1b[31m,b\u202ec\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "odd.csv"), []byte(header+"1,2\n"), 0o666))
	require.Equal(t, 0, command(t, dir, "convert", "odd.csv", "odd").code)
	for _, args := range []string{"show odd", "head odd", "stats odd", "schema odd --table", "schema odd", "show odd --json", "verify odd", "show odd nokey\x1b[31m", "show no\x1b[31m"} {
		got := command(t, dir, strings.Split(args, " ")...)
		require.NotContains(t, got.stdout+got.stderr, "\x1b", args)
		require.NotContains(t, got.stdout+got.stderr, "\u202e", args)
	}
	require.Equal(t, header+"1,2\n", command(t, dir, "head", "odd", "--as", "csv").stdout, "data is not quoted")
}

// FuzzArguments parses command lines.
func FuzzArguments(f *testing.F) {
	for _, line := range []string{"show visits", "head visits chol -n 3 --index 5:9", "split a b --sizes 0.8,0.2 --by id --names train,test", "convert a b c --to npz --na '' --comma ;", "slice a b --where age>1 --keys a,b --force"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		defer func() {
			if r := recover(); r != nil {
				require.IsType(t, exited(0), r)
			}
		}()
		command, err := parse(strings.Fields(line), new(strings.Builder), new(strings.Builder))
		if err != nil {
			require.ErrorAs(t, err, new(usageError))
		} else {
			require.NotEmpty(t, command.Selected().Name)
		}
	})
}
