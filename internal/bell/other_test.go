//go:build !unix || solaris || aix

package bell_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/bell"
)

func TestUnsupported(t *testing.T) {
	require.False(t, bell.Supported)
	_, err := bell.Hang("bell")
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = bell.Dial("bell")
	require.ErrorIs(t, err, errors.ErrUnsupported)
}
