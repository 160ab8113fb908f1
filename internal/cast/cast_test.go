package cast_test

import (
	"bytes"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
)

func TestBytesAndSliceShareMemory(t *testing.T) {
	s := []uint32{1, 2, 3}
	b := cast.Bytes(s)
	require.Len(t, b, 12)
	back, ok := cast.Slice[uint32](b)
	require.True(t, ok)
	back[1] = 9
	require.Equal(t, []uint32{1, 9, 3}, s)
}

func TestSliceRefuses(t *testing.T) {
	b := cast.Uninit(4096)
	_, ok := cast.Slice[uint64](b[:12])
	require.False(t, ok, "no whole number of elements")
	_, ok = cast.Slice[uint64](b[4:12])
	require.False(t, ok, "not aligned")
	_, ok = cast.Slice[uint16](b[1:3])
	require.False(t, ok, "not aligned")
	empty, ok := cast.Slice[uint64](nil)
	require.True(t, ok)
	require.Empty(t, empty)
}

func TestUninitIsAligned(t *testing.T) {
	for n := range 4000 {
		b := cast.Uninit(n)
		require.Len(t, b, n)
		_, ok := cast.Slice[complex128](b[:n&^15])
		require.True(t, ok, "%d bytes", n)
		for i := range b {
			b[i] = 0xff
		}
	}
}

func TestUninitOf(t *testing.T) {
	type row struct {
		A int8
		B float64
	}
	for _, n := range []int{0, 1, 63, 64, 1000} {
		rows := cast.UninitOf[row](n)
		require.Len(t, rows, n)
		for i := range rows {
			rows[i] = row{int8(i), float64(i)}
		}
		for i := range rows {
			require.Equal(t, row{int8(i), float64(i)}, rows[i])
		}
	}
	require.Len(t, cast.UninitOf[struct{}](3), 3)
}

func TestMemory(t *testing.T) {
	s := []uint16{1, 2, 3}
	b := cast.Memory(unsafe.Pointer(&s[0]), 6)
	require.Equal(t, cast.Bytes(s), b)
	b[2], b[3] = 0, 0
	require.Equal(t, []uint16{1, 0, 3}, s)
	require.Empty(t, cast.Memory(nil, 0))
}

func TestShift(t *testing.T) {
	b := make([]byte, 16)
	tests := []struct {
		name   string
		a, b   []byte
		shift  int
		shared bool
	}{
		{"the same bytes", b, b, 0, true},
		{"the second starts later", b, b[4:], 4, true},
		{"the first starts later", b[4:], b, -4, true},
		{"neighbours share nothing", b[:8], b[8:], 8, false},
		{"neighbours the other way round", b[8:], b[:8], -8, false},
		{"nothing shares nothing", b[:0], b, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shift, shared := cast.Shift(tt.a, tt.b)
			require.Equal(t, tt.shift, shift)
			require.Equal(t, tt.shared, shared)
		})
	}
	_, shared := cast.Shift(make([]byte, 64), make([]byte, 64))
	require.False(t, shared, "arrays of their own")
}

func TestContains(t *testing.T) {
	all := make([]byte, 16)
	b, at := all[4:8], cast.Address(all)
	tests := []struct {
		name string
		b    []byte
		addr uintptr
		want bool
	}{
		{"the first byte is inside", b, at + 4, true},
		{"the last byte is inside", b, at + 7, true},
		{"the byte after the last is not", b, at + 8, false},
		{"the byte before the first is not", b, at + 3, false},
		{"spare capacity is not", b[:1], at + 5, false},
		{"the nil address is not", b, 0, false},
		{"the largest address is not", b, ^uintptr(0), false},
		{"no bytes contain nothing", b[:0], at + 4, false},
		{"nil contains nothing", nil, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, cast.Contains(tt.b, tt.addr)) })
	}
}

func TestSize(t *testing.T) {
	require.Equal(t, 1, cast.Size[bool]())
	require.Equal(t, 16, cast.Size[complex128]())
}

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
	if !longtests.On() {
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

func Example() {
	s := []uint16{1, 2}
	cast.Bytes(s)[0] = 7 // on a little-endian machine, the low byte of the first element
	fmt.Println(s, cast.LittleEndian())
	// Output: [7 2] true
}

func TestRepeat(t *testing.T) {
	for n := range 9 {
		b := bytes.Repeat([]byte{9}, 3*n)
		cast.Repeat(b, []byte{1, 0, 2})
		require.Equal(t, bytes.Repeat([]byte{1, 0, 2}, n), append([]byte{}, b...))
		cast.Repeat(b, []byte{0, 0, 0})
		require.Equal(t, make([]byte, 3*n), append([]byte{}, b...))
	}
}
