package memmap_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestSameSums(t *testing.T) {
	open := func(name string, opt memmap.OpenOptions) (*tensor.Tensor, *memmap.Dataset) {
		d, err := memmap.OpenWith(name, opt)
		require.NoError(t, err)
		t.Cleanup(func() { _ = d.Close() })
		return tensor.Must(d.Tensor("x")), d
	}
	top := testkit.TempDir(t)
	saved := func(name string, values ...int32) string {
		td := steps()
		td, err := td.Index(ix.At(0))
		require.NoError(t, err)
		require.NoError(t, td.Set("x", tensor.Vector(values...)))
		path := filepath.Join(top, name)
		require.NoError(t, memmap.Save(path, td))
		return path
	}
	a, _ := open(saved("a", 1, 2, 3, 4), memmap.OpenOptions{})
	same, _ := open(saved("same", 1, 2, 3, 4), memmap.OpenOptions{})
	other, _ := open(saved("other", 1, 2, 3, 5), memmap.OpenOptions{})
	writable, _ := open(saved("writable", 1, 2, 3, 4), memmap.OpenOptions{Writable: true})
	zip, _ := open(saved("a.tdz", 1, 2, 3, 4), memmap.OpenOptions{})
	sameZip, _ := open(saved("same.tdz", 1, 2, 3, 4), memmap.OpenOptions{})
	otherZip, _ := open(saved("other.tdz", 1, 2, 3, 5), memmap.OpenOptions{})
	tests := []struct {
		name string
		x, y *tensor.Tensor
		want bool
	}{
		{"itself", a, a, true},
		{"equal", a, same, true},
		{"unequal", a, other, false},
		{"equal archives", zip, sameZip, true},
		{"unequal archives", zip, otherZip, false},
		{"a directory and an archive", a, zip, false},
		{"what may be written", a, writable, false},
		{"in memory", a, tensor.Vector[int32](1, 2, 3, 4), false},
		{"parts", tensor.Must(a.Index(ix.Range(0, 2))), tensor.Must(same.Index(ix.Range(0, 2))), false},
		{"other shapes", tensor.Must(a.Reshape(2, 2)), same, false},
		{"all rows of a leaf", tensor.Must(a.Index(ix.Range(0, 4))), same, true},
		{"none", a, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, memmap.SameSums(tt.x, tt.y))
			require.Equal(t, tt.want, memmap.SameSums(tt.y, tt.x))
		})
	}
}

// TestCopyFindsDamage changes a byte of a leaf: a copy would give it a new sum.
func TestCopyFindsDamage(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.Set("in/x", tensor.Vector[int32](0x11223344, 0x55667788)))
	require.NoError(t, td.Set("r", tensor.Must(ragged.From[int32]([][]int32{{0x01020304}, {0x05060708, 3}}))))
	tests := []struct {
		name, file string
		content    []byte
	}{
		{"a tensor", "in/x.memmap", []byte{0x88, 0x77, 0x66, 0x55}},
		{"ragged rows", "r/@pool.memmap", []byte{0x04, 0x03, 0x02, 0x01}},
	}
	for _, from := range []string{"from", "from.tdz"} {
		for _, to := range []string{"to", "to.tdz"} {
			for _, tt := range tests {
				t.Run(from+" "+to+" "+tt.name, func(t *testing.T) {
					top := testkit.TempDir(t)
					from, to := filepath.Join(top, from), filepath.Join(top, to)
					opt := memmap.SaveOptions{NoSync: true}
					require.NoError(t, memmap.SaveWith(t.Context(), from, td, opt))
					require.NoError(t, memmap.Copy(t.Context(), from, to, memmap.CopyOptions{Save: opt}))
					before := pictureOf(t, to)
					flip(t, from, tt.file, tt.content)
					err := memmap.Copy(t.Context(), from, to, memmap.CopyOptions{Save: opt})
					require.ErrorIs(t, err, memmap.ErrCorrupt)
					require.ErrorContains(t, err, "copy "+from+": "+tt.file+": corrupt: ")
					require.Equal(t, before, pictureOf(t, to), "what was there stays")
				})
			}
		}
	}
}

// TestCopyFindsDamageInABlock has damage in the second block of a leaf, and in no block.
func TestCopyFindsDamageInABlock(t *testing.T) {
	large := tensor.Must(tensor.New(tensor.Uint8, memmap.BlockSize+3))
	require.NoError(t, large.SetIndex(tensor.Scalar[uint8](0xab), ix.At(-1)))
	td := tdict.New()
	require.NoError(t, td.Set("large", large))
	top := testkit.TempDir(t)
	from, to := filepath.Join(top, "from"), filepath.Join(top, "to")
	opt := memmap.SaveOptions{NoSync: true}
	require.NoError(t, memmap.SaveWith(t.Context(), from, td, opt))
	require.NoError(t, memmap.Copy(t.Context(), from, to, memmap.CopyOptions{Save: opt}))
	flip(t, from, "large.memmap", []byte{0, 0xab})
	require.ErrorIs(t, memmap.Copy(t.Context(), from, to, memmap.CopyOptions{Save: opt}), memmap.ErrCorrupt)
}

// flip changes a bit of the last byte of content in a file of a dataset.
func flip(t *testing.T, path, file string, content []byte) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, filepath.FromSlash(file))
	}
	text := tensor.Must(os.ReadFile(path))
	at := bytes.Index(text, content)
	require.GreaterOrEqual(t, at, 0)
	text[at+len(content)-1] ^= 1
	require.NoError(t, os.WriteFile(path, text, 0o666))
}

// TestListingOf lists a dictionary in memory as the dataset that Save makes of it, except files and
// checksums.
func TestListingOf(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.Set("a/b", tensor.Vector[int64](1, 2)))
	require.NoError(t, td.Set("text", tensor.Must(ragged.FromStrings([]string{"x", "yz"}))))
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, memmap.Save(dir, td))
	want := tensor.Must(memmap.Look(dir, memmap.OpenOptions{}))
	for i := range want.Entries {
		want.Entries[i].File, want.Entries[i].Summed = "", false
	}
	got := memmap.ListingOf(td)
	require.Equal(t, want.Entries, got.Entries)
	require.Equal(t, want.Batch, got.Batch)
	require.Equal(t, memmap.AsIs, got.Container)
	require.Empty(t, memmap.ListingOf(nil).Entries)
}
