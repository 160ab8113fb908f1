package memmap

import (
	"archive/zip"
	"context"
	"io"
	"math/rand/v2"
	"path"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestArchiveIsAsPythons opens an archive of Python's and saves it again, at its time: the same
// files in the same order, with the same headers and bytes, but for the sums of the meta.json
// files.
func TestArchiveIsAsPythons(t *testing.T) {
	golden := filepath.Join("..", "testdata", "golden", "tdz01_stored", "data.tdz")
	ds := tensor.Must(Open(golden))
	defer ds.Close()
	s := &saver{op: "save", ctx: context.Background(), dir: filepath.Join(t.TempDir(), "a.tdz")}
	want := tensor.Must(zip.OpenReader(golden))
	defer want.Close()
	s.time = want.File[0].Modified
	require.NoError(t, s.archive(vfs.OS, ds.TensorDict))
	got := tensor.Must(zip.OpenReader(s.dir))
	defer got.Close()
	require.Len(t, got.File, len(want.File))
	for i, f := range got.File {
		g, text := want.File[i], packedText(t, f)
		if path.Base(f.Name) == metaName {
			text = regexp.MustCompile(`,"_crc":"[0-9a-f]{8}"`).ReplaceAllString(text, "")
			f.CRC32, f.CompressedSize, f.UncompressedSize, f.CompressedSize64, f.UncompressedSize64 = g.CRC32, g.CompressedSize, g.UncompressedSize, g.CompressedSize64, g.UncompressedSize64
		}
		f.Extra, g.Extra = nil, nil // padding, which moves with the sizes
		require.Equal(t, g.FileHeader, f.FileHeader)
		require.Equal(t, packedText(t, g), text, f.Name)
	}
}

// packedText returns the bytes of a file in an archive.
func packedText(t *testing.T, f *zip.File) string {
	t.Helper()
	r := tensor.Must(f.Open())
	defer r.Close()
	return string(tensor.Must(io.ReadAll(r)))
}

// TestArchiveBefore1980 saves at a time that zip files cannot say.
func TestArchiveBefore1980(t *testing.T) {
	s := &saver{op: "save", ctx: context.Background(), dir: filepath.Join(t.TempDir(), "a.tdz"), time: time.Unix(0, 0)}
	require.NoError(t, s.archive(vfs.OS, nested(1)))
}

// TestPackedOrder compares the paths of files by their places in an archive.
func TestPackedOrder(t *testing.T) {
	order := []string{"meta.json", "a.memmap", "b.memmap", "a/meta.json", "a/0.memmap", "a/z/meta.json", "a-/meta.json", "z/meta.json"}
	for i, a := range order {
		for j, b := range order {
			require.Equal(t, min(max(i-j, -1), 1), comparePacked(a, b), "%s, %s", a, b)
		}
	}
}

// TestFilesSurviveFaults fails each disk operation of a save in turn: whatever a crash leaves then,
// the file is the old one or the new one, and if there was no error, the latter.
func TestFilesSurviveFaults(t *testing.T) {
	newOne := func() *saver { return &saver{op: "save", ctx: context.Background(), dir: "d"} }
	t.Run("archive", func(t *testing.T) {
		survivesFaults(t, func(td *tdict.TensorDict) (func(vfs.File) error, error) {
			s := newOne()
			return s.pack, s.plan(td)
		})
	})
	t.Run("consolidated", func(t *testing.T) {
		survivesFaults(t, func(td *tdict.TensorDict) (func(vfs.File) error, error) {
			p := new(tdc.Plan)
			return func(f vfs.File) error { return newOne().writeForm(f, p, &tdc.Facts{}) }, p.Make(td)
		})
	})
}

// survivesFaults saves by what plan returns.
func survivesFaults(t *testing.T, plan func(td *tdict.TensorDict) (func(vfs.File) error, error)) {
	before, after := nested(1), nested(2)
	save := func(disk vfs.FS, td *tdict.TensorDict) error {
		write, err := plan(td)
		if err != nil {
			return err
		}
		return vfs.SaveFile(t.Context(), disk, filepath.Join("d", "x.tdz"), vfs.FileOptions{}, write)
	}
	for _, fault := range []func(*vfstest.Disk, int){(*vfstest.Disk).FailOnce, (*vfstest.Disk).FailAfter} {
		for n := 1 + rand.IntN(step); ; n += step {
			disk := vfstest.New()
			require.NoError(t, disk.Mkdir("d", 0o777))
			require.NoError(t, disk.SyncDir("."))
			require.NoError(t, save(disk, before))
			ops := disk.Ops()
			fault(disk, n)
			err := save(disk, after)
			for _, mode := range vfstest.CrashModes() {
				dir := testkit.TempDir(t)
				require.NoError(t, disk.Crash(mode).Export(dir))
				ds := tensor.Must(Open(filepath.Join(dir, "d", "x.tdz")))
				isOld, isNew := ds.Equal(before), ds.Equal(after)
				require.NoError(t, ds.Close())
				require.True(t, isNew || err != nil && isOld, "operation %d, %v, crash %v", n, err, mode)
			}
			if disk.Ops()-ops < n {
				require.NoError(t, err)
				break
			}
		}
	}
}
