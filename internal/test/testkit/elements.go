package testkit

import (
	"bytes"
	"slices"
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/tensor"
)

// Content returns the bytes of x's elements, row-major. It is never nil.
func Content(t testing.TB, x *tensor.Tensor) []byte {
	t.Helper()
	b := bytes.NewBuffer([]byte{})
	n, err := x.WriteTo(b)
	if err != nil || int(n) != b.Len() || b.Len() != x.ByteSize() {
		t.Fatalf("wrote %d bytes and said %d, want %d: %v", b.Len(), n, x.ByteSize(), err)
	}
	return b.Bytes()
}

// Elements returns x's elements, row-major. It is never nil.
func Elements[T tensor.Elem](t testing.TB, x *tensor.Tensor) []T {
	t.Helper()
	all, err := tensor.Elements[T](x)
	if err != nil {
		t.Fatal(err)
	}
	return slices.AppendSeq([]T{}, all)
}

// Gather returns the elements of a, in order. mem is memory of elements of width bytes.
func Gather(mem []byte, width int, a naive.Array) []byte {
	out := []byte{}
	for _, at := range a.At {
		out = append(out, mem[at*width:(at+1)*width]...)
	}
	return out
}

// Scatter returns mem after the elements of a were set, in order, to the elements of value.
// Elements have width bytes. If value has fewer elements, it is repeated.
func Scatter(mem []byte, width int, a naive.Array, value []byte) []byte {
	mem = slices.Clone(mem)
	if len(value) == 0 {
		return mem
	}
	for i, at := range a.At {
		copy(mem[at*width:(at+1)*width], value[i*width%len(value):])
	}
	return mem
}
