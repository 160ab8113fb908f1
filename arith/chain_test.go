package arith_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// A traced is a lender that records its callers.
type traced struct {
	*testkit.Lender
	chain []string
}

func (l *traced) Borrow() ([]byte, error) {
	pcs := make([]uintptr, 100)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for l.chain = nil; ; {
		f, more := frames.Next()
		if l.chain = append(l.chain, f.Function); !more || strings.Contains(f.Function, "arith.Sum") || strings.Contains(f.Function, "arith.Add") {
			return l.Lender.Borrow()
		}
	}
}

// TestShortWay: few calls lie between an operation on a dictionary and the first byte of a leaf.
func TestShortWay(t *testing.T) {
	l := &traced{Lender: &testkit.Lender{Bytes: make([]byte, 24)}}
	td := dict([]int{3}, entry{"x", tensor.Must(tensor.FromLender(tensor.Int64, l, 0, 3))})
	_ = tensor.Must(arith.Sum(td, arith.Whole))
	require.LessOrEqual(t, len(l.chain), 15, strings.Join(l.chain, "\n"))
	_ = tensor.Must(arith.Add(td, 1))
	require.LessOrEqual(t, len(l.chain), 12, strings.Join(l.chain, "\n"))
}
