package memmap_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// addPythons has Python add leaves to a saved directory by its make_memmap, at the top and in
// nested dictionaries. With a further argument it writes meta.json as without orjson.
const addPythons = `
import json, pathlib, sys, torch
from tensordict import TensorDict
import tensordict.utils as utils
if len(sys.argv) > 2:
    class plain:
        dumps = staticmethod(lambda x, *args, **kwargs: json.dumps(x).encode())
        loads = staticmethod(json.loads)
        OPT_SERIALIZE_NUMPY = 0
    for m in list(sys.modules.values()):
        if getattr(m, "__name__", "").startswith("tensordict") and hasattr(m, "json"):
            m.json = plain
td = TensorDict.load_memmap(sys.argv[1])
for node, at in ((td, ""), (td["in"], "in")):  # as after memmap_() in this process
    node._is_memmap, node._memmap_prefix = True, pathlib.Path(sys.argv[1]) / at
td.make_memmap("é", (3,), dtype=torch.int16).fill_(7)
td["in"].make_memmap("q", (3, 2), dtype=torch.float32).fill_(1)
td.make_memmap(("new", "r"), (3,), dtype=torch.uint8).fill_(2)
`

// TestPythonAddsToMeta: what Python adds to a meta.json is no damage, and what this module adds
// afterwards is covered by the sum again.
func TestPythonAddsToMeta(t *testing.T) {
	for _, args := range [][]string{nil, {"plain"}} {
		td := tdict.New(3)
		require.NoError(t, td.Set("a", counted(tensor.Int16, 3)))
		require.NoError(t, td.Set("in/b", counted(tensor.Float32, 3, 2)))
		dir := filepath.Join(t.TempDir(), "d")
		require.NoError(t, memmap.Save(dir, td))
		processkit.Python(t, addPythons, append([]string{dir}, args...)...)
		text := string(tensor.Must(os.ReadFile(filepath.Join(dir, "meta.json"))))
		require.Contains(t, text, "_crc")
		require.Equal(t, 4, open(t, dir).NumEntries(), text)
		report := tensor.Must(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{}))
		require.Len(t, report.Unsummed, 3)

		ds := writable(t, dir)
		require.NoError(t, ds.AddLeaf("later", counted(tensor.Int8, 3)))
		require.NoError(t, ds.Close())
		text = string(tensor.Must(os.ReadFile(filepath.Join(dir, "meta.json"))))
		require.True(t, json.Valid([]byte(text)))
		require.Regexp(t, `,"_crc":"[0-9a-f]{8}"\}$`, text)
		require.Equal(t, 1, strings.Count(text, "_crc"))
		require.Equal(t, 5, open(t, dir).NumEntries())
		write(t, dir, "meta.json", strings.Replace(text, `"later"`, `"latfr"`, 1))
		require.ErrorContains(t, testkit.Err(memmap.Open(dir)), `remove its field "_crc"`)
	}
}

// TestDataChangedInPlace changes data as Python does in place. Open reads the new value; what
// compares elements compares data too, until Seal accepts them.
func TestDataChangedInPlace(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.Set("x", counted(tensor.Int16, 2)))
	require.NoError(t, td.Set("in/text", tensor.Must(tdict.NewData("old", 2))))
	require.NoError(t, td.Set("in/texts", tensor.Must(tdict.DataFrom([]string{"a", "b"}, 2))))
	for _, file := range []string{"in/text", "in/texts"} {
		dir := filepath.Join(t.TempDir(), "d")
		require.NoError(t, memmap.Save(dir, td))
		text := string(tensor.Must(os.ReadFile(filepath.Join(dir, file, "meta.json"))))
		write(t, dir, file+"/meta.json", strings.NewReplacer("old", "new", `"a"`, `"c"`).Replace(text))
		changed := tensor.Must(open(t, dir).Clone())
		require.False(t, td.Equal(changed))

		for name, err := range map[string]error{
			"verify": testkit.Err(memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})),
			"copy":   memmap.Copy(t.Context(), dir, dir+".tdc", memmap.CopyOptions{}),
			"open":   testkit.Err(memmap.OpenWith(dir, memmap.OpenOptions{CheckSums: true})),
		} {
			require.ErrorIs(t, err, memmap.ErrCorrupt, name)
			require.ErrorContains(t, err, file+"/meta.json", name)
			require.ErrorContains(t, err, "Seal", name)
		}
		require.NoError(t, memmap.Copy(t.Context(), dir, dir+".skip", memmap.CopyOptions{SkipSums: true}))
		require.NoError(t, memmap.Seal(t.Context(), dir))
		requireSound(t, dir)
		require.NoError(t, memmap.Copy(t.Context(), dir, dir+".tdc", memmap.CopyOptions{}))
		require.True(t, changed.Equal(open(t, dir+".tdc").TensorDict))
		require.True(t, changed.Equal(open(t, dir+".skip").TensorDict))
	}
}

// TestVerifyGoesOnAfterAMember damages two members of a lazy stack: Verify reports both.
func TestVerifyGoesOnAfterAMember(t *testing.T) {
	members := make([]*tdict.TensorDict, 4)
	for i := range members {
		members[i] = tdict.New(2)
		require.NoError(t, members[i].Set("x", counted(tensor.Int16, 2)))
	}
	dir := saveAs(t, tensor.Must(tdict.LazyStack(members, 0)))
	for _, name := range []string{"0", "2"} {
		text := string(tensor.Must(os.ReadFile(filepath.Join(dir, name, "meta.json"))))
		write(t, dir, name+"/meta.json", strings.Replace(text, `"x"`, `"y"`, 1))
	}
	report, err := memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
	require.ErrorIs(t, err, memmap.ErrCorrupt)
	require.Len(t, report.Damage, 2)
	require.Equal(t, []string{"0/meta.json", "2/meta.json"}, []string{report.Damage[0].File, report.Damage[1].File})
	require.ErrorIs(t, testkit.Err(memmap.Open(dir)), memmap.ErrCorrupt)
}

// TestSaveLeavesItsSourceAsItWas saves a dataset that Python has changed in place: the Save is
// refused, reads of it go on as before, and a Save that does not compare is done.
func TestSaveLeavesItsSourceAsItWas(t *testing.T) {
	td := tdict.New(3)
	require.NoError(t, td.Set("x", counted(tensor.Int16, 3)))
	for _, form := range []string{"", ".tdz", ".tdc"} {
		at := filepath.Join(t.TempDir(), "d"+form)
		require.NoError(t, memmap.Save(at, td))
		file := at
		if form == "" {
			file = filepath.Join(at, "x.memmap")
		}
		b := tensor.Must(os.ReadFile(file))
		i := strings.Index(string(b), "\x00\x00\x01\x00\x02\x00")
		require.GreaterOrEqual(t, i, 0)
		b[i] = 9
		require.NoError(t, os.WriteFile(file, b, 0o666))
		ds := open(t, at)
		to := at + ".copy"
		read := func() { require.Equal(t, int16(9), tensor.Must(tdict.Item[int16](ds.TensorDict, "x", 0))) }
		read()
		require.ErrorIs(t, memmap.Save(to, ds.TensorDict), memmap.ErrCorrupt)
		read()
		require.NoError(t, memmap.SaveWith(t.Context(), to, ds.TensorDict, memmap.SaveOptions{SkipSums: true}))
		require.ErrorIs(t, memmap.Save(to+"2", ds.TensorDict), memmap.ErrCorrupt)
		read()
	}
}

// TestDataThatLooksLikeASum: data may hold a field of the name that has the sum of a meta.json.
func TestDataThatLooksLikeASum(t *testing.T) {
	for _, v := range []any{
		map[string]any{"_type": "x", "_crc": "hello wo"}, map[string]any{"a": 1, "_crc": "01234567"},
		[]any{map[string]any{"a": 1, "_crc": "01234567"}}, `,"_crc":"01234567"}`,
	} {
		td := tdict.New(2)
		require.NoError(t, td.Set("in/d", tensor.Must(tdict.NewData(v, 2))))
		require.NoError(t, td.Set("e", tensor.Must(tdict.DataFrom([]any{v, nil}, 2))))
		for _, form := range []string{"", ".tdz", ".tdc"} {
			at := filepath.Join(t.TempDir(), "d"+form)
			require.NoError(t, memmap.Save(at, td))
			require.True(t, td.Equal(open(t, at).TensorDict))
			requireSound(t, at)
		}
	}
}
