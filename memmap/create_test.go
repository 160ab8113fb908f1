package memmap_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// expanded returns a tensor of zeros that takes no memory.
func expanded(dtype tensor.DType, shape ...int) *tensor.Tensor {
	return tensor.Must(tensor.Must(tensor.New(dtype)).Expand(shape...))
}

func TestCreate(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "made")
	prototype := rows(t, 3, 5)
	ds := tensor.Must(memmap.Create(dir, prototype, memmap.CreateOptions{}))
	defer ds.Close()
	for key, want := range prototype.Leaves() {
		got := tensor.Must(ds.Get(key))
		require.Equal(t, want.Shape(), got.Shape(), key)
	}
	sum := tensor.Must(ds.Tensor("obs/pos"))
	require.Equal(t, make([]byte, sum.ByteSize()), testkit.Content(t, sum), "zeros, whatever the prototype holds")
	require.Equal(t, "replay", tensor.Must(tensor.Must(tdict.Get[*tdict.Data](ds.TensorDict, "kind")).At(0)), "but for data")
	require.True(t, tensor.Must(prototype.Get("codes")).(*tdict.Unbatched).Equal(tensor.Must(ds.Get("codes")).(*tdict.Unbatched)), "and what is unbatched")

	reader := open(t, dir)
	require.NoError(t, ds.SetIndex(rows(t, 5), ix.At(2)))
	row := tensor.Must(reader.Index(ix.At(2)))
	require.Equal(t, float32(5), tensor.Must(tensor.Item[float32](tensor.Must(row.Tensor("reward")))), "readers see what is written")
	require.NoError(t, ds.Close())
	report := tensor.Must(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{}))
	require.Empty(t, report.Unsummed, "Close sets the sums")
}

func TestCreateTakesNoMemory(t *testing.T) {
	const size = 256 << 20
	dir := filepath.Join(t.TempDir(), "made")
	prototype := tdict.New(size)
	require.NoError(t, prototype.Set("x", expanded(tensor.Uint8, size)))
	testkit.MaxBytes(t, 1<<20, func() {
		ds, err := memmap.Create(dir, prototype, memmap.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, ds.Close())
	})
}

func TestAddLeaf(t *testing.T) {
	four := tensor.Vector[int16](1, 2, 3, 4)
	tests := []struct {
		name string
		key  nestedkey.Key
		v    tdict.Value
	}{
		{"beside others", "more", four},
		{"in a dictionary that is there", "obs/vel", tensor.Must(tensor.Full[float32](2, 4, 2))},
		{"in dictionaries that are not", "a/b/c", four},
		{"in one in a dictionary that is there", "obs/a/b", four},
		{"without elements", "none", tensor.Must(tensor.New(tensor.Int8, 4, 0))},
		{"an odd name", nestedkey.Of("a/b %"), four},
		{"data", "label", tensor.Must(tdict.NewData("x", 4))},
		{"data with a value for each row", "obs/label", tensor.Must(tdict.DataFrom([]string{"a", "b", "c", "d"}, 4))},
		{"an unbatched tensor", "weights", tensor.Must(tdict.NewUnbatched(four))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, want := saved(t), steps()
			require.NoError(t, want.Set(tt.key, tt.v))
			ds := writable(t, dir)
			require.NoError(t, ds.AddLeaf(tt.key, tt.v))
			require.True(t, ds.Locked())
			requireSame(t, want, ds.TensorDict)
			requireSame(t, want, open(t, dir).TensorDict)
			require.ErrorIs(t, ds.AddLeaf(tt.key, tt.v), tdict.ErrExists)
			store(t, ds, 10) // what it was
			require.NoError(t, ds.Close())
			requireSound(t, dir)
			require.Len(t, names(t, filepath.Dir(dir)), 1, "nothing is left beside it")
			require.NoError(t, memmap.Save(dir, want), "it is a saved dictionary still")
		})
	}
}

func TestAddLeafRefuses(t *testing.T) {
	four := tensor.Vector[int16](1, 2, 3, 4)
	tests := []struct {
		name string
		key  nestedkey.Key
		v    tdict.Value
		err  error
	}{
		{"a shape that does not fit", "more", tensor.Vector[int16](1, 2), shapeops.ErrShape},
		{"a key through a leaf", "reward/x", four, tdict.ErrNotDict},
		{"a dictionary", "more", tdict.New(4), tdict.ErrKind},
		{"nil", "more", nil, tdict.ErrKind},
		{"a name of the format", "obs/shape", four, memmap.ErrName},
		{"a key that is none", "~x", four, nestedkey.ErrKey},
		{"a key that is there", "obs", four, tdict.ErrExists},
	}
	dir := saved(t)
	before := tree(t, dir)
	ds := writable(t, dir)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.ErrorIs(t, ds.AddLeaf(tt.key, tt.v), tt.err)
			require.Equal(t, before, tree(t, dir), "nothing was written")
			require.Equal(t, 2, ds.NumEntries())
			require.True(t, ds.Locked())
		})
	}
	require.ErrorIs(t, open(t, dir).AddLeaf("more", four), tensor.ErrReadOnly)
	other := writable(t, dir)
	require.NoError(t, other.AddLeaf("more", four))
	require.ErrorIs(t, ds.AddLeaf("more", four), tdict.ErrExists, "another was faster")
	require.NoError(t, memmap.Save(dir, steps()))
	require.ErrorIs(t, ds.AddLeaf("more", four), memmap.ErrReplaced)
}

// unsummed returns the keys of the leaves without sums, of an undamaged directory.
func unsummed(t *testing.T, dir string) []nestedkey.Key {
	t.Helper()
	report, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
	require.NoError(t, err)
	return report.Unsummed
}

// TestSumsFollowWrites: a write makes the sums of its leaf void, and SealWritten sets them, once
// nobody can write any more.
func TestSumsFollowWrites(t *testing.T) {
	t.Parallel() // it waits a second for a lock
	dir := saved(t)
	require.Empty(t, unsummed(t, dir), "Save sets them")
	ds := writable(t, dir)
	require.True(t, steps().Equal(ds.TensorDict))
	require.Empty(t, unsummed(t, dir), "neither opening nor reading changes them")
	written := []nestedkey.Key{"reward"}
	store(t, ds, 7)
	require.Equal(t, written, unsummed(t, dir), "before the write")
	require.NoError(t, ds.Flush())
	require.Equal(t, written, unsummed(t, dir))
	require.ErrorIs(t, memmap.SealWritten(t.Context(), dir), memmap.ErrBusy)

	other := writable(t, dir)
	require.NoError(t, ds.Close())
	require.Equal(t, written, unsummed(t, dir), "another may still write")
	require.NoError(t, other.Close())
	require.Equal(t, written, unsummed(t, dir), "the other has not written it")
	require.NoError(t, memmap.SealWritten(t.Context(), dir))
	require.Empty(t, unsummed(t, dir))
	ds, other = writable(t, dir), writable(t, dir)
	store(t, ds, 8)
	store(t, other, 9)
	require.NoError(t, ds.Close())
	require.NoError(t, other.Close())
	require.Empty(t, unsummed(t, dir), "the last to close sets them")

	ds = writable(t, dir)
	s := tensor.Must(tensor.Of[int64](tensor.Must(ds.Tensor("reward"))))
	require.Equal(t, written, unsummed(t, dir), "a slice that was handed out may be written at any time")
	s[0] = 11
	require.NoError(t, ds.Close())
	requireSound(t, dir)
}

// TestSumsOfAnOperationThatGoesOn: a leaf that is used while its dataset is closed stays void.
func TestSumsOfAnOperationThatGoesOn(t *testing.T) {
	dir := saved(t)
	ds := writable(t, dir)
	reward := tensor.Must(ds.Tensor("reward"))
	require.NoError(t, tensor.Write(reward, func(s []int64) {
		require.NoError(t, ds.Close())
		s[0] = 12
	}))
	require.Equal(t, []nestedkey.Key{"reward"}, unsummed(t, dir))
}

// TestSealWritten finds damage of leaves that nobody has written.
func TestSealWritten(t *testing.T) {
	dir := saved(t)
	ds, other := writable(t, dir), writable(t, dir)
	store(t, ds, 7)
	require.NoError(t, ds.Close())
	require.NoError(t, other.Close())
	pos := filepath.Join(dir, "obs", "pos.memmap")
	damaged := tensor.Must(os.ReadFile(pos))
	damaged[0] ^= 1
	require.NoError(t, os.WriteFile(pos, damaged, 0o666))
	require.NoError(t, memmap.SealWritten(t.Context(), dir))
	report, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
	require.ErrorIs(t, err, memmap.ErrCorrupt)
	require.Empty(t, report.Unsummed)
	require.Len(t, report.Damage, 1)
	require.NoError(t, memmap.Seal(t.Context(), dir))
	requireSound(t, dir)
}

// TestSumsOfManyLeaves: the first leaves of a dictionary get void sums one by one, then all.
func TestSumsOfManyLeaves(t *testing.T) {
	dir, td := filepath.Join(testkit.TempDir(t), "d"), tdict.New(4)
	for i := range 100 {
		require.NoError(t, td.Set(nestedkey.Of(fmt.Sprint(i)), tensor.Vector[int8](1, 2, 3, 4)))
	}
	require.NoError(t, td.Set("n/x", tensor.Vector[int8](1, 2, 3, 4)))
	require.NoError(t, memmap.Save(dir, td))
	ds := writable(t, dir)
	for i := range 17 {
		require.Len(t, unsummed(t, dir), i)
		require.NoError(t, tensor.Must(ds.Tensor(nestedkey.Of(fmt.Sprint(i)))).SetIndex(tensor.Scalar(int8(9)), ix.At(0)))
	}
	require.Len(t, unsummed(t, dir), 100, "but for another dictionary")
	require.NoError(t, ds.Close())
	require.Empty(t, unsummed(t, dir))
}

// TestSumsOfTwoWriters has two datasets of one directory written at once, again and again: whatever
// sums there are in between must not be wrong.
func TestSumsOfTwoWriters(t *testing.T) {
	dir := saved(t)
	for round := range longtests.Times(5, 30) {
		var wg sync.WaitGroup
		for n := range 2 {
			ds := writable(t, dir)
			reward := tensor.Must(ds.Tensor("reward"))
			wg.Go(func() {
				for i := range 5 {
					if err := reward.SetIndex(tensor.Scalar(int64(round)), ix.At(2*n+i%2)); err != nil {
						t.Error(err)
					}
				}
				if err := ds.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		for range 5 {
			if err := memmap.SealWritten(t.Context(), dir); err != nil {
				require.ErrorIs(t, err, memmap.ErrBusy)
			}
			_ = unsummed(t, dir)
		}
		wg.Wait()
		require.NoError(t, memmap.SealWritten(t.Context(), dir))
		require.Empty(t, unsummed(t, dir))
	}
}

// TestVerifyReportsAllDamage damages a saved directory in several ways at once, and wants all
// of them told.
func TestVerifyReportsAllDamage(t *testing.T) {
	dir, td := filepath.Join(t.TempDir(), "d"), steps()
	big := tensor.Must(tensor.Full[uint8](3, 4, 40<<20)) // two and a half blocks
	require.NoError(t, td.Set("big", big))
	require.NoError(t, td.Set("gone/x", tensor.Vector[int8](1, 2, 3, 4)))
	require.NoError(t, td.Set("short", tensor.Vector[int64](1, 2, 3, 4)))
	require.NoError(t, td.Set("note", tensor.Must(tdict.NewData("x"))))
	require.NoError(t, memmap.Save(dir, td))
	requireSound(t, dir)

	flip := func(name string, at int64) {
		f := tensor.Must(os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0))
		defer f.Close()
		require.NoError(t, testkit.Err(f.WriteAt([]byte{0xff}, at)))
	}
	flip("big.memmap", 0)
	flip("big.memmap", 160<<20-1)
	flip("obs/pos.memmap", 31)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "gone")))
	require.NoError(t, os.Truncate(filepath.Join(dir, "short.memmap"), 31))
	write(t, dir, "note/meta.json", "{")
	var told int64
	opt := memmap.VerifyOptions{Progress: func(done, total int64) { told = total - done }}
	report, err := memmap.Verify(t.Context(), dir, opt)
	require.ErrorIs(t, err, memmap.ErrCorrupt)
	require.ErrorContains(t, err, "(and 5 more)")
	require.Zero(t, told)
	lines := ""
	for _, f := range report.Damage {
		require.ErrorIs(t, f.Err, memmap.ErrCorrupt)
		lines += f.String() + "\n"
	}
	require.Equal(t, `"gone": gone: corrupt: got nothing, want a directory
"short": short.memmap: corrupt: got 31 bytes, want 32
"note": note/meta.json: corrupt: unexpected JSON: byte 1: want a string
"obs/pos": obs/pos.memmap: block 0: corrupt: changed or damaged: got CRC-32C 6ba5a3ed, want 87a3ed00
"big": big.memmap: block 0: corrupt: changed or damaged: got CRC-32C e577a788, want 0464bdf3
"big": big.memmap: block 2: corrupt: changed or damaged: got CRC-32C 77e120e5, want c9cc8040
`, lines)
}

// TestSumsAreCRC32C saves the text whose sum every description of CRC-32C gives.
func TestSumsAreCRC32C(t *testing.T) {
	dir, td := filepath.Join(testkit.TempDir(t), "d"), tdict.New()
	require.NoError(t, td.Set("x", tensor.Vector([]uint8("123456789")...)))
	require.NoError(t, memmap.Save(dir, td))
	require.Contains(t, tree(t, dir)["meta.json"], `"go":{"v":1,"sums":["e3069283"]}`)
}

func TestVerifyOfWhatIsNotThere(t *testing.T) {
	report, err := memmap.Verify(t.Context(), filepath.Join(testkit.TempDir(t), "nowhere"), memmap.VerifyOptions{})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Nil(t, report)
	_, err = memmap.Verify(t.Context(), "", memmap.VerifyOptions{})
	require.ErrorIs(t, err, os.ErrInvalid)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = memmap.Verify(ctx, saved(t), memmap.VerifyOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestVerifyReadsWhatPythonWrote(t *testing.T) {
	report, err := memmap.Verify(t.Context(), filepath.Join("..", "testdata", "golden", "td01_flat", "data"), memmap.VerifyOptions{})
	require.NoError(t, err)
	require.Equal(t, 2, report.Leaves)
	require.Equal(t, []nestedkey.Key{"a", "b"}, report.Unsummed)
}

// TestSaveOptions saves alike whatever the options.
func TestSaveOptions(t *testing.T) {
	want := tree(t, saved(t))
	for _, opt := range []memmap.SaveOptions{{Workers: 1}, {Workers: 7}, {NoSync: true}} {
		dir := filepath.Join(testkit.TempDir(t), "d")
		var done []int64
		opt.Progress = func(d, total int64) { done = append(done, d) }
		require.NoError(t, memmap.SaveWith(t.Context(), dir, steps(), opt))
		require.Equal(t, want, tree(t, dir))
		require.Equal(t, []int64{32, 64}, done)
	}
}

// TestProgressOfALongLeaf is told of each block, whatever the form.
func TestProgressOfALongLeaf(t *testing.T) {
	td := tdict.New()
	require.NoError(t, td.Set("x", tensor.Must(tensor.Zeros[uint8](2*memmap.BlockSize+1))))
	for _, name := range []string{"d", "a.tdz"} {
		var done []int64
		opt := memmap.SaveOptions{NoSync: true, Progress: func(d, total int64) { done = append(done, d) }}
		require.NoError(t, memmap.SaveWith(t.Context(), filepath.Join(testkit.MemoryDir(t), name), td, opt))
		require.Equal(t, []int64{memmap.BlockSize, 2 * memmap.BlockSize, 2*memmap.BlockSize + 1}, done, name)
	}
}

// TestCreateNoSums makes a dataset whose leaves never have sums: it says so nowhere, is written,
// flushed and opened to be written again without any being set, or made void.
func TestCreateNoSums(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "made")
	ds := tensor.Must(memmap.Create(dir, steps(), memmap.CreateOptions{NoSums: true}))
	meta := func() string {
		text, all := "", tree(t, dir)
		for _, name := range []string{"meta.json", "obs/meta.json"} {
			require.Contains(t, all, name)
			text += all[name]
		}
		return text
	}
	all, before := []nestedkey.Key{"obs/pos", "reward"}, meta()
	require.NotContains(t, before, "sums")
	require.ElementsMatch(t, all, unsummed(t, dir))
	store(t, ds, 7)
	require.Equal(t, before, meta(), "writing makes none void")
	require.NoError(t, ds.Flush())
	require.Equal(t, before, meta(), "Flush sets none")
	require.NoError(t, ds.Close())
	require.Equal(t, before, meta(), "nor does Close")
	require.ElementsMatch(t, all, unsummed(t, dir))

	ds = writable(t, dir)
	store(t, ds, 8)
	require.NoError(t, ds.Flush())
	require.NoError(t, ds.Close())
	require.Equal(t, before, meta(), "nor does who opens it later")
	require.ElementsMatch(t, all, unsummed(t, dir))
	require.Equal(t, int64(8), tensor.Must(tensor.Item[int64](tensor.Must(tensor.Must(open(t, dir).Tensor("reward")).Index(ix.At(0))))))
}
