package shapeops_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
)

// Runs go to 5 rows from 3.
func TestCheckRuns(t *testing.T) {
	tests := []struct {
		name string
		run  shapeops.Run
		ok   bool
	}{
		{"all that there is", shapeops.Run{To: 2, From: 0, Len: 3}, true},
		{"nothing, at the ends", shapeops.Run{To: 5, From: 3}, true},
		{"a negative length", shapeops.Run{Len: -1}, false},
		{"before the destination", shapeops.Run{To: -1, Len: 1}, false},
		{"before the source", shapeops.Run{From: -1, Len: 1}, false},
		{"beyond the destination", shapeops.Run{To: 3, From: 0, Len: 3}, false},
		{"beyond the source", shapeops.Run{To: 0, From: 1, Len: 3}, false},
		{"nothing, beyond the destination", shapeops.Run{To: 6}, false},
		{"nothing, beyond the source", shapeops.Run{From: 4}, false},
		{"an end that no int holds", shapeops.Run{To: 1, From: 1, Len: math.MaxInt}, false},
		{"a start that no int holds with its length", shapeops.Run{To: math.MaxInt, From: math.MaxInt, Len: 1}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := shapeops.CheckRuns([]shapeops.Run{{Len: 1}, tt.run, {Len: 1}}, 5, 3)
			if tt.ok {
				require.NoError(t, err)
				return
			}
			testkit.Fails(t, shapeops.ErrIndex, err)
		})
	}
	require.NoError(t, shapeops.CheckRuns(nil, 0, 0))
}
