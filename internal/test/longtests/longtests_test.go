package longtests_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
)

func Example() {
	rounds := 0
	for range longtests.Times(10, 1000) {
		rounds++
	}
	fmt.Println(rounds == 10 || longtests.On())
	// Output: true
}

func TestTimes(t *testing.T) {
	t.Setenv("TENSORDICT_LONG", "")
	require.Equal(t, 3, longtests.Times(3, 9))
	t.Setenv("TENSORDICT_LONG", "1")
	require.Equal(t, 9, longtests.Times(3, 9))
}
