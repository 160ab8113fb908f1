package cast_test

import (
	"go/build"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyMachinesOf32BitAreRefused(t *testing.T) {
	tests := []struct {
		arch    string
		refused bool
	}{
		{"386", true}, {"arm", true}, {"mips", true}, {"mipsle", true},
		{"amd64", false}, {"arm64", false}, {"loong64", false}, {"mips64", false}, {"mips64le", false},
		{"ppc64", false}, {"ppc64le", false}, {"riscv64", false}, {"s390x", false}, {"wasm", false},
	}
	for _, tt := range tests {
		t.Run(tt.arch, func(t *testing.T) {
			ctx := build.Default
			ctx.GOARCH = tt.arch
			refused, err := ctx.MatchFile(".", "refuse_32bit.go")
			require.NoError(t, err)
			require.Equal(t, tt.refused, refused)
		})
	}
}

// TestRefusalIsOneSentence builds for a machine of 32 bits: nothing else may go wrong before or
// after.
func TestRefusalIsOneSentence(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles part of the standard library")
	}
	cmd := exec.Command("go", "build", "-gcflags=-e", ".")
	cmd.Env = append(os.Environ(), "GOARCH=386", "CGO_ENABLED=0", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	var errs []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "#") {
			errs = append(errs, strings.TrimSpace(line))
		}
	}
	require.Len(t, errs, 1)
	require.Contains(t, errs[0], "undefined: tensordict_requires_a_64_bit_machine")
}
