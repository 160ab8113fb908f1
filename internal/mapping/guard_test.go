package mapping_test

import (
	"errors"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

func TestGuardWithoutFault(t *testing.T) {
	ran := false
	require.NoError(t, mapping.Guard(func() { ran = true }))
	require.True(t, ran)
}

func TestGuardPassesOtherPanics(t *testing.T) {
	var none *int
	var short []int
	tests := []struct {
		name string
		fn   func()
		want func(r any) bool
	}{
		{"a value", func() { panic("mine") }, func(r any) bool { return r == "mine" }},
		{"an error", func() { panic(mapping.ErrClosed) }, func(r any) bool { return r == mapping.ErrClosed }},
		{"a nil dereference", func() { *none = 1 }, isRuntimeError},
		{"an index out of range", func() { short[len(short)] = 1 }, isRuntimeError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() { require.True(t, tt.want(recover())) }()
			_ = mapping.Guard(tt.fn)
		})
	}
}

func isRuntimeError(r any) bool {
	err, ok := r.(runtime.Error)
	return ok && !errors.Is(err, mapping.ErrFault)
}

func TestGuardRestoresPanicOnFault(t *testing.T) {
	for _, before := range []bool{false, true} {
		old := debug.SetPanicOnFault(before)
		_ = mapping.Guard(func() {})
		require.Equal(t, before, debug.SetPanicOnFault(old))
	}
}

func TestFaultErrorText(t *testing.T) {
	err := error(&mapping.FaultError{Addr: 0x7f00})
	require.EqualError(t, err, "fault in mapped memory: at address 0x7f00")
	require.ErrorIs(t, err, mapping.ErrFault)
}

func TestGuardAllocatesNothing(t *testing.T) {
	fn := func() {}
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = mapping.Guard(fn) }))
}
