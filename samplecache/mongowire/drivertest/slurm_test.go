//go:build linux

package drivertest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/go-tensordict/tensordict/examples/slurm/slurmtest"
	"github.com/go-tensordict/tensordict/internal/test/testkit/slurmkit"
	"github.com/go-tensordict/tensordict/interop/torchzip"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestMain is also a command of the scheduler, and a generator.
func TestMain(m *testing.M) {
	slurmkit.Main()
	if filepath.Base(os.Args[0]) == "generate" {
		if err := generate(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// generate does what the generator of wirehead does with a config: it puts samples without end.
func generate(config string) error {
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	host := regexp.MustCompile(`MONGOHOST: "(.*)"\nPORT: (\d+)`).FindStringSubmatch(string(text))
	if host == nil {
		return fmt.Errorf("%s has no MONGOHOST and PORT", config)
	}
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + host[1] + ":" + host[2]).SetServerSelectionTimeout(time.Second))
	if err != nil {
		return err
	}
	for v := byte(0); ; v++ {
		var b bytes.Buffer
		if err := torchzip.Write(&b, tensor.Must(tensor.From(bytes.Repeat([]byte{v}, 4096), 4096))); err != nil {
			return err
		}
		if err := put(context.Background(), client.Database("brains"), 1<<20, b.Bytes(), b.Bytes()); err != nil {
			return err
		}
	}
}

// TestSlurm runs the scripts of examples/slurm/trainers-here. Generators start before the server,
// and follow it to another address when its job was killed and requeued.
func TestSlurm(t *testing.T) {
	bin, root := t.TempDir(), "../../.."
	build := exec.Command("go", "build", "-o", bin, "./cmd/tdict", "./examples/slurm/train")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	exe, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(exe, filepath.Join(bin, "generate")))

	s := slurmtest.New(t, filepath.Join(root, "examples/slurm"), bin, "GENERATE=generate", "EPOCHS=1000000")
	s.Smaller("trainers-here/config.yaml", 8)
	s.Start("trainers-here/README.md")
	j := s.Job("train")
	s.Until("an epoch", func() bool { return strings.Contains(j.Output(), "epoch 0, ") })
	requireHidden(t, s)
	j.Kill()
	s.Until("an epoch of the second run", func() bool { return strings.Count(j.Output(), "epoch 0, ") == 2 })
	require.Equal(t, 1, j.Restarts())
	j.Warn()
	require.Equal(t, slurmkit.Completed, j.Ended(), j.Output())
	for task := range 4 {
		generator := s.Job("generate", task)
		require.Equal(t, slurmkit.Running, generator.State(), generator.Output())
		generator.Warn()
		require.Equal(t, slurmkit.Completed, generator.Ended(), generator.Output())
		require.Empty(t, generator.Left())
	}
	s.Until("the next tasks of the array", func() bool { return s.Count("generate", slurmkit.Running) == 4 })
	s.Sh(s.Dir, "scancel 2")
	require.Equal(t, 12, s.Count("generate", slurmkit.Cancelled)+s.Count("generate", slurmkit.Running))
	s.RequireClean(j)
}

// requireHidden wants that no command line has the password, and that no other user may read the
// configs that have it.
func requireHidden(t *testing.T, s *slurmtest.Site) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Dir, "room/password"))
	require.NoError(t, err)
	_, password, _ := strings.Cut(strings.TrimSpace(string(text)), ":")
	for _, j := range []*slurmkit.Job{s.Job("train"), s.Job("generate", 0)} {
		lines := j.Commands()
		require.Greater(t, len(lines), 2)
		require.NotContains(t, strings.Join(lines, "\n"), password)
	}
	configs, err := filepath.Glob(filepath.Join(s.Dir, "room/config-*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, configs)
	for _, path := range configs {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	}
}
