//go:build unix

package drivertest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tensor"
)

// build builds the command, and returns its path.
func build(t testing.TB) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "tdict")
	out, err := exec.Command("go", "build", "-C", "../../..", "-o", exe, "./cmd/tdict").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return exe
}

// start starts the command, and returns its address and what kills it.
func start(t testing.TB, exe, dir, listen string) (addr string, kill func()) {
	t.Helper()
	cmd := exec.Command(exe, "cache", "serve", "brains", "--config", "config.yaml", "--listen", listen)
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stderr).ReadString('\n')
	require.NoError(t, err)
	_, addr, ok := strings.Cut(strings.TrimSpace(line), " on ")
	require.True(t, ok, line)
	return addr, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// TestServerIsKilled kills the command and starts it again: the same client goes on, tickets are
// void, and samples that were acknowledged are published.
func TestServerIsKilled(t *testing.T) {
	dir, exe := t.TempDir(), build(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("DBNAME: unit\nSWAP_CAP: 5\n"), 0o644))
	addr, kill := start(t, exe, dir, "127.0.0.1:0")
	db := connect(t, "mongodb://"+addr+"/?serverSelectionTimeoutMS=20000")
	ctx := t.Context()
	for v := range byte(3) {
		require.NoError(t, put(ctx, db, 1<<20, file(t, v, 4), file(t, v, 4)))
	}
	var ticket bson.M
	require.NoError(t, db.Collection("counter").FindOneAndUpdate(ctx, bson.D{{"_id", "started"}}, bson.D{{"$inc", bson.D{{"sequence_value", 1}}}}).Decode(&ticket))
	kill()
	_, kill = start(t, exe, dir, addr)
	defer kill()
	insert := func() error {
		_, err := db.Collection("write.bin").InsertMany(ctx, []any{bson.D{{"id", ticket["sequence_value"]}, {"chunk_id", 0}, {"kind", "data"}, {"chunk", bson.Binary{Data: file(t, 9, 4)}}}})
		return err
	}
	err := insert()
	if err != nil && !strings.Contains(err.Error(), "is not out") {
		err = insert() // the first finds that the connection has ended
	}
	require.ErrorContains(t, err, "is not out")
	for v := byte(3); v < 5; v++ {
		require.NoError(t, put(ctx, db, 1<<20, file(t, v, 4), file(t, v, 4)))
	}
	require.Equal(t, "0 1 2 3 4", published(t, filepath.Join(dir, "brains")))
}

// published returns the samples of the generation that a directory has, in order.
func published(t *testing.T, dir string) string {
	t.Helper()
	c, err := samplecache.Open(t.Context(), dircache.Engine{Dir: dir}, samplecache.Options{})
	require.NoError(t, err)
	defer c.Close()
	time.AfterFunc(20*time.Second, func() { _ = c.Close() })
	g, err := c.Wait(t.Context(), 0)
	require.NoError(t, err)
	td, err := g.Slice(0, g.Len())
	require.NoError(t, err)
	var seen [5]bool
	require.NoError(t, tensor.Read(tensor.Must(td.Tensor("label")), func(b []uint8) {
		for i := 0; i < len(b); i += 4 {
			seen[b[i]] = true
		}
	}))
	var found []string
	for v, is := range seen {
		if is {
			found = append(found, fmt.Sprint(v))
		}
	}
	return strings.Join(found, " ")
}
