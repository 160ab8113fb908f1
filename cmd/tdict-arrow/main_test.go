//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/cmd/internal/command"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

// TestMain is main if the test binary is called tdict-arrow, and the command without drivers if it
// is called tdict.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "tdict-arrow":
		main()
	case "tdict":
		command.Main(nil)
	}
	testkit.Main(m)
}

// shell returns a function that runs a command of bash in a new directory with visits.csv, where
// tdict and tdict-arrow are this binary.
func shell(t *testing.T) (run func(command string) string) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	bin := t.TempDir()
	for _, name := range []string{"tdict", "tdict-arrow"} {
		require.NoError(t, os.Symlink(exe, filepath.Join(bin, name)))
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	data, err := filepath.Abs("../../examples/internal/data/pbcseq.csv.gz")
	require.NoError(t, err)
	dir := testkit.TempDir(t)
	run = func(command string) string {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput() // the session prints the exit code
		return string(out)
	}
	require.Empty(t, run("gunzip -c "+data+" > visits.csv"))
	return run
}

// TestSession runs the lines of a session through both binaries: tdict runs tdict-arrow. It takes
// seconds, since each line starts processes.
func TestSession(t *testing.T) {
	for _, name := range []string{"tdict", "tdict-arrow"} {
		run := shell(t)
		for _, tt := range []struct{ command, want string }{
			{"convert visits.csv visits.parquet", ""},
			{"convert visits.csv visits.feather", ""},
			{"convert visits.parquet visits", ""},
			{"diff visits.csv visits", ""},
			{"diff visits.parquet visits.feather", ""},
			{"schema visits.parquet > a.json; tdict schema visits > b.json; diff a.json b.json", ""},
			{"schema check visits.feather a.json", ""},
			{"convert visits.parquet again --schema a.json", ""},
			{"slice visits.parquet adults.arrow --where 'age >= 18 and not missing(chol)' --keys id,age,chol --rename chol=c", ""},
			{"head adults.arrow -n 2 --as csv", "id,age,c\n1,58.7652292950034,261\n2,56.4462696783025,302\n"},
			{"split visits.parquet parts --sizes 0.8,0.2 --by id --names train.parquet,test.arrow", ""},
			{"sort visits.feather sorted.pq --by age", ""},
			{"head sorted.pq -n 1 --keys id,age --as jsonl", `{"id":`},
			{"convert visits.csv nan.parquet --missing nan", ""},
			{"stats visits.parquet chol", "chol  int64"},
			{"show visits.feather", "visits.feather: arrow, leaves with checksums: 25, with a saved schema\ndictionary [1945], 25 leaves"},
			{"convert visits.parquet x --dates id", "--dates is for csv and jsonl, got [directory parquet]\n"},
			{"verify visits.parquet; echo $?", "visits.parquet: parquet has no checksums: verify is for directories, tdz, tdc and npz\n3\n"},
			{"convert visits.parquet x --force --lossy --to arrow && tdict show x", "dictionary [1945], 25 leaves"},
			{"diff visits visits && head -c 3000 visits.parquet > cut.parquet; tdict show cut.parquet; echo $?", "tdict: show: read cut.parquet: footer: corrupt: it begins with \"PAR1\" and ends with "},
			{"convert visits.csv visits.parquet; echo $?", "visits.parquet exists; --force replaces it\n3\n"},
		} {
			got := run(name + " " + tt.command)
			if tt.want == "" {
				require.Empty(t, got, tt.command)
			}
			require.Contains(t, got, tt.want, tt.command)
		}
	}
}

// TestStdin: only text is read from standard input.
func TestStdin(t *testing.T) {
	run := shell(t)
	require.Contains(t, run("tdict convert - out.parquet < visits.csv; echo $?"), "give --from csv or jsonl, and --schema")
	require.Empty(t, run("tdict schema visits.csv > s.json && tdict convert - out.parquet --from csv --schema s.json < visits.csv"))
	require.Empty(t, run("tdict diff visits.csv out.parquet"))
	require.True(t, strings.HasPrefix(run("tdict convert out.parquet /dev/null/x; echo $?"), "tdict: convert: "))
}

// TestPage runs the console blocks of two pages that need tdict-arrow, after the block that makes
// sales.csv, and compares their output. UPDATE_TEXTS=1 writes their output to the pages.
func TestPage(t *testing.T) {
	for page, first := range map[string]string{"tables.md": "$ cat > sales.csv", "cli.md": "\n$ tdict convert visits.csv visits\n"} {
		run, path, blocks := shell(t), "../../docs/"+page, 0
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		wants := func(block string) bool {
			if strings.Contains(block, ".arrow") || strings.Contains(block, ".parquet") {
				blocks++
				return true
			}
			return strings.Contains(block, first)
		}
		got := testkit.Replay(string(text), wants, run)
		require.NotZero(t, blocks)
		if os.Getenv("UPDATE_TEXTS") != "" {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
			continue
		}
		require.Equal(t, strings.Split(string(text), "\n"), strings.Split(got, "\n"), page)
	}
}
