package dircache_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
)

// TestMain has more tests run at once than there are processors: they mostly wait for processes.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(max(8, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	testkit.Main(m)
}

// A process has a task of this package.
type process struct{ *processkit.Process }

// start starts a process. Its task ends when this process does.
func start(t testing.TB, task string, args ...any) *process {
	t.Helper()
	return &process{processkit.Start(t, task, args...)}
}

// crashPoints returns all crash points that the source names, in order.
func crashPoints(t testing.TB) (list []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, call := range regexp.MustCompile(`\bcrashPoint\("(.*?)"\)`).FindAllSubmatch(text, -1) {
			list = append(list, string(call[1]))
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	require.NotEmpty(t, list)
	return list
}
