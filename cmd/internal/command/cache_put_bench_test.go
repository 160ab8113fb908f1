//go:build unix

package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkPut puts the frames of a file, which cat writes to the pipe, into a cache on tmpfs. "of
// cat" is the time in units of the time that cat takes to copy the file to tmpfs.
func BenchmarkPut(b *testing.B) {
	for _, bb := range []struct {
		name   string
		bytes  int
		frames int
	}{{"1KiB", 1 << 10, 100_000}, {"1MiB", 1 << 20, 500}, {"16MiB", 16 << 20, 32}} {
		b.Run(bb.name, func(b *testing.B) {
			dir := testkit.MemoryDir(b)
			b.Chdir(dir)
			td := tdict.New()
			require.NoError(b, td.Set("x", tensor.Must(tensor.New(tensor.Uint8, bb.bytes))))
			require.NoError(b, os.WriteFile("frames", bytes.Repeat(frameOf(b, td), bb.frames), 0o666))
			require.NoError(b, dircache.Create("c", td, samplecache.Config{Samples: max(8, bb.frames/100)}))
			exe := executable(b)
			var put, cat time.Duration
			for b.Loop() {
				began := time.Now()
				out, err := exec.Command(exe, "cache", "put", "c", "--", "cat", "frames").CombinedOutput()
				require.NoError(b, err, string(out))
				put += time.Since(began)
				began = time.Now()
				require.NoError(b, exec.Command("bash", "-c", "cat frames > copy").Run())
				cat += time.Since(began)
				require.NoError(b, os.Remove(filepath.Join(dir, "copy")))
			}
			b.ReportMetric(float64(put)/float64(cat), "of-cat")
			b.ReportMetric(float64(b.N*bb.frames)/put.Seconds(), "samples/s")
		})
	}
}
