package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out))
	require.Equal(t, "batch 0: 0\nbatch 1: 1\nbatch 2: 2\nbatch 3: 3\n", out.String())
}
