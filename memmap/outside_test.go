package memmap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A fault in a copy between two files names the one that was cut.
func TestFaultNamesTheFile(t *testing.T) {
	const rows = 1 << 17
	copies := []struct {
		name string
		do   func(dst, src *tdict.TensorDict) error
	}{
		{"set index", func(dst, src *tdict.TensorDict) error { return dst.SetIndex(src, ix.All) }},
		{"index into", func(dst, src *tdict.TensorDict) error { return src.IndexInto(dst, ix.All) }},
		{"set index by a list", func(dst, src *tdict.TensorDict) error {
			return dst.SetIndex(tensor.Must(src.Index(ix.Range(rows-2, rows))), ix.Take(rows-1, rows-2))
		}},
		{"stack", func(dst, src *tdict.TensorDict) error {
			return shapeops.CatInto(dst, []*tdict.TensorDict{src}, 0)
		}},
	}
	for _, cut := range []string{"dst", "src"} {
		for _, c := range copies {
			t.Run(cut+"/"+c.name, func(t *testing.T) {
				mapped := map[string]*tdict.TensorDict{}
				top := t.TempDir()
				for _, name := range []string{"dst", "src"} {
					td := tdict.New(rows)
					require.NoError(t, td.Set("x", tensor.Must(tensor.Full(int64(3), rows, 8)))) // two cores copy that
					named := tdict.New()
					require.NoError(t, named.Set(nestedkey.Key("in-"+name), td))
					require.NoError(t, memmap.Save(filepath.Join(top, name), named))
					ds, err := memmap.OpenWith(filepath.Join(top, name), memmap.OpenOptions{Writable: true})
					require.NoError(t, err)
					t.Cleanup(func() { _ = ds.Close() })
					mapped[name] = tensor.Must(ds.Dict(nestedkey.Key("in-" + name)))
					_ = tensor.Must(mapped[name].Index(ix.Take(0))) // maps the leaf
				}
				require.NoError(t, os.Truncate(filepath.Join(top, cut, "in-"+cut, "x.memmap"), 4096))
				err := c.do(mapped["dst"], mapped["src"])
				require.ErrorIs(t, err, memmap.ErrFault)
				require.ErrorContains(t, err, "in-"+cut+"/x.memmap: fault in mapped memory")
			})
		}
	}
}

// What only says where elements lie, or was copied from them, does not keep their file mapped.
func TestHeldShapesKeepNoMapping(t *testing.T) {
	live, dir := mapping.Live(), saved(t)
	var held []any
	func() {
		ds, err := memmap.Open(dir)
		require.NoError(t, err)
		reward := tensor.Must(ds.Tensor("reward"))
		part := tensor.Must(ds.Index(ix.Range(1, 3)))
		row := tensor.Must(tensor.Must(part.Tensor("obs/pos")).Index(ix.At(0)))
		held = append(held, ds.Shape(), reward.Shape(), reward.View(), part.Shape(), row.Shape(), row.View(),
			tensor.Must(reward.AsIndex()), tensor.Must(reward.Clone()), tensor.Must(ds.Index(ix.Take(0))),
			tensor.Must(shapeops.Stack([]*tensor.Tensor{reward, reward}, 0)), tensor.Must(row.Reshape(-1)).Shape())
		require.NotEqual(t, live, mapping.Live())
	}()
	requireDropped(t, live)
	runtime.KeepAlive(held)
}

// What is set in an opened dictionary would not be saved, so it says why it is locked, and what to
// do.
func TestOpenedIsLockedAndSaysWhy(t *testing.T) {
	for _, opt := range []memmap.OpenOptions{{}, {Writable: true}} {
		t.Run(fmt.Sprintf("writable=%v", opt.Writable), func(t *testing.T) {
			ds, err := memmap.OpenWith(saved(t), opt)
			require.NoError(t, err)
			t.Cleanup(func() { _ = ds.Close() })
			x := tensor.Must(tensor.Zeros[int8](4))
			const why = "locked: its leaves are mapped files, so what is set here would not be saved: set it in a Copy and Save that"
			for op, err := range map[string]error{
				`set "x": `: ds.Set("x", x), `set "obs/x": `: ds.Set("obs/x", x), `delete "reward": `: ds.Delete("reward"),
				`rename "reward": `: ds.Rename("reward", "x"), `update "obs/pos": `: ds.Update(ds.TensorDict),
			} {
				require.ErrorIs(t, err, tdict.ErrLocked)
				require.EqualError(t, err, op+why)
			}
			c := ds.Copy()
			require.NoError(t, c.Set("x", x), "as it says")
			dir := filepath.Join(t.TempDir(), "again")
			require.NoError(t, memmap.Save(dir, c))
			require.True(t, open(t, dir).Has("x"))
		})
	}
}

// Nothing is not saved, and leaves what is there as it was.
func TestSaveRefusesNil(t *testing.T) {
	dir := saved(t)
	require.ErrorIs(t, memmap.SaveWith(t.Context(), filepath.Join(t.TempDir(), "no"), nil, memmap.SaveOptions{}), tdict.ErrKind)
	err := memmap.Save(dir, nil)
	require.ErrorIs(t, err, tdict.ErrKind)
	require.EqualError(t, err, "save: wrong kind of value: got a nil dictionary")
	require.True(t, open(t, dir).Has("reward"))
}

// A comparison names the file that was cut, whichever side it is on.
func TestDiffNamesTheFileThatWasCut(t *testing.T) {
	for _, dtype := range []tensor.DType{tensor.Int64, tensor.Float32} {
		dir := filepath.Join(t.TempDir(), "d")
		rows := tensor.Must(tensor.New(dtype, 1<<16))
		td := tensor.Must(tdict.FromMap(shapeops.Shape{1 << 16}, tdict.Entries{"cut": rows, "whole": rows}))
		require.NoError(t, memmap.Save(dir, td))
		ds := open(t, dir)
		cut, whole := tensor.Must(ds.Tensor("cut")), tensor.Must(ds.Tensor("whole"))
		require.True(t, cut.Equal(whole))
		require.NoError(t, os.Truncate(filepath.Join(dir, "cut.memmap"), 4096))
		for _, err := range []error{testkit.Err(cut.Diff(whole)), testkit.Err(whole.Diff(cut))} {
			require.ErrorIs(t, err, memmap.ErrFault)
			require.ErrorContains(t, err, "cut.memmap: ")
			require.NotContains(t, err.Error(), "whole")
		}
	}
}
