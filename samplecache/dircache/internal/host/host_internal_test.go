package host

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFirstID(t *testing.T) {
	long := strings.Repeat("x", maxID+1)
	tests := []struct {
		name  string
		texts []string
		want  string
	}{
		{"none", nil, ""},
		{"the first", []string{"a", "b"}, "a"},
		{"an empty text is not an id", []string{"", " \n", "b"}, "b"},
		{"nor is that of a machine being set up", []string{"uninitialized\n", "b"}, "b"},
		{"space around it is not part of it", []string{" a-b\n"}, "a-b"},
		{"it is cut", []string{long}, long[:maxID]},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			id, err := firstID(tt.texts, nil)
			require.NoError(t, err)
			require.Equal(t, tt.want, id)
		})
	}
}
