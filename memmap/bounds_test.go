package memmap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

const largest = 64 << 20 // bytes of a meta.json

// filler returns head, then unit as often as it fits, and tail: a text of the largest size.
func filler(head, unit, tail string) string {
	n := (largest - len(head) - len(tail)) / len(unit)
	return head + strings.Repeat(unit, n) + tail
}

// counting is filler with a unit that has a place for a number, so that each differs.
func counting(head, unit, tail string) string {
	var b strings.Builder
	b.Grow(largest)
	b.WriteString(head)
	for i := 0; b.Len()+len(unit)+len(tail)+10 < largest; i++ {
		fmt.Fprintf(&b, unit, i)
	}
	b.WriteString(tail)
	return b.String()
}

// peak returns how much memory the process had at most from the system while fn ran, beyond what it
// had before.
func peak(fn func()) uint64 {
	debug.FreeOSMemory()
	held := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Sys - m.HeapReleased
	}
	before, most := held(), uint64(0)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for running := true; running; time.Sleep(2 * time.Millisecond) {
			select {
			case <-done:
				running = false
			default:
			}
			most = max(most, held())
		}
	}()
	fn()
	close(done)
	<-ended
	return most - min(before, most)
}

// TestLargestMeta opens the largest meta.json that is read, of the worst kinds: it opens or fails
// within bounds of time and memory.
func TestLargestMeta(t *testing.T) {
	if !longtests.On() {
		t.Skip("opens 35 files of 64 MB, which takes half a minute")
	}
	const end = `"shape":[],` + dictTail
	const lots = "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"
	tests := []struct {
		name string
		text func() string
		err  error
	}{
		{"fields that nobody knows", func() string { return filler(`{`, `"a":0,`, end) }, nil},
		{"unknown objects", func() string { return counting(`{`, `"%d":{"a":[{}]},`, end) }, nil},
		{"entries", func() string { return counting(`{`, `"%d":{"type":""},`, end) }, memmap.ErrUnsupported},
		{"leaves without elements", func() string {
			return counting(`{`, `"%06d":{"dtype":"torch.int8","shape":[0,`+lots[2:]+`],"z":"`+strings.Repeat("z", 190)+`"},`, end)
		}, nil},
		{"leaves with an unknown list", func() string {
			return filler(`{`, `"a":{"dtype":"torch.int8","shape":[0],"z":[`+strings.Repeat("0,", 1<<20)+`0]},`, end)
		}, memmap.ErrCorrupt},
		{"one unknown list", func() string { return filler(`{"x":{"dtype":"torch.int8","shape":[0],"z":[0`, ",0", `]},`+end) }, nil},
		{"one shape", func() string { return filler(`{"x":{"dtype":"torch.int8","shape":[1`, ",1", `]},`+end) }, memmap.ErrCorrupt},
		{"one batch shape", func() string { return filler(`{"shape":[1`, ",1", `],`+dictTail) }, memmap.ErrCorrupt},
		{"lists nested deep", func() string { return filler(`{"x":`, "[", "") }, memmap.ErrCorrupt},
		{"objects nested deep", func() string { return filler(`{"x":`, `{"x":`, "") }, memmap.ErrCorrupt},
		{"data nested deep", func() string { return filler(dataHead, "[", "") }, memmap.ErrCorrupt},
		{"a name", func() string { return filler(`{"`, "n", `":{"type":""},`+end) }, memmap.ErrUnsupported},
		{"a name of what is no entry", func() string { return filler(`{"`, "n", `":0,`+end) }, nil},
		{"a name with escapes", func() string { return filler(`{"`, `\u0025`, `":{"type":""},`+end) }, memmap.ErrUnsupported},
		{"long names", func() string { return counting(`{`, `"%d`+strings.Repeat("%%", 60_000)+`":{"type":""},`, end) }, memmap.ErrCorrupt},
		{"a dtype", func() string { return filler(`{"x":{"shape":[],"dtype":"`, "n", `"},`+end) }, memmap.ErrCorrupt},
		{"a class", func() string { return filler(`{"_type":"`, "n", `"}`) }, memmap.ErrUnsupported},
		{"small values", func() string { return filler(stackHead+`[`, `0,`, `0]}`) }, memmap.ErrUnsupported},
		{"different values", func() string { return counting(stackHead+`[`, `%d.5,`, `0]}`) }, memmap.ErrUnsupported},
		{"small lists", func() string { return filler(stackHead+`[`, `[],`, `[]]}`) }, memmap.ErrUnsupported},
		{"small objects", func() string { return filler(stackHead+`[`, `{},`, `{}]}`) }, memmap.ErrUnsupported},
		{"objects with a field", func() string { return filler(stackHead+`[`, `{"":0},`, `{}]}`) }, memmap.ErrUnsupported},
		{"as many values as are read", func() string {
			return stackHead + `[` + strings.Repeat("0,", 3<<20-10) + `"` + strings.Repeat("x", largest-1<<23-200) + `"]}`
		}, memmap.ErrUnsupported},
		{"as many objects as are read", func() string { return stackHead + `[` + strings.Repeat(`{"":0},`, 3<<17-10) + `1]}` }, memmap.ErrUnsupported},
		{"as many lists as are read", func() string { return stackHead + `[` + strings.Repeat(`[0],`, 3<<19-10) + `1]}` }, memmap.ErrUnsupported},
		{"as many texts as are read", func() string { return stackHead + `[` + strings.Repeat(`"ab",`, 3<<20-10) + `1]}` }, memmap.ErrUnsupported},
		{"as many objects of ten fields as are read", func() string {
			return stackHead + `[` + strings.Repeat(`{"a":0,"b":1,"c":2,"d":3,"e":4,"f":5,"g":6,"h":7,"i":8,"j":9},`, 89_000) + `1]}`
		}, memmap.ErrUnsupported},
		{"one object", func() string { return counting(dataHead+`{`, `"%d":0,`, `"":0}`+dataTail) }, memmap.ErrUnsupported},
		{"an object with as many fields as are read", func() string {
			var b strings.Builder
			for i := range 1_040_000 {
				fmt.Fprintf(&b, `"%d":0,`, i)
			}
			return dataHead + `{` + b.String() + `"":0}` + dataTail
		}, memmap.ErrUnsupported},
		{"objects nested around a long list", func() string {
			return dataHead + strings.Repeat(`{"":`, 200) + `[` + strings.Repeat("0,", 3<<20-1500) + `0]` + strings.Repeat(`}`, 200) + dataTail
		}, memmap.ErrUnsupported},
		{"a text of data", func() string { return filler(dataHead+`"`, `\u00e9`, `"`+dataTail) }, memmap.ErrUnsupported},
		{"sums", func() string {
			return filler(`{"x":{"dtype":"torch.int8","shape":[0],"go":{"v":1,"sums":["00000000"`, `,"00000000"`, `]}},`+end)
		}, nil},
		{"a path", func() string {
			return filler(`{"x":{"dtype":"torch.int8","shape":[0],"go":{"v":1,"path":[""`, `,""`, `]}},`+end)
		}, memmap.ErrCorrupt},
		{"facts about a node", func() string { return filler(`{"_go":[{"v":1}`, `,{"v":1}`, `],`+end) }, nil},
		{"nodes of a growing dictionary", func() string { return filler(`{"_go":[{"v":1,"growing":true,"nodes":[{}`, `,{}`, `]}],`+end) }, memmap.ErrUnsupported},
		{"the version comes last", func() string {
			return filler(`{"x":{"dtype":"torch.int8","shape":[0],"go":{"sums":7,"z":[0`, `,0`, `],"v":2}},`+end)
		}, memmap.ErrUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			text := tt.text()
			require.LessOrEqual(t, len(text), largest)
			write(t, dir, "meta.json", text)
			text = ""
			var err error
			var took time.Duration
			var allocated uint64
			got := peak(func() {
				began := time.Now()
				allocated = testkit.Allocated(func() {
					var ds *memmap.Dataset
					if ds, err = memmap.Open(dir); err == nil {
						_ = ds.Close()
					}
				})
				took = time.Since(began)
			})
			t.Logf("%v, peak %d MB, allocated %d MB", took.Round(time.Millisecond), got>>20, allocated>>20)
			require.Less(t, took, time.Minute, "wanted are 4 s on a machine that has nothing else to do")
			require.Less(t, got, uint64(500<<20))
			require.ErrorIs(t, err, tt.err)
			if strings.Contains(tt.name, "as many") {
				require.ErrorContains(t, err, "an entry of another kind than a dictionary", "all was read")
			}
			if err != nil {
				require.LessOrEqual(t, len(err.Error()), 1024)
			}
		})
	}
	t.Run("more than that", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, "meta.json", filler(`{`, `"a":0,`, end))
		require.NoError(t, os.Truncate(filepath.Join(dir, "meta.json"), largest+1))
		_, err := memmap.Open(dir)
		require.ErrorIs(t, err, memmap.ErrCorrupt)
		require.ErrorContains(t, err, "meta.json: corrupt: got a file of 67108865 bytes, want a file of at most 67108864")
	})
}

// TestMaxEntries: entries are counted at all levels together.
func TestMaxEntries(t *testing.T) {
	leaves := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%d":{"dtype":"torch.int8","shape":[0],"is_nested":false},`, i)
		}
		return `{` + b.String() + `"shape":[0],` + dictTail
	}
	flat, nested := t.TempDir(), t.TempDir()
	all := longtests.Times(20_000, 200_000)
	write(t, flat, "meta.json", leaves(all))
	write(t, nested, "meta.json", `{"a":{"type":"TensorDict"},"data":{"type":"TensorDict"},"shape":[0],`+dictTail)
	write(t, nested, "a/meta.json", leaves(3))
	write(t, nested, "data/meta.json", leaves(3))
	lazy := filepath.Join("..", "testdata", "golden", "td07_lazystack_dim1", "data")
	tests := []struct {
		name, dir string
		most      int
		ok        bool
	}{
		{"no more than the default, 200,000", flat, 0, true},
		{"one more than asked for", flat, all - 1, false},
		{"nested ones count", nested, 8, true},
		{"one nested entry too many", nested, 7, false},
		{"an entry called data counts", nested, 1, false},
		{"members of a lazy stack count", lazy, 6, true},
		{"one of them too many", lazy, 5, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ds, err := memmap.OpenWith(tt.dir, memmap.OpenOptions{MaxEntries: tt.most})
			if tt.ok {
				require.NoError(t, err)
				require.NoError(t, ds.Close())
				return
			}
			require.ErrorIs(t, err, memmap.ErrUnsupported)
			require.ErrorContains(t, err, "raise MaxEntries")
		})
	}
	write(t, flat, "meta.json", leaves(200_001))
	require.ErrorContains(t, testkit.Err(memmap.Open(flat)), "unsupported: more than 200000 entries: raise MaxEntries")
}

// TestErrorTextsAreShort opens and saves what has huge names.
func TestErrorTextsAreShort(t *testing.T) {
	huge := strings.Repeat("é\n", 20_000)
	quoted := strings.ReplaceAll(huge, "\n", `\n`)
	const end = `"shape":[3],` + dictTail
	metas := map[string]string{
		"a leaf without a file":    `{"` + quoted + `":{"dtype":"torch.int8","shape":[3]},` + end,
		"a leaf that does not fit": `{"` + quoted + `":{"dtype":"torch.int8","shape":[0],"go":{"v":1}},` + end,
		"a node without directory": `{"` + quoted + `":{"type":"TensorDict"},` + end,
		"an entry twice":           `{"` + quoted + `":{"type":"A"},"` + quoted + `":1,` + end,
		"a shape that is none":     `{"` + quoted + `":{"dtype":"torch.int8","shape":[-1]},` + end,
		"a dtype that is none":     `{"x":{"dtype":"` + quoted + `","shape":[3]},` + end,
		"a dtype that is not ours": `{"x":{"dtype":"torch.qint` + quoted + `","shape":[3]},` + end,
		"a class that is not ours": `{"_type":"` + quoted + `"}`,
		"a sum that is none":       `{"x":{"dtype":"torch.int8","shape":[3],"go":{"v":1,"sums":["` + quoted + `"]}},` + end,
		"a name that is too long":  `{"` + quoted + quoted + `":{"type":"A"},` + end,
		"a string without end":     `{"` + quoted,
	}
	for name, meta := range metas {
		t.Run("open "+name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "meta.json", meta)
			requireShort(t, testkit.Err(memmap.Open(dir)))
		})
	}
	set := func(parts ...string) *tdict.TensorDict {
		td := tdict.New()
		require.NoError(t, td.Set(nestedkey.Of(parts[0], parts[1:]...), tensor.Scalar(1.5)))
		return td
	}
	deep := strings.Split(strings.Repeat(strings.Repeat("x", 200)+"/", 100), "/")
	part := deep[:10] // no longer than paths can be
	closed := open(t, saveAs(t, set(part...)))
	require.NoError(t, closed.Close())
	tds := map[string]*tdict.TensorDict{
		"a name too long for a file": set(huge), "a directory too": set(huge, "x"), "a reserved name at a long path": set(append(slices.Clone(deep), "shape")...),
		"an element at a long path that cannot be read": closed.TensorDict,
	}
	for name, td := range tds {
		t.Run("save "+name, func(t *testing.T) {
			requireShort(t, memmap.Save(filepath.Join(t.TempDir(), "d"), td))
		})
	}
	t.Run("a directory with a long name", func(t *testing.T) {
		requireShort(t, testkit.Err(memmap.Open(filepath.Join(t.TempDir(), huge))))
		requireShort(t, memmap.Save(filepath.Join(t.TempDir(), huge), steps()))
	})
}

// requireShort requires an error with a text of at most 1 KB.
func requireShort(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.LessOrEqual(t, len(err.Error()), 1024)
	require.True(t, slices.Contains([]string{"open", "save", "read"}, strings.Fields(err.Error())[0]))
}

// TestNoElementsNoFile: a leaf without elements is not looked for on disk, whatever has its name.
func TestNoElementsNoFile(t *testing.T) {
	places := map[string]func(t *testing.T, at string){
		"nothing":        func(*testing.T, string) {},
		"a directory":    func(t *testing.T, at string) { require.NoError(t, os.Mkdir(at, 0o777)) },
		"a link":         func(t *testing.T, at string) { require.NoError(t, os.Symlink("nowhere", at)) },
		"an empty file":  func(t *testing.T, at string) { require.NoError(t, os.WriteFile(at, nil, 0o666)) },
		"a longer file":  func(t *testing.T, at string) { require.NoError(t, os.WriteFile(at, []byte("1"), 0o666)) },
		"an unread file": func(t *testing.T, at string) { require.NoError(t, os.WriteFile(at, nil, 0)) },
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "meta.json", `{"x":{"dtype":"torch.int32","shape":[2,0]},"shape":[2],`+dictTail)
			place(t, filepath.Join(dir, "x.memmap"))
			x := tensor.Must(openWith(t, dir, memmap.OpenOptions{Writable: true}).Tensor("x"))
			require.Equal(t, shapeops.Shape{2, 0}, x.Shape().Clone())
		})
	}
}

// TestDimsAreBoundedWhileRead: a list of a million sizes costs no more than one that is refused.
func TestDimsAreBoundedWhileRead(t *testing.T) {
	for _, head := range []string{`{"shape":[`, `{"x":{"shape":[`, `{"x":{"go":{"v":1,"unbatched":[`, `{"x":{"go":{"v":1,"shape":[`} {
		dir := t.TempDir()
		text := head + strings.Repeat("1,", 1<<20) + `1]` // not closed: it does not come to that
		write(t, dir, "meta.json", text)
		var err error
		testkit.MaxBytes(t, uint64(len(text))+256<<10, func() { _, err = memmap.Open(dir) })
		require.ErrorIs(t, err, memmap.ErrCorrupt)
		require.ErrorContains(t, err, "more than 64 dims")
	}
}
