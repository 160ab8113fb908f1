package memmap_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/wire"
)

// TestConsolidatedTwoSaves saves to one path from several goroutines, with readers beside them:
// each opens a whole file.
func TestConsolidatedTwoSaves(t *testing.T) {
	at := filepath.Join(t.TempDir(), "x.tdc")
	save := func(n int64) error {
		td := tdict.New(1000)
		if err := td.Set("n", tensor.Must(tensor.Must(tensor.Vector(n).Expand(1000)).Clone())); err != nil {
			return err
		}
		return memmap.SaveWith(t.Context(), at, td, memmap.SaveOptions{NoSync: true})
	}
	require.NoError(t, save(-1))
	var group sync.WaitGroup
	errs := make(chan error, 200)
	for g := range int64(3) {
		group.Go(func() {
			for i := range int64(10) {
				errs <- save(10*g + i)
			}
		})
	}
	group.Go(func() {
		for range 30 {
			ds, err := memmap.Open(at)
			if err != nil {
				errs <- err
				return
			}
			all := tensor.Must(tdict.Slice[int64](ds.TensorDict, "n"))
			if all[0] != all[999] {
				errs <- fmt.Errorf("got %d and %d in one file", all[0], all[999])
			}
			errs <- ds.Close()
		}
	})
	group.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, tensor.Must(os.ReadDir(filepath.Dir(at))), 1, "nothing is left beside it")
}

// TestConsolidatedCutWhileOpen reads leaves of a file that others cut.
func TestConsolidatedCutWhileOpen(t *testing.T) {
	td := tdict.New(1 << 16)
	require.NoError(t, td.Set("x", tensor.Must(tensor.New(tensor.Float64, 1<<16))))
	at := filepath.Join(testkit.TempDir(t), "x.tdc")
	require.NoError(t, memmap.Save(at, td))
	ds := tensor.Must(memmap.Open(at))
	defer ds.Close()
	require.NoError(t, os.Truncate(at, 5000))
	require.Error(t, testkit.Err(ds.Clone()))
	require.Error(t, testkit.Err(wire.Append(nil, ds.TensorDict)))
	require.ErrorIs(t, testkit.Err(memmap.Open(at)), memmap.ErrCorrupt)
}

// TestFormInLeaf opens a file whose leaf holds another consolidated form.
func TestFormInLeaf(t *testing.T) {
	inner := tdict.New()
	require.NoError(t, inner.Set("y", tensor.Vector[int8](1, 2)))
	td := tdict.New()
	require.NoError(t, td.Set("x", tensor.Vector[int64](1, 2)))
	require.NoError(t, td.Set("message", tensor.Vector(tensor.Must(wire.Append(nil, inner))...)))
	at := filepath.Join(t.TempDir(), "x.tdc")
	require.NoError(t, os.WriteFile(at, tensor.Must(wire.Append(nil, td)), 0o600)) // without checksums
	ds := tensor.Must(memmap.Open(at))
	require.Empty(t, tensor.Must(td.Diff(ds.TensorDict)))
	require.NoError(t, ds.Close())
	require.NoError(t, testkit.Err(memmap.Verify(t.Context(), at, memmap.VerifyOptions{})))
}

// TestFactsOfInnerNodes opens a file in which a dictionary has facts that only the whole can have:
// they are passed over.
func TestFactsOfInnerNodes(t *testing.T) {
	td := tdict.New()
	require.NoError(t, td.Set("in/x", tensor.Vector[int64](1, 2)))
	for _, fact := range []string{`"crc32c":"00000000"`, `"crc32c":7`, `"schema":{"version":1,"entries":[]}`} {
		b := tensor.Must(wire.Append(nil, td))
		text, ok := bytes.CutSuffix(b[16:len(b)-8], []byte("}}")) // the inner node comes last
		require.True(t, ok)
		text = fmt.Appendf(bytes.Clone(text), `,"size":{"go":{%s}}}}`, fact)
		b = binary.LittleEndian.AppendUint64(append(b[:16], text...), uint64(len(text)))
		at := filepath.Join(t.TempDir(), "x.tdc")
		require.NoError(t, os.WriteFile(at, b, 0o600))
		ds := tensor.Must(memmap.Open(at))
		require.Empty(t, tensor.Must(td.Diff(ds.TensorDict)))
		require.Nil(t, ds.Schema())
		require.NoError(t, ds.Close())
		require.NoError(t, testkit.Err(memmap.Verify(t.Context(), at, memmap.VerifyOptions{})))
	}
}
