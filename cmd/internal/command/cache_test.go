//go:build unix

package command

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
)

const brainsConfig = "DBNAME: unit\nSWAP_CAP: 3\nSAMPLE: [data, label]\n"

// TestCacheServe starts a server, reads its output, and ends it by SIGTERM.
func TestCacheServe(t *testing.T) {
	dir := testkit.TempDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(brainsConfig), 0o644))
	cmd := exec.CommandContext(t.Context(), executable(t), "cache", "serve", "brains", "--config", "config.yaml", "--listen", "127.0.0.1:0", "--every", "10ms")
	cmd.Dir = dir
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stderr).ReadString('\n')
	require.NoError(t, err)
	_, address, ok := strings.Cut(strings.TrimSpace(line), "serving brains on ")
	require.True(t, ok, line)
	nc, err := net.DialTimeout("tcp", address, 5*time.Second)
	require.NoError(t, err)
	defer nc.Close()
	lines := bufio.NewScanner(stdout)
	for range 3 {
		require.True(t, lines.Scan())
		var snap mongowire.Snapshot
		require.NoError(t, json.Unmarshal(lines.Bytes(), &snap))
		require.Equal(t, 3, snap.SwapCap)
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	for lines.Scan() {
	}
	require.NoError(t, cmd.Wait(), "exit code 0")
	require.NoDirExists(t, filepath.Join(dir, "brains"), "no sample came")
}

// laughs returns a config of a few lines whose aliases are 10^9 strings.
func laughs() string {
	text := brainsConfig + "a0: &a0 lol\n"
	for i := range 9 {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return text + "PORT: *a9\n"
}

// TestConfigAnchors reads a config with an anchor.
func TestConfigAnchors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte("x: &name unit\nDBNAME: *name\nSWAP_CAP: 3\n"), 0o644))
	c, err := readConfig(path)
	require.NoError(t, err)
	require.Equal(t, "unit", c.Database)
}

// TestCacheServeRefuses has configs, flags and directories that are wrong.
func TestCacheServeRefuses(t *testing.T) {
	dir := testkit.TempDir(t)
	for name, text := range map[string]string{
		"config.yaml": brainsConfig, "list.yaml": "- 1\n", "torn.yaml": "DBNAME: [", "empty.yaml": "", "nocap.yaml": "DBNAME: unit\n",
		"text.yaml": "DBNAME: unit\nSWAP_CAP: many\n", "large.yaml": brainsConfig + "CHUNKSIZE: 16\n", "port.yaml": brainsConfig + "PORT: 70000\n",
		"admin.yaml": "DBNAME: admin\nSWAP_CAP: 3\n", "password": "lab\n", "other/file": "x",
		"twice.yaml": brainsConfig + "SWAP_CAP: 4\n", "endless.yaml": brainsConfig + "SAMPLE: &a [*a]\n", "huge.yaml": brainsConfig + strings.Repeat("#", 1<<20),
		"laughs.yaml": laughs(),
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, tt := range []struct {
		args string
		code int
		says string
	}{
		{"serve brains", 2, "missing flags: --config"},
		{"serve brains --config none.yaml", 3, "none.yaml"},
		{"serve brains --config list.yaml", 3, "list.yaml: "},
		{"serve brains --config torn.yaml", 3, "torn.yaml: "},
		{"serve brains --config empty.yaml", 3, `got DBNAME "" and SWAP_CAP 0`},
		{"serve brains --config nocap.yaml", 3, "SWAP_CAP 0"},
		{"serve brains --config text.yaml", 3, "text.yaml: "},
		{"serve brains --config large.yaml", 3, "CHUNKSIZE 16"},
		{"serve brains --config twice.yaml", 3, `twice.yaml: line 4: mapping key "SWAP_CAP" already defined at line 2`},
		{"serve brains --config endless.yaml", 3, "endless.yaml: "},
		{"serve brains --config huge.yaml", 3, "huge.yaml: got more than 1048576 bytes"},
		{"serve brains --config laughs.yaml", 3, "laughs.yaml: "},
		{"serve brains --config config.yaml --every 0", 2, "--every 0s: want more than 0"},
		{"serve brains --config config.yaml --every -5s", 2, "--every -5s: want more than 0"},
		{"serve brains --config port.yaml", 3, "PORT 70000"},
		{"serve brains --config admin.yaml", 3, "admin"},
		{"serve brains --config config.yaml --listen 0.0.0.0:0", 2, "lets other machines in"},
		{"serve brains --config config.yaml --listen :0", 2, "lets other machines in"},
		{"serve brains --config config.yaml --listen nowhere", 2, "--listen: "},
		{"serve brains --config config.yaml --password-file password", 3, "want one line USER:PASSWORD"},
		{"serve brains --config config.yaml --inflight -1", 3, "Inflight -1"},
		{"serve other --config config.yaml --listen 127.0.0.1:0", 3, "it is not a cache"},
	} {
		got := command(t, dir, append([]string{"cache"}, strings.Fields(tt.args)...)...)
		require.Equal(t, tt.code, got.code, "%s: %+v", tt.args, got)
		require.Contains(t, got.stderr, tt.says, tt.args)
	}
}
