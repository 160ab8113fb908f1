package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

const pagePath = "../../../docs/cli.md"

// TestPage runs the commands of the console blocks of docs/cli.md, docs/samplecache.md,
// docs/tables.md, docs/cookbook.md and docs/start.md that have a line of tdict, in their order and
// in one directory for each page, and compares their output. Blocks with python3 need
// TENSORDICT_PYTHON.
// UPDATE_TEXTS=1 writes their output to the page.
func TestPage(t *testing.T) {
	path := executable(t)
	t.Setenv("PATH", filepath.Dir(path)+string(os.PathListSeparator)+os.Getenv("PATH"))
	python := "#!/bin/sh\nexec \"$TENSORDICT_PYTHON\" \"$(realpath \"$1\")\"\n" // it may work in another directory
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "python3"), []byte(python), 0o777))
	for _, page := range []string{pagePath, "../../../docs/samplecache.md", "../../../docs/tables.md", "../../../docs/cookbook.md", "../../../docs/start.md"} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			dir := testkit.TempDir(t)
			visits(t, dir)
			examples, err := filepath.Abs("../../../examples")
			require.NoError(t, err)
			require.NoError(t, os.Symlink(examples, filepath.Join(dir, "examples")))
			got := testkit.Replay(string(text), wants, func(command string) string {
				if strings.HasPrefix(command, "go install ") || strings.HasPrefix(command, "gunzip ") {
					return "" // they are done
				}
				cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
				cmd.Dir = dir
				out, _ := cmd.CombinedOutput() // the page prints the exit code where it is of interest
				return string(out)
			})
			if os.Getenv("UPDATE_TEXTS") != "" {
				require.NoError(t, os.WriteFile(page, []byte(got), 0o666))
				return
			}
			if got != string(text) {
				t.Error(cmp.Diff(string(text), got))
			}
		})
	}
}

// wants reports whether a block is replayed: it has a command of tdict, needs neither NATS nor
// tdict-arrow, and no Python that is not there.
func wants(block string) bool {
	return strings.Contains(block, "\n$ tdict ") && !strings.Contains(block, "nats") && !arrowFile.MatchString(block) &&
		(!strings.Contains(block, "python3") || os.Getenv("TENSORDICT_PYTHON") != "")
}

var arrowFile = regexp.MustCompile(`\.(arrow|parquet)\b`)

// leaves returns the commands, with what they are below.
func leaves(t *testing.T) []*kong.Node {
	parser, err := kong.New(&commands{}, kong.Vars{"version": ""})
	require.NoError(t, err)
	return parser.Model.Leaves(true)
}

// TestCommandsAreOnThePage wants a section and a transcript for each command.
func TestCommandsAreOnThePage(t *testing.T) {
	text, err := os.ReadFile(pagePath)
	require.NoError(t, err)
	for _, node := range leaves(t) {
		name := node.Name
		if name == "print" {
			name = "schema" // tdict schema PATH
		} else if node.Parent.Parent != nil {
			name = node.Parent.Name + " " + node.Name
		}
		section, _, _ := strings.Cut(name, " ")
		require.True(t, strings.Contains(string(text), "\n## "+section+"\n"), "a section of %s", name)
		require.True(t, regexp.MustCompile(`(?m)^\$ (timeout \d )?tdict `+name+" ").Match(text), "a transcript of %s", name)
	}
}

// TestExamplesParse parses the examples in the help of each command.
func TestExamplesParse(t *testing.T) {
	examples := 0
	for _, node := range leaves(t) {
		for node.Parent.Parent != nil {
			node = node.Parent
		}
		require.Contains(t, node.Detail, "\n\ttdict "+node.Name+" ", node.Name)
		for line := range strings.Lines(node.Detail) {
			if command, ok := strings.CutPrefix(line, "\ttdict "); ok {
				examples++
				_, err := parse(words(t, command), nil, nil)
				require.NoError(t, err, command)
			}
		}
	}
	require.Greater(t, examples, 10)
}

// words returns the arguments of a command as a shell cuts them, without what is redirected.
func words(t *testing.T, command string) []string {
	command, _, _ = strings.Cut(command, " > ")
	out, err := exec.CommandContext(t.Context(), "bash", "-fc", `printf '%s\0' `+command).Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
