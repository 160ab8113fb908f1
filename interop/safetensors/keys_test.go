package safetensors_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestManyKeysWithLayouts opens all keys of a file of many layouts: the time grows with their number.
func TestManyKeysWithLayouts(t *testing.T) {
	took := func(n int) time.Duration {
		path, keys := nested(t, n)
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
	few, many := took(2000), took(16_000)
	t.Logf("2,000 keys: %v, 16,000 keys: %v", few, many)
	require.Less(t, many, 20*few)
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
