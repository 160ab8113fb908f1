package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/slurm/slurmtest"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/slurmkit"
)

// TestMain is main if the test binary is called tdict, a command of the scheduler of slurm_test.go
// if it has the name of one, and a generator if it is called draw.
func TestMain(m *testing.M) {
	slurmkit.Main()
	switch filepath.Base(os.Args[0]) {
	case "tdict":
		main()
	case "draw":
		if err := slurmtest.Draw(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// shell returns a function that runs a command of bash in a new directory, where tdict is this
// binary.
func shell(t *testing.T) (dir string, run func(command string) string) {
	exe, err := os.Executable()
	require.NoError(t, err)
	bin := t.TempDir()
	require.NoError(t, os.Symlink(exe, filepath.Join(bin, "tdict")))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	dir = t.TempDir()
	return dir, func(command string) string {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "bash", "-c", command)
		cmd.Dir = dir
		out, _ := cmd.CombinedOutput() // the page prints the exit code where it is of interest
		return string(out)
	}
}

// setup has the commands of docs/cli.md that the session with NATS relies on.
const setup = `printf 'age,bmi\n54,22.5\n' > one.csv; tdict convert one.csv one.safetensors
cat > draw.sh <<'END'
while test $TDICT_NUMBER -lt 6; do
  printf "\\x$(printf %x $(stat -c %s one.safetensors))\0\0\0\0\0\0\0"; cat one.safetensors
  TDICT_NUMBER=$((TDICT_NUMBER + 1))
done
END`

// TestPage runs the commands of the console blocks of docs/cli.md that need NATS, and compares what
// they print. UPDATE_TEXTS=1 writes their output to the page.
func TestPage(t *testing.T) {
	const page = "../../docs/cli.md"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	_, run := shell(t)
	require.Empty(t, run(setup))
	blocks := 0
	wants := func(block string) bool {
		if !strings.Contains(block, "nats") {
			return false
		}
		blocks++
		return true
	}
	got := testkit.Replay(string(text), wants, run)
	require.NotZero(t, blocks)
	if os.Getenv("UPDATE_TEXTS") != "" {
		require.NoError(t, os.WriteFile(page, []byte(got), 0o666))
		return
	}
	is, want := strings.Split(got, "\n"), strings.Split(string(text), "\n")
	for i := range is {
		require.Equal(t, want[i], is[i], "line %d", i+1)
	}
}

// TestServerAway kills the server while a program draws, and starts it again: nothing is lost, and
// nothing is there twice.
func TestServerAway(t *testing.T) {
	dir, run := shell(t)
	require.Empty(t, run(setup))
	serve := func() *exec.Cmd {
		cmd := exec.Command("tdict", "cache", "nats", "server", "--listen", address(dir), "--address-file", "address")
		cmd.Dir = dir
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	server := serve()
	require.Eventually(t, func() bool { return address(dir) != anyPort }, time.Minute, 10*time.Millisecond)
	place := "nats://" + address(dir) + "/brains"
	require.Empty(t, run("tdict cache create "+place+" --like one.safetensors --samples 3"))
	require.Contains(t, run("tdict cache rm nats://"+address(dir)+"/other"), "tdict: cache rm: remove "+"nats://"+address(dir)+"/other: file does not exist")
	put := exec.Command("bash", "-c", "tdict cache put "+place+" --name gen -- bash -c 'touch at; until test -e go; do sleep 0.01; done; . ./draw.sh' 2>&1")
	put.Dir = dir
	var out bytes.Buffer
	put.Stdout = &out
	require.NoError(t, put.Start())
	require.Eventually(t, func() bool { return run("ls at 2> /dev/null") != "" }, time.Minute, 10*time.Millisecond)
	require.NoError(t, server.Process.Kill())
	_ = server.Wait()
	require.Empty(t, run("touch go"))
	time.Sleep(200 * time.Millisecond) // longer than the first sample takes; the test holds without it
	serve()
	require.NoError(t, put.Wait(), out.String())
	require.Regexp(t, `^tdict: cache put: the connection to the servers is lost .*: waiting for them
tdict: cache put: the servers answer again, at 127.0.0.1:\d+
tdict: cache put: samples put: 6
$`, out.String())
	require.Equal(t, place+": sound, generations: 2, samples of each: 3\n", run("tdict cache verify "+place))
	require.Empty(t, run("tdict cache keep "+place+" 2 kept"))
	require.Contains(t, run("tdict show kept"), "dictionary [3], 2 leaves")
}

const anyPort = "127.0.0.1:0"

// address returns the address that the server had, or one with a free port.
func address(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "address"))
	if err != nil {
		return anyPort
	}
	return strings.TrimSpace(string(text))
}
