//go:build unix

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
)

// sessionFiles makes a directory with the files that TestCreate uses.
func sessionFiles(t testing.TB) (dir string) {
	dir = testkit.TempDir(t)
	for name, text := range map[string]string{
		"schema.json":  `{"version":1,"entries":[{"key":"image","kind":"tensor","dtype":"uint8","shape":[4,4]},{"key":"label","kind":"tensor","dtype":"int64"}]}`,
		"texts.json":   `{"version":1,"entries":[{"key":"name","kind":"text"}]}`,
		"any.json":     `{"version":1,"entries":[{"key":"image","kind":"tensor","dtype":"uint8","shape":[null,4]}]}`,
		"config.yaml":  "DBNAME: unit\nSWAP_CAP: 7\nSAMPLE: [label]\n",
		"sample.yaml":  "SWAP_CAP: 7\nSAMPLE: [nothing]\n",
		"nocap.yaml":   "SAMPLE: [label]\n",
		"types.yaml":   "SWAP_CAP: five\nSAMPLE: label\n",
		"list.yaml":    "[1]",
		"rows.csv":     "a,b\n1,2.5\n3,4.5\n",
		"text.csv":     "a,b\n1,x\n",
		"file":         "x",
		"here/nothing": "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	require.Equal(t, result{}, command(t, dir, "convert", "rows.csv", "rows.safetensors"))
	require.Equal(t, result{}, command(t, dir, "convert", "rows.csv", "rows"))
	return dir
}

// TestCreate makes caches, and compares their schemas and configs.
func TestCreate(t *testing.T) {
	for _, tt := range []struct {
		args   string
		schema string // lines without the heading, joined by "; "
		config samplecache.Config
	}{
		{"--schema schema.json --samples 3", "image  tensor  uint8  [4 4]; label  tensor  int64  []", samplecache.Config{Samples: 3, Retain: 1, MaxHeld: 2}},
		{"--schema schema.json --samples 3 --retain 0 --max-held 0 --max-hold 1m --durable", "image  tensor  uint8  [4 4]; label  tensor  int64  []", samplecache.Config{Samples: 3, Retain: -1, MaxHeld: -1, MaxHold: time.Minute, Durable: true}},
		{"--schema schema.json --config config.yaml", "label  tensor  int64  []", samplecache.Config{Samples: 7, Retain: 1, MaxHeld: 2}},
		{"--schema schema.json --config config.yaml --samples 2 --min-passes 1 --max-passes 2", "label  tensor  int64  []", samplecache.Config{Samples: 2, Retain: 1, MaxHeld: 2, Limits: samplecache.Limits{MinPasses: 1, MaxPasses: 2}}},
		{"--schema schema.json --samples 4 --max-hold 1m --per-insert 2 --min-size 4 --min-diff -9 --max-diff 9", "image  tensor  uint8  [4 4]; label  tensor  int64  []",
			samplecache.Config{Samples: 4, Retain: 1, MaxHeld: 2, MaxHold: time.Minute, Limits: samplecache.Limits{PerInsert: 2, MinSize: 4, MinDiff: -9, MaxDiff: 9}}},
		{"--like rows.safetensors --samples 1", "a  tensor  int64  [2]; b  tensor  float64  [2]", samplecache.Config{Samples: 1, Retain: 1, MaxHeld: 2}},
		{"--like rows --rows --samples 1", "a  tensor  int64  []; b  tensor  float64  []", samplecache.Config{Samples: 1, Retain: 1, MaxHeld: 2}},
		{"--like rows.csv --rows --samples 1", "a  tensor  int64  []; b  tensor  float64  []", samplecache.Config{Samples: 1, Retain: 1, MaxHeld: 2}},
	} {
		t.Run(tt.args, func(t *testing.T) {
			dir := sessionFiles(t)
			require.Equal(t, result{}, command(t, dir, append([]string{"cache", "create", "c"}, strings.Fields(tt.args)...)...))
			c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: filepath.Join(dir, "c")}, samplecache.Options{})
			require.NoError(t, err)
			defer c.Close()
			require.Equal(t, tt.config, c.Config())
			words := func(text string) []string { return strings.Fields(text) }
			_, lines, _ := strings.Cut(tdict.SchemaOf(c.Schema()).String(), "\n")
			require.Equal(t, words(strings.ReplaceAll(tt.schema, ";", "")), words(lines))
		})
	}
}

// TestCreateRefuses has command lines and files that are wrong, and commands for caches that are
// not there.
func TestCreateRefuses(t *testing.T) {
	dir := sessionFiles(t)
	require.Equal(t, result{}, command(t, dir, "cache", "create", "there", "--schema", "schema.json", "--samples", "3"))
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"create", 2, `expected "<place>"`},
		{"create c --samples 1", 2, "want --schema or --like"},
		{"create c --schema schema.json --like rows --samples 1", 2, "can't be used together"},
		{"create c --schema schema.json", 2, "want --samples, or --config with SWAP_CAP"},
		{"create c --schema schema.json --config nocap.yaml", 2, "want --samples, or --config with SWAP_CAP"},
		{"create c --schema schema.json --config sample.yaml", 3, `sample.yaml: SAMPLE: `},
		{"create c --schema schema.json --config types.yaml", 3, "types.yaml: line 1: got !!str `five`, want a whole number, line 2: got !!str `label`, want a list of keys"},
		{"create c --schema schema.json --config list.yaml", 3, "list.yaml: line 1: got !!seq, want names and values"},
		{"create c --schema schema.json --samples -1", 2, "got --samples -1, want 1 to 1048576"},
		{"create c --schema schema.json --samples 1 --retain -1", 2, "--retain -1"},
		{"create c --schema schema.json --samples 1 --retain 17", 2, "got --retain 17, --max-held 2, want at most 16 and 64"},
		{"create c --schema schema.json --samples 1 --per-insert 1", 2, "got --per-insert 1 and --max-hold 0, want --max-hold: readers"},
		{"create c --schema schema.json --samples 1 --max-hold 1s --per-insert 1 --min-size 1 --max-diff 1", 2, "got --max-diff minus --min-diff 1, want at least 2*max(1, --per-insert) = 2"},
		{"create c --schema schema.json --samples 1 --rows", 2, "--rows is for --like"},
		{"create c --schema texts.json --samples 1", 3, `"name"`},
		{"create c --schema any.json --samples 1", 3, `"image"`},
		{"create c --schema none.json --samples 1", 3, "none.json"},
		{"create c --schema file --samples 1", 3, "file: "},
		{"create c --like none --samples 1", 3, "none"},
		{"create c --like text.csv --samples 1", 3, `"b" is not a dense tensor`},
		{"create c --schema schema.json --samples 1 --replicas 3", 2, "--memory, --replicas and --lease are for nats://"},
		{"create c --schema schema.json --samples 1 --ca x", 2, "are for nats://, got c"},
		{"create nats://h/c --schema schema.json --samples 1", 3, "this tdict has no NATS"},
		{"create there --schema schema.json --samples 3", 3, "create: there: file already exists"},
		{"create here --schema schema.json --samples 3 --exist-ok", 3, "it is not a cache"},
		{"create there --schema schema.json --samples 4 --exist-ok", 3, "file already exists, and differs: got 3 samples, want 4"},
		{"create there --like rows --rows --samples 3 --exist-ok", 3, "file already exists, and differs: "},
		{"create there --schema schema.json --samples 3 --exist-ok", 0, ""},
		{"create no/c --schema schema.json --samples 3", 3, "no"},

		{"keep there latest kept", 3, "no generation was published yet"},
		{"keep there 1 kept", 3, "generation is gone: it was not published yet"},
		{"keep there first kept", 2, "<id> first: want a number, or latest"},
		{"keep none 1 kept", 3, "open none: no such file or directory\n"},
		{"verify none", 3, "none"},
		{"verify here", 3, "it is not a cache"},
		{"verify there", 0, ""},
		{"mirror there dir", 2, "want nats://HOST/NAME"},
		{"mirror nats://h/c dir", 3, "this tdict has no NATS"},
		{"nats dir", 3, "this tdict has no NATS"},
		{"rm here", 3, "rm: remove here: it is not a cache"},
		{"rm file", 3, "not a directory"},
		{"rm there --creds x", 2, "are for nats://"},
		{"rm", 2, `expected "<place>"`},
		{"rm there", 0, ""},
		{"rm there", 3, "there"},
	} {
		got := command(t, dir, append([]string{"cache"}, strings.Fields(tt.args)...)...)
		require.Equal(t, tt.code, got.code, "%s: %+v", tt.args, got)
		require.Contains(t, got.stderr, tt.says, tt.args)
		require.LessOrEqual(t, strings.Count(got.stderr, "\n"), 1, "one line: %s", got.stderr)
		require.NoDirExists(t, filepath.Join(dir, "c"), tt.args)
	}
	require.FileExists(t, filepath.Join(dir, "here", "nothing"))
}
