//go:build unix

package memmap_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// killAt kills a process at a moment before limit.
func (p *process) killAt(t *testing.T, rng *rand.Rand, limit time.Duration) {
	t.Helper()
	time.Sleep(time.Duration(rng.Int64N(int64(limit))))
	p.Kill(t)
}

// version returns one of two dictionaries of some megabytes, which have entries of the same names
// that are different things. Each holds an instance of a class.
func version(t testing.TB, which int) *tdict.TensorDict {
	t.Helper()
	entries := []tdict.Entries{{
		"obs/image": numbered(tensor.Uint8, 0, 300, 4099), "obs/pos/xyz": numbered(tensor.Float64, 1, 300, 3),
		"done": numbered(tensor.Int8, 2, 300), "x": numbered(tensor.Complex64, 3, 300, 5), "empty": tdict.New(300, 2),
		"kind": tensor.Must(tdict.NewData("one", 300)), "codes": tensor.Must(tdict.NewUnbatched(tensor.Vector[uint8](1, 2))),
	}, {
		"obs/image": numbered(tensor.Float32, 4, 200, 2000), "obs/vel/xyz": numbered(tensor.Int16, 5, 200, 64),
		"x/y/z": numbered(tensor.Uint32, 6, 200), "x/y/none": numbered(tensor.Uint32, 0, 200, 0),
		"kind/a": tensor.Must(tdict.NewData("other", 200)), "codes": tensor.Must(tdict.NewUnbatched(numbered(tensor.Int64, 7, 9000))),
	}}[which]
	batch := shapeops.Shape{[]int{300, 200}[which]}
	td, err := tdict.FromMap(batch, entries)
	require.NoError(t, err)
	words, tags := wordsAndTags(t, 1000*which, batch...)
	require.NoError(t, td.Set([]nestedkey.Key{"obs/text", "x/y/text"}[which], words))
	require.NoError(t, td.Set("tags", tags))
	require.NoError(t, tensor.Must(td.Dict([]nestedkey.Key{"obs", "x"}[which])).SetClass("my.Frame"))
	return td
}

// requireOne checks that a directory holds the one version or the other, whole, with its schema,
// and returns which.
func requireOne(t *testing.T, dir string) int {
	t.Helper()
	ds := open(t, dir)
	which := 0
	if len(ds.Shape()) == 1 && ds.Shape()[0] == 200 {
		which = 1
	}
	requireSame(t, version(t, which), ds.TensorDict)
	require.Empty(t, tdict.SchemaOf(version(t, which)).Diff(ds.Schema()))
	require.NoError(t, ds.Close())
	requireSound(t, dir)
	return which
}

// TestProcessSaves is a process that saves one version after the other onto one directory, whole or
// in chunks of rows. It waits after the first, and tells how long that took.
func TestProcessSaves(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	rng := k.Random(t, 1)
	versions := []*tdict.TensorDict{version(t, 0), version(t, 1)}
	first := true
	for i := rng.IntN(2); ; i = 1 - i {
		opt := memmap.SaveOptions{NoSync: rng.IntN(2) == 0, Workers: rng.IntN(3), Schema: tdict.SchemaOf(versions[i])}
		began := time.Now()
		if rng.IntN(2) == 0 {
			require.NoError(t, memmap.SaveWith(context.Background(), k.Args[0], versions[i], opt))
		} else {
			require.NoError(t, memmap.SaveRows(context.Background(), k.Args[0], inChunks(versions[i], 64), opt))
		}
		if k.Tell("saved %d", time.Since(began)); first {
			k.Wait()
		}
		first = false
	}
}

// startSavers starts processes that have each saved once, so that nothing but the directory is
// left beside it, and have gone on. It returns a time in which they save a few times.
func startSavers(t *testing.T, dir string, n int, rng *rand.Rand) (all []*process, limit time.Duration) {
	t.Helper()
	for range n {
		p := start(t, "TestProcessSaves", dir, rng.IntN(1<<30))
		took, err := time.ParseDuration(p.Words(t)[1] + "ns")
		require.NoError(t, err)
		require.Equal(t, []string{filepath.Base(dir)}, names(t, filepath.Dir(dir)), "leftovers")
		all, limit = append(all, p), max(limit, 3*took)
	}
	for _, p := range all {
		p.Proceed(t)
	}
	return all, limit
}

// TestKillSave kills processes while they save, two at once in each third round: the directory, or
// the file, holds the one version or the other, and what is left beside it goes with the next
// save.
func TestKillSave(t *testing.T) {
	needsExchange(t)
	for _, name := range []string{"set", "set.tdz", "set.tdc"} {
		t.Run(name, func(t *testing.T) { killSave(t, name) })
	}
}

func killSave(t *testing.T, name string) {
	dir, rng := filepath.Join(t.TempDir(), name), processkit.Random(t)
	held, left := [2]int{}, 0
	n := kills(t, 12, 300)
	for done := 0; done < n; {
		savers, limit := startSavers(t, dir, 1+rng.IntN(3)/2, rng)
		for _, p := range savers {
			p.killAt(t, rng, limit)
			done++
			if len(savers) == 1 || p == savers[1] {
				held[requireOne(t, dir)]++
			}
		}
		left += len(names(t, filepath.Dir(dir))) - 1
	}
	last, _ := startSavers(t, dir, 1, rng)
	last[0].Kill(t)
	t.Logf("%d kills: then %v times the one version and the other, %d leftovers, all removed by the next save", n, held, left)
}

// blank returns the dictionary that processes create.
func blank() *tdict.TensorDict {
	zero := func(dtype tensor.DType, shape ...int) *tensor.Tensor {
		return tensor.Must(tensor.Must(tensor.New(dtype)).Expand(shape...))
	}
	return tensor.Must(tdict.FromMap(shapeops.Shape{500}, tdict.Entries{
		"frames": zero(tensor.Uint8, 500, 64, 64), "obs/pos": zero(tensor.Float32, 500, 3), "obs/deep/id": zero(tensor.Int64, 500),
		"kind": tensor.Must(tdict.NewData("blank", 500)),
	}))
}

// TestProcessCreates is a process that creates dictionaries, in each directory two, one after the
// other. It waits after the first.
func TestProcessCreates(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	rng := k.Random(t, 1)
	for i := 0; ; i++ {
		dir := filepath.Join(k.Args[0], fmt.Sprint(i/2))
		k.Tell("creating %d", i/2)
		ds, err := memmap.Create(dir, blank(), memmap.CreateOptions{NoSync: rng.IntN(2) == 0, Replace: i%2 == 1})
		require.NoError(t, err)
		k.Tell("created %d", i/2)
		require.NoError(t, ds.Close())
		if i == 0 {
			k.Wait()
		}
	}
}

// TestKillCreate kills processes while they create: each directory is whole, or absent if Create
// had not returned.
func TestKillCreate(t *testing.T) {
	needsExchange(t)
	top, rng := t.TempDir(), processkit.Random(t)
	whole, absent := 0, 0
	n := kills(t, 8, 200)
	for range n {
		p := start(t, "TestProcessCreates", top, rng.IntN(1<<30))
		require.Equal(t, "creating", p.Words(t)[0])
		require.Equal(t, "created", p.Words(t)[0])
		require.Equal(t, []string{"0"}, names(t, top), "leftovers")
		p.Proceed(t)
		p.killAt(t, rng, 60*time.Millisecond)
		w, a := requireCreated(t, top, p.Heard)
		whole, absent = whole+w, absent+a
		for _, name := range names(t, top) {
			if !strings.HasPrefix(name, ".") {
				require.NoError(t, os.RemoveAll(filepath.Join(top, name)))
			}
		}
	}
	t.Logf("%d kills: %d directories whole, %d absent", n, whole, absent)
}

// requireCreated checks all directories that a process has told of.
func requireCreated(t *testing.T, top string, heard []string) (whole, absent int) {
	t.Helper()
	seen := map[string]bool{}
	for _, line := range heard {
		what, name, _ := strings.Cut(line, " ")
		seen[name] = seen[name] || what == "created"
	}
	for name, created := range seen {
		dir := filepath.Join(top, name)
		ds, err := memmap.Open(dir)
		if errors.Is(err, fs.ErrNotExist) && !created {
			absent++
			continue
		}
		require.NoError(t, err)
		requireSame(t, blank(), ds.TensorDict)
		require.NoError(t, ds.Close())
		report, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
		require.NoError(t, err)
		require.Equal(t, 3, report.Leaves)
		whole++
	}
	return whole, absent
}

// TestProcessClaims is a process that saves its number to one directory after the other, none of
// which it may replace, and tells which of them it has got.
func TestProcessClaims(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	rng := k.Random(t, 1)
	k.Tell("ready")
	k.Wait()
	for i := 0; ; i++ {
		opt := memmap.SaveOptions{NoReplace: true, NoSync: rng.IntN(2) == 0, Workers: rng.IntN(3)}
		err := memmap.SaveWith(context.Background(), filepath.Join(k.Args[0], fmt.Sprint(i)), generation(t, int64(k.Number(t, 2))), opt)
		if err == nil {
			k.Tell("got %d", i)
			continue
		}
		require.ErrorIs(t, err, fs.ErrExist)
	}
}

// TestKillClaims has processes save to the same directories, and kills them one after the other:
// each directory is whole, and of the process that got it; none is of two.
func TestKillClaims(t *testing.T) {
	rng, claimed, directories := processkit.Random(t), 0, 0
	n := kills(t, 8, 200)
	for done := 0; done < n; {
		top, all := t.TempDir(), []*process{}
		for which := range 3 {
			all = append(all, start(t, "TestProcessClaims", top, rng.IntN(1<<30), which))
		}
		for _, p := range all {
			p.Words(t)
			p.Proceed(t)
		}
		for _, p := range all {
			p.killAt(t, rng, 60*time.Millisecond)
			done++
		}
		owners := map[string]int{}
		for which, p := range all {
			for _, line := range p.Heard[1:] {
				_, name, _ := strings.Cut(line, " ")
				require.NotContains(t, owners, name, "two have got it")
				owners[name] = which
			}
		}
		for _, name := range names(t, top) {
			if strings.HasPrefix(name, ".") {
				continue
			}
			directories++
			requireSound(t, filepath.Join(top, name))
			if owner, ok := owners[name]; ok {
				claimed++
				ds := open(t, filepath.Join(top, name))
				require.Equal(t, int64(owner), number(t, ds.TensorDict))
				require.NoError(t, ds.Close())
			}
			delete(owners, name)
		}
		require.Empty(t, owners, "what was saved is gone")
	}
	t.Logf("%d kills: %d directories, of which %d were told to be somebody's", n, directories, claimed)
}

// scratchKeys are the leaves that processes write to.
var scratchKeys = []nestedkey.Key{"a", "b", "obs/c", "obs/d", "obs/deep/e", "obs/deep/f"}

// scratch returns the dictionary that processes write to.
func scratch(t testing.TB) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(400)
	for i := 0; i < len(scratchKeys); i += 2 {
		require.NoError(t, td.Set(scratchKeys[i], numbered(tensor.Int64, 0, 400, 200)))
		require.NoError(t, td.Set(scratchKeys[i+1], numbered(tensor.Float32, 0, 400)))
	}
	return td
}

// TestProcessWrites is a process that writes to the leaves of a directory, with a Flush now and
// then. It tells which leaf it has written to, or is about to.
func TestProcessWrites(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	ds, rng := writable(t, k.Args[0]), k.Random(t, 1)
	for i := 0; ; i++ {
		if rng.IntN(100) == 0 {
			k.Tell("flushing")
			require.NoError(t, ds.Flush())
			k.Tell("flushed")
			continue
		}
		key := scratchKeys[rng.IntN(len(scratchKeys))]
		x := tensor.Must(ds.Tensor(key))
		k.Tell("writing %s", key)
		value := tensor.Must(tensor.Must(tensor.Scalar(int64(-i)).Cast(x.DType())).Expand(x.Shape()[1:]...))
		require.NoError(t, x.SetIndex(value, ix.At(rng.IntN(400))))
		k.Tell("wrote %s", key)
	}
}

// TestKillWritable kills processes while they write: the sums of every leaf that was written are
// void, other sums stand, and nothing is damage.
func TestKillWritable(t *testing.T) {
	dir, rng := filepath.Join(t.TempDir(), "set"), processkit.Random(t)
	states, temps := map[string]int{}, 0
	n := kills(t, 8, 150)
	for i := range n {
		if i%3 == 0 { // else it goes on with what the last one has left
			require.NoError(t, memmap.Save(dir, scratch(t)))
		} else {
			requireSettled(t, dir)
		}
		p := start(t, "TestProcessWrites", dir, rng.IntN(1<<30))
		p.Words(t)
		p.killAt(t, rng, 40*time.Millisecond)
		report, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
		require.NoError(t, err, "%s", p.Tail())
		states[requireVoid(t, p, report.Unsummed)]++
		require.NoError(t, open(t, dir).Close())
		temps = max(temps, countTemps(t, dir))
	}
	t.Logf("%d kills, when it had told last: %v; at most %d temporary files of meta.json", n, states, temps)
}

// requireSettled writes to every leaf, and closes, which sets all sums.
func requireSettled(t *testing.T, dir string) {
	t.Helper()
	ds := writable(t, dir)
	require.NoError(t, ds.SetIndex(tensor.Must(scratch(t).Index(ix.At(0))), ix.At(0)))
	require.NoError(t, ds.Close())
	requireSound(t, dir)
}

// requireVoid checks which leaves have no sums, given what the process has told, and returns what
// it told last.
func requireVoid(t *testing.T, p *process, unsummed []nestedkey.Key) string {
	t.Helper()
	sure, maybe, last := touched(p.Heard)
	for _, key := range scratchKeys {
		void := slices.Contains(unsummed, key)
		require.True(t, void || !sure[string(key)], "%s was written to, and has sums: %s", key, p.Tail())
		require.True(t, !void || maybe[string(key)], "%s was not written to, and has none: %s", key, p.Tail())
	}
	return last
}

// touched returns which leaves were written, surely and maybe.
func touched(heard []string) (sure, maybe map[string]bool, last string) {
	sure, maybe = map[string]bool{}, map[string]bool{}
	for _, line := range heard {
		what, key, _ := strings.Cut(line, " ")
		switch last = what; what {
		case "writing":
			maybe[key] = true
		case "wrote":
			sure[key] = true
		}
	}
	return sure, maybe, last
}

// countTemps counts files that were to become a meta.json.
func countTemps(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	require.NoError(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".meta-") {
			n++
		}
		return err
	}))
	return n
}

// entriesOf are values that AddLeaf saves in a directory each, and one in a file.
func entriesOf(t testing.TB) map[nestedkey.Key]tdict.Leaf {
	t.Helper()
	lengths := make([]int64, 401)
	for i := range lengths {
		lengths[i] = int64(i * i)
	}
	values := numbered(tensor.Int32, 0, 400*400)
	codes := tensor.Must(ragged.New(values, tensor.Must(ragged.NewLayout(shapeops.Shape{400}, lengths))))
	return map[nestedkey.Key]tdict.Leaf{
		"new/deep/x": numbered(tensor.Int64, 1, 400, 200), "kind": tensor.Must(tdict.NewData("one", 400)),
		"codes": codes, "obs/more/x": numbered(tensor.Uint8, 2, 400), "plain": numbered(tensor.Int16, 3, 400),
	}
}

// TestProcessAdds is a process that adds leaves to a directory, and tells which it has.
func TestProcessAdds(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	entries, ds := entriesOf(t), writable(t, k.Args[0])
	k.Tell("ready")
	for key, v := range entries {
		if !ds.Has(key) {
			require.NoError(t, ds.AddLeaf(key, v))
			k.Tell("added %s", key)
		}
	}
	k.Wait()
}

// TestKillAddLeaf kills processes while they add leaves: each leaf is there, whole, or absent, and
// then it can be added.
func TestKillAddLeaf(t *testing.T) {
	dir, rng := filepath.Join(t.TempDir(), "set"), processkit.Random(t)
	entries, marked, absent := entriesOf(t), 0, 0
	n := kills(t, 10, 600)
	for range n {
		require.NoError(t, memmap.Save(dir, scratch(t)))
		p := start(t, "TestProcessAdds", dir)
		p.Words(t)
		p.killAt(t, rng, 30*time.Millisecond)
		marked += len(tensor.Must(filepath.Glob(filepath.Join(dir, "*", ".adding"))))
		ds := writable(t, dir)
		requireTold(t, ds.TensorDict, p.Heard)
		want := scratch(t)
		for key, v := range entries {
			require.NoError(t, want.Set(key, v))
			if !ds.Has(key) {
				absent++
				require.NoError(t, ds.AddLeaf(key, v), key)
			}
		}
		require.NoError(t, ds.Close())
		got := open(t, dir)
		requireSame(t, want, got.TensorDict)
		require.NoError(t, got.Close())
		requireSound(t, dir)
	}
	t.Logf("%d kills: %d leaves were absent, %d directories marked", n, absent, marked)
}

// requireTold checks that the leaves that a process has added are there.
func requireTold(t *testing.T, td *tdict.TensorDict, heard []string) {
	t.Helper()
	for _, line := range heard {
		if key, added := strings.CutPrefix(line, "added "); added {
			require.True(t, td.Has(nestedkey.Key(key)), key)
		}
	}
}

// TestProcessAppendsMembers is a process that appends members to a lazy stack, and tells how many
// it has.
func TestProcessAppendsMembers(t *testing.T) {
	k, ok := processkit.TaskOf(t)
	if !ok {
		return
	}
	k.Tell("ready")
	for n := 1; ; n++ {
		require.NoError(t, memmap.AppendMember(k.Args[0], episode(t, 100*n)))
		k.Tell("appended %d", n)
	}
}

// TestKillAppendMember kills processes while they append: the members that were told are there, at
// most one more, all whole, and the next is appended.
func TestKillAppendMember(t *testing.T) {
	rng, more := processkit.Random(t), 0
	n := kills(t, 10, 600)
	for range n {
		dir := saveEpisodes(t, 100)
		p := start(t, "TestProcessAppendsMembers", dir)
		p.Words(t)
		p.killAt(t, rng, 60*time.Millisecond)
		told := 0
		for _, line := range p.Heard {
			if strings.HasPrefix(line, "appended ") {
				told++
			}
		}
		requireSound(t, dir)
		ds := open(t, dir)
		have := ds.Shape()[0] - 1
		require.GreaterOrEqual(t, have, told)
		require.LessOrEqual(t, have, told+1)
		more += have - told
		lengths := []int{100}
		for i := range have {
			lengths = append(lengths, 100*(i+1))
		}
		requireEpisodes(t, ds.TensorDict, lengths...)
		require.NoError(t, ds.Close())
		require.NoError(t, memmap.AppendMember(dir, episode(t, 7)))
		requireEpisodes(t, open(t, dir).TensorDict, append(lengths, 7)...)
	}
	t.Logf("%d kills: %d members were there before they were told", n, more)
}
