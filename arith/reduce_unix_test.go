//go:build unix

package arith_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestReduceOfMemoryThatFaults: a fault in lent memory is an error, on whichever core it happens,
// and the memory is given back.
func TestReduceOfMemoryThatFaults(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	page := os.Getpagesize()
	b, err := syscall.Mmap(-1, 0, 64*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Munmap(b)) }()
	require.NoError(t, syscall.Mprotect(b[60*page:], syscall.PROT_NONE))
	lender := &testkit.Lender{Bytes: b}
	x := lent(tensor.Float32, lender, 16*page/256, 256)
	ok := lent(tensor.Float32, &testkit.Lender{Bytes: make([]byte, 64*page)}, 16*page/256, 256)
	every := tensor.Must(tensor.Full(true, x.Shape()...))
	for _, v := range reducers {
		for _, over := range []arith.Over{arith.Whole, arith.Dims(0), arith.Dims(1), arith.Dims(0).Where(every), arith.Dims(1).Where(every)} {
			if v.not(tensor.Float32) || v.name == "count" {
				continue
			}
			require.Error(t, testkit.Err(v.of(x, over)), v.name)
			require.Zero(t, lender.Borrowed())
			require.NoError(t, testkit.Err(v.of(ok, over)), v.name)
		}
	}
	require.Error(t, testkit.Err(arith.CumSum(x, arith.Dims(0))))
}
