package memmap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// numbered returns a tensor of the numbers from first.
func numbered(dtype tensor.DType, first int, shape ...int) *tensor.Tensor {
	n := shapeops.Shape(shape).Size()
	all := tensor.Must(tensor.Arange(int64(first), int64(first+n), 1))
	return tensor.Must(tensor.Must(all.Cast(dtype)).Reshape(shape...))
}

// episode returns n steps that count from a number, of which some have a key of their own.
func episode(t testing.TB, n int) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(n)
	require.NoError(t, td.Set("obs/x", numbered(tensor.Float32, n, n, 3)))
	require.NoError(t, td.Set("reward", numbered(tensor.Int64, n, n)))
	require.NoError(t, td.Set("name", tensor.Must(tdict.NewData(fmt.Sprint("episode ", n)))))
	if n%2 == 0 {
		require.NoError(t, td.Set("even", numbered(tensor.Uint8, n, n)))
	}
	return td
}

// requireEpisodes checks that a stack has these episodes.
func requireEpisodes(t *testing.T, td *tdict.TensorDict, lengths ...int) {
	t.Helper()
	dim, members, err := tdict.Members(td)
	require.NoError(t, err)
	require.Zero(t, dim)
	require.Len(t, members, len(lengths))
	for i, n := range lengths {
		text, err := episode(t, n).Diff(members[i])
		require.NoError(t, err)
		require.Empty(t, text, i)
	}
}

// saveEpisodes saves a lazy stack.
func saveEpisodes(t *testing.T, lengths ...int) (dir string) {
	t.Helper()
	var tds []*tdict.TensorDict
	for _, n := range lengths {
		tds = append(tds, episode(t, n))
	}
	dir = filepath.Join(t.TempDir(), "set")
	require.NoError(t, memmap.Save(dir, tensor.Must(tdict.LazyStack(tds, 0))))
	return dir
}

// Members are appended one by one; what is open stays, and shows them after Refresh.
func TestAppendMember(t *testing.T) {
	dir := saveEpisodes(t, 3, 2)
	ds := open(t, dir)
	for _, n := range []int{4, 0, 5} {
		require.NoError(t, memmap.AppendMember(dir, episode(t, n)))
	}
	requireEpisodes(t, ds.TensorDict, 3, 2)
	fresh := tensor.Must(ds.Refresh())
	defer fresh.Close()
	requireEpisodes(t, fresh.TensorDict, 3, 2, 4, 0, 5)
	require.Contains(t, string(tensor.Must(os.ReadFile(filepath.Join(dir, "meta.json")))), `"members":5`)
	requireSound(t, dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "4")))
	require.ErrorIs(t, testkit.Err(memmap.Open(dir)), memmap.ErrCorrupt, "the last one is lost")
	require.ErrorIs(t, memmap.AppendMember(dir, episode(t, 1)), memmap.ErrCorrupt)
}

// What Python saved is appended to likewise.
func TestAppendMemberToPythons(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "testdata", "golden", "td07_lazystack_shapes", "data"))))
	more := tdict.New()
	require.NoError(t, more.Set("b", tensor.Must(tensor.Full[int64](9))))
	require.NoError(t, memmap.AppendMember(dir, more))
	ds := open(t, dir)
	require.Equal(t, 4, ds.Shape()[0])
	require.Equal(t, int64(9), tensor.Must(tdict.Item[int64](tensor.Must(ds.Index(ix.At(3))), "b")))
}

// Several append at the same time: each gets a number.
func TestAppendMembersTogether(t *testing.T) {
	dir := saveEpisodes(t, 1)
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() { errs[i] = memmap.AppendMember(dir, episode(t, i+2)) })
	}
	all.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	ds := open(t, dir)
	seen := map[int]bool{}
	for row, err := range ds.Rows() {
		require.NoError(t, err)
		seen[tensor.Must(row.Tensor("reward")).Size()] = true
	}
	require.Len(t, seen, 9)
}

func TestAppendMemberRefuses(t *testing.T) {
	stack, plain := saveEpisodes(t, 2, 3), filepath.Join(t.TempDir(), "plain")
	require.NoError(t, memmap.Save(plain, episode(t, 2)))
	archive := plain + ".tdz"
	require.NoError(t, memmap.Copy(t.Context(), stack, archive, memmap.CopyOptions{}))
	other := tdict.New(2)
	require.NoError(t, other.Set("reward/x", numbered(tensor.Int8, 0, 2)))
	odd := episode(t, 1)
	require.NoError(t, odd.Set("shape", numbered(tensor.Int8, 0, 1)))
	tests := []struct {
		name string
		dir  string
		td   *tdict.TensorDict
		want error
	}{
		{"nothing", stack, nil, tdict.ErrKind},
		{"no directory", filepath.Join(stack, "none"), episode(t, 1), os.ErrNotExist},
		{"no stack", plain, episode(t, 1), memmap.ErrUnsupported},
		{"an archive", archive, episode(t, 1), memmap.ErrUnsupported},
		{"another kind under a key", stack, other, tdict.ErrKind},
		{"a name of the format", stack, odd, memmap.ErrName},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := memmap.AppendMember(tt.dir, tt.td)
			require.ErrorIs(t, err, tt.want)
			requireEpisodes(t, open(t, stack).TensorDict, 2, 3)
			require.Equal(t, []string{"0", "1", "meta.json"}, names(t, stack), "no leftovers")
		})
	}
}

// A member that the whole stack could not be opened with is refused, whatever member it disagrees
// with and whoever wrote that, and nothing changes.
func TestAppendMemberKeepsAStackReadable(t *testing.T) {
	one := func(key nestedkey.Key, v tdict.Value) *tdict.TensorDict {
		td := tdict.New(2)
		require.NoError(t, td.Set(key, v))
		return td
	}
	x, data := numbered(tensor.Int8, 0, 2), tensor.Must(tdict.NewData("text"))
	classed := one("x", x)
	require.NoError(t, classed.SetClass("my.Run"))
	wide := tdict.New(2, 3)
	require.NoError(t, wide.Set("x", numbered(tensor.Int8, 0, 2, 3)))
	tests := []struct {
		name          string
		second, third *tdict.TensorDict
		want          error
	}{
		{"data under a tensor's key", one("y", x), one("y", data), tdict.ErrKind},
		{"a tensor under a nested key of data", one("n/y", data), one("n/y", x), tdict.ErrKind},
		{"a dictionary under a tensor's key", one("y", x), one("y/z", x), tdict.ErrKind},
		{"an empty dictionary under a tensor's key", one("y", x), one("y", tdict.New(2)), tdict.ErrKind},
		{"a stack under a tensor's key", one("y", x), tensor.Must(tdict.LazyStack([]*tdict.TensorDict{one("y", x), one("y", x)}, 0)), tdict.ErrKind},
		{"a class", one("y", x), classed, memmap.ErrUnsupported},
		{"a key of the same kind", one("y", x), one("y", numbered(tensor.Float32, 0, 2, 4)), nil},
		{"more batch dims", one("y", x), wide, nil},
	}
	for _, tt := range tests {
		for _, by := range []string{"saved", "appended", "put there by Python"} {
			t.Run(tt.name+" "+by, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "set")
				var err error
				switch by {
				case "saved":
					err = memmap.Save(dir, tensor.Must(tdict.LazyStack([]*tdict.TensorDict{one("x", x), tt.second}, 0)))
				case "appended":
					err = memmap.Save(dir, tensor.Must(tdict.LazyStack([]*tdict.TensorDict{one("x", x)}, 0)))
					require.NoError(t, memmap.AppendMember(dir, tt.second))
				default:
					err = memmap.Save(dir, tensor.Must(tdict.LazyStack([]*tdict.TensorDict{one("x", x)}, 0)))
					require.NoError(t, memmap.Save(dir+"-1", tt.second))
					require.NoError(t, os.Rename(dir+"-1", filepath.Join(dir, "1")))
				}
				require.NoError(t, err)
				before := tree(t, dir)
				err = memmap.AppendMember(dir, tt.third)
				require.ErrorIs(t, err, tt.want)
				if tt.want != nil {
					require.Equal(t, before, tree(t, dir))
				} else {
					saved := filepath.Join(t.TempDir(), "saved")
					require.NoError(t, memmap.Save(saved, open(t, dir).TensorDict))
					require.Equal(t, tree(t, dir), tree(t, saved), "saved as it was appended to")
				}
				requireSound(t, dir)
			})
		}
	}
}

// A key that a member has got since the stack was saved counts too.
func TestAppendMemberAfterAddLeaf(t *testing.T) {
	dir := saveEpisodes(t, 2, 3)
	ds := tensor.Must(memmap.OpenWith(filepath.Join(dir, "1"), memmap.OpenOptions{Writable: true}))
	require.NoError(t, ds.AddLeaf("more/x", numbered(tensor.Int8, 0, 3)))
	require.NoError(t, ds.Close())
	for _, key := range []nestedkey.Key{"more/x", "more"} {
		odd := episode(t, 1)
		require.NoError(t, odd.Set(key, tensor.Must(tdict.NewData("text"))))
		require.ErrorIs(t, memmap.AppendMember(dir, odd), tdict.ErrKind)
	}
	like := episode(t, 1)
	require.NoError(t, like.Set("more/x", numbered(tensor.Int8, 0, 1)))
	require.NoError(t, memmap.AppendMember(dir, like))
	require.Contains(t, string(tensor.Must(os.ReadFile(filepath.Join(dir, "meta.json")))), `"more/x":"tensor"`)
	requireSound(t, dir)
}

// AppendMember to a directory that Save replaces meanwhile is ErrReplaced, or has appended.
func TestAppendMemberWhileReplaced(t *testing.T) {
	needsExchange(t)
	dir := saveEpisodes(t, 1)
	stack := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{episode(t, 1)}, 0))
	var all sync.WaitGroup
	stop := make(chan struct{})
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				assert.NoError(t, memmap.SaveWith(t.Context(), dir, stack, memmap.SaveOptions{NoSync: true}))
			}
		}
	})
	for range 20 {
		if err := memmap.AppendMember(dir, episode(t, 2)); err != nil {
			assert.ErrorIs(t, err, memmap.ErrReplaced)
			assert.NotErrorIs(t, err, memmap.ErrCorrupt)
		}
	}
	close(stop)
	all.Wait()
	requireSound(t, dir)
}

// The names of dims that a member's sizes take away are not those of the stack any more.
func TestAppendMemberToNamedDims(t *testing.T) {
	td := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{episode(t, 2), episode(t, 2)}, 0))
	require.NoError(t, td.SetNames("run", "step"))
	dir := filepath.Join(t.TempDir(), "set")
	require.NoError(t, memmap.Save(dir, td))
	require.NoError(t, memmap.AppendMember(dir, episode(t, 2)))
	require.Equal(t, []string{"run", "step"}, open(t, dir).Names())
	require.NoError(t, memmap.AppendMember(dir, episode(t, 3)))
	require.Equal(t, []string{"run"}, open(t, dir).Names())
	requireSound(t, dir)
}

// A stack opened to be written has its members' files as memory, and sums again once it is closed.
func TestLazyStackIsWritten(t *testing.T) {
	dir := saveEpisodes(t, 2, 3)
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	part := tensor.Must(tensor.Must(ds.Select("reward")).Index(ix.At(1)))
	nines := tensor.Must(part.Apply(func(_ nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) {
		return tensor.Full[int64](9, x.Shape()...)
	}))
	require.NoError(t, ds.SetIndex(nines, ix.At(1)))
	require.ErrorIs(t, ds.AddLeaf("more", numbered(tensor.Int8, 0, 2)), memmap.ErrUnsupported)
	require.NoError(t, ds.Close())
	requireSound(t, dir)
	require.Equal(t, int64(9), tensor.Must(tdict.Item[int64](tensor.Must(open(t, dir).Index(ix.At(1))), "reward", 2)))
}

// What a dictionary of stacked leaves becomes on disk: a lazy stack, or a dictionary with some.
func TestLazyStacksAreSaved(t *testing.T) {
	dense := tdict.New(2)
	require.NoError(t, dense.Set("id", numbered(tensor.Int64, 0, 2)))
	inner := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{episode(t, 2), episode(t, 3)}, 0))
	mixed := dense.Copy()
	require.NoError(t, mixed.Set("run", inner))
	both := inner.Copy()
	require.NoError(t, both.Set("id", numbered(tensor.Int64, 0, 2)))
	twice := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{inner, tensor.Must(tdict.LazyStack([]*tdict.TensorDict{episode(t, 4)}, 0))}, 0))
	across := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{grid(t, 2), grid(t, 3)}, 1))
	named := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{episode(t, 2), episode(t, 2)}, 0))
	require.NoError(t, named.SetNames("run", "step"))
	classed := inner.Copy()
	require.NoError(t, classed.SetClass("my.Run"))
	tests := []struct {
		name  string
		td    *tdict.TensorDict
		files []string // that there must be
	}{
		{"a stack", inner, []string{"0/meta.json", "1/obs/x.memmap"}},
		{"an entry that is one", mixed, []string{"id.memmap", "run/0/reward.memmap", "run/1/meta.json"}},
		{"dense leaves are cut", both, []string{"0/id.memmap", "1/id.memmap"}},
		{"a stack of stacks", twice, []string{"0/meta.json", "0/1/reward.memmap", "1/0/reward.memmap"}},
		{"along another dim", across, []string{"0/x.memmap", "1/x.memmap"}},
		{"with names", named, []string{"0/meta.json"}},
		{"of a class", classed, []string{"meta.json", "_tensordict/0/reward.memmap"}},
	}
	for _, tt := range tests {
		for _, form := range []memmap.Container{memmap.Directory, memmap.Archive} {
			t.Run(fmt.Sprint(tt.name, " ", form), func(t *testing.T) {
				at := filepath.Join(t.TempDir(), "d")
				require.NoError(t, memmap.SaveWith(t.Context(), at, tt.td, memmap.SaveOptions{Container: form}))
				if form == memmap.Directory {
					for _, file := range tt.files {
						require.FileExists(t, filepath.Join(at, file))
					}
				}
				ds := open(t, at)
				require.Equal(t, tt.td.Names(), ds.Names())
				require.Equal(t, tt.td.Class(), ds.Class())
				again := filepath.Join(t.TempDir(), "again")
				require.NoError(t, memmap.Copy(t.Context(), at, again, memmap.CopyOptions{Save: memmap.SaveOptions{Container: memmap.Directory}}))
				if form == memmap.Directory {
					require.Equal(t, tree(t, at), tree(t, again), "equal files")
				}
				require.True(t, open(t, again).TensorDict.Equal(ds.TensorDict))
				requireSound(t, at)
			})
		}
	}
	askew := inner.Copy()
	require.NoError(t, askew.Set("x", tensor.Must(across.Get("x"))))
	require.ErrorIs(t, memmap.Save(filepath.Join(t.TempDir(), "d"), askew), memmap.ErrUnsupported, "stacked along two dims")
}

// grid returns a dictionary [2] with features of a size.
func grid(t testing.TB, n int) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(2)
	require.NoError(t, td.Set("x", numbered(tensor.Int16, 0, 2, n)))
	return td
}

// What is appended to is in Look, which maps nothing.
func TestLookAtALazyStack(t *testing.T) {
	l := tensor.Must(memmap.Look(saveEpisodes(t, 2, 3), memmap.OpenOptions{}))
	require.Equal(t, shapeops.Shape{2}, l.Batch)
	require.Equal(t, tdict.KindStacked, l.Entries[1].Kind)
	require.Equal(t, shapeops.Shape{2, tdict.Any, 3}, l.Entries[1].Shape)
	require.Equal(t, int64(4*(6+9)), l.Entries[1].Bytes)
	require.True(t, l.Entries[1].Summed)
}

// Python opens what was saved and appended, and we what Python appends.
func TestPythonReadsLazyStacks(t *testing.T) {
	dir := saveEpisodes(t, 3, 2)
	require.NoError(t, memmap.AppendMember(dir, episode(t, 4)))
	require.Equal(t, "LazyStackedTensorDict [3, -1] [[3, 4, 5], [2, 3], [4, 5, 6, 7]] [3, 2, 4] episode 4 [4, 5, 6, 7]\n", processkit.Python(t, `
import sys, torch
from tensordict import TensorDict
td = TensorDict.load_memmap(sys.argv[1])
print(type(td).__name__, list(td.batch_size), [x.tolist() for x in td.get("reward", as_list=True)],
      [m.batch_size[0] for m in td.tensordicts], td[2]["name"], td[2]["even"].tolist())
`, dir))
	other := filepath.Join(t.TempDir(), "other")
	processkit.Python(t, `
import sys, torch
from tensordict import TensorDict, lazy_stack
ts = [TensorDict({"obs": {"x": torch.arange(n, 4 * n).float().view(n, 3)}, "reward": torch.arange(n, 2 * n), "name": "episode %d" % n}, [n]) for n in (3, 5)]
lazy_stack(ts).memmap(sys.argv[1])
`, other)
	requireEpisodes(t, open(t, other).TensorDict, 3, 5)
	again := filepath.Join(t.TempDir(), "again")
	require.NoError(t, memmap.Copy(t.Context(), other, again, memmap.CopyOptions{}))
	sameTree(t, other, again)
}
