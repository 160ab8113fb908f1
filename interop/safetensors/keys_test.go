package safetensors_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestManyKeysWithLayouts opens a file of many layouts: to name all keys takes little longer than
// to name none.
func TestManyKeysWithLayouts(t *testing.T) {
	n := longtests.Times(4_000, 16_000)
	path, keys := nested(t, n)
	took := func(keys []nestedkey.Key) time.Duration {
		least := time.Hour
		for range 3 {
			start := time.Now()
			f := tensor.Must(safetensors.OpenWith(path, safetensors.Options{Keys: keys}))
			least = min(least, time.Since(start))
			require.Equal(t, n, f.NumEntries())
			require.NoError(t, f.Close())
		}
		return least
	}
	all, named := took(nil), took(keys)
	t.Logf("all: %v, named: %v", all, named)
	require.Less(t, named, 10*all)
}

// nested saves n dictionaries with a batch shape of their own, and returns the keys in them.
func nested(t testing.TB, n int) (path string, keys []nestedkey.Key) {
	td := tdict.New()
	for i := range n {
		d := tdict.New(2)
		require.NoError(t, d.Set("x", tensor.Vector(1.0, 2)))
		key := nestedkey.Of(fmt.Sprint("d", i))
		require.NoError(t, td.Set(key, d))
		keys = append(keys, nestedkey.Of(key.Name(), "x"))
	}
	return saved(t, td), keys
}
