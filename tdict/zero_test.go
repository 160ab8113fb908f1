package tdict_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestZeroValuesCompare compares zero and nil values with each other and with values: none is
// equal, and Diff returns ErrKind.
func TestZeroValuesCompare(t *testing.T) {
	d := tensor.Must(tdict.NewData("a"))
	u := unbatched(count(2))
	lazy := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{dict(nil, entry{"a", count(2)}), dict(nil, entry{"a", count(3)})}, 0))
	s := tensor.Must(tdict.Get[*tdict.Stacked](lazy, "a"))
	compare(t, d, new(tdict.Data))
	compare(t, u, new(tdict.Unbatched))
	compare(t, s, new(tdict.Stacked))
	require.Equal(t, "wrong kind of value: got a nil dictionary", tdict.Schema{}.Head(nil, 3))
}

func compare[T interface{ Equal(T) bool }](t *testing.T, v, zero T) {
	var none T
	for _, pair := range [][2]T{{v, zero}, {zero, v}, {zero, zero}, {v, none}, {zero, none}} {
		require.False(t, pair[0].Equal(pair[1]))
	}
	require.True(t, v.Equal(v))
}

// No dictionary is equal to none.
func TestEqualToNil(t *testing.T) { require.False(t, sample().Equal(nil)) }
