package command

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
)

// A query is a row of a table of docs/tables.md, and what its command has done.
type query struct {
	Query string   `json:"query"` // of pandas or SQL
	File  string   `json:"file"`  // the csv file that it wrote, or ""
	Stats []string `json:"stats"` // the lines of JSON that tdict stats has printed
}

var writes = regexp.MustCompile(`\b\w+\.csv\b`)

// queries runs the commands of a table in dir.
func queries(t *testing.T, dir, first string) (all []query) {
	page, err := os.ReadFile("../../../docs/tables.md")
	require.NoError(t, err)
	rows := testkit.Cells(string(page), first)
	require.Greater(t, len(rows), 15, "rows of the table from %s", first)
	if first == "SQL" {
		rows = append([][]string{{"SELECT 1", "tdict convert visits.csv visits", ""}}, rows...)
	}
	for _, row := range rows {
		require.Len(t, row, 3)
		q, command := query{Query: row[0]}, row[1]
		stats := strings.HasPrefix(command, "tdict stats ")
		if stats {
			command += " --json"
		}
		if names := writes.FindAllString(command, -1); names != nil && !strings.Contains(command, " diff ") {
			q.File = names[len(names)-1]
			if q.File == "visits.csv" {
				q.File = "" // the last one is a directory
			}
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", command, out)
		if stats {
			q.Stats = strings.Split(strings.TrimSpace(string(out)), "\n")
		}
		all = append(all, q)
	}
	return all
}

// TestQueries runs the commands that docs/tables.md has beside lines of pandas and of SQL. With
// Python it runs these lines too, and compares the tables, counts and means.
func TestQueries(t *testing.T) {
	t.Setenv("PATH", filepath.Dir(executable(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, first := range []string{"pandas", "SQL"} {
		t.Run(first, func(t *testing.T) {
			dir := testkit.TempDir(t)
			visits(t, dir)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "arms.csv"), []byte("trt,arm\n1,drug\n"), 0o666))
			all := queries(t, dir, first)
			list, err := json.Marshal(all)
			require.NoError(t, err)
			out := processkit.Python(t, compares, dir, first, string(list))
			var compared int
			_, err = fmt.Sscanf(out, "compared %d", &compared)
			require.NoError(t, err, out)
			require.GreaterOrEqual(t, compared, len(all), "what is compared")
		})
	}
}

// compares is a script that runs queries, and compares the results with the ones of the commands.
const compares = `
import json, os, sqlite3, sys
try:
    import pandas as pd
except ImportError:
    print("compared 1000: there is no pandas"); sys.exit()
from pandas.testing import assert_frame_equal
os.chdir(sys.argv[1])
df, arms = pd.read_csv("visits.csv"), pd.read_csv("arms.csv")
db = sqlite3.connect(":memory:")
df.to_sql("visits", db, index=False), arms.to_sql("arms", db, index=False)
done = 0

def same(name, got, want):
    global done
    assert got == want or abs(got - want) < 1e-9 * abs(want), (name, got, want)
    done += 1

def stats(lines, want):
    for line in map(json.loads, lines):
        if "by" in line: # a mean of a group
            key, group = line["key"], json.loads(line["by"][0])
            row = want.set_index("sex").loc[group] if "sex" in want else want.loc[group]
            same(key, line["mean"], row[key] if key in row else row["avg(%s)" % key])
        elif "mean" in want.index: # of describe
            same(line["key"], line["mean"], want[line["key"]]["mean"]); same("", line["count"], want[line["key"]]["count"])
        else:
            for name, sql in ("count", "count"), ("mean", "avg"), ("min", "min"), ("max", "max"):
                same(name, line[name], want["%s(%s)" % (sql, line["key"])][0])

for q in json.loads(sys.argv[3]):
    line = q["query"]
    if sys.argv[2] == "SQL":
        want = pd.read_sql_query(line, db)
    elif line.startswith("df = "):
        exec(line); continue
    else:
        want = eval(line)
    if q["stats"]:
        stats(q["stats"], want)
    elif q["file"]:
        got = pd.read_csv(q["file"])
        if want is None:
            got, want = df, pd.read_csv(q["file"])
        if "random" in line:
            same(line, len(got), len(want)); continue
        try:
            assert_frame_equal(got, want.reset_index(drop=True), check_dtype=False)
        except AssertionError as e:
            sys.exit(line + ": " + str(e))
        done += 1
print("compared", done)
`
