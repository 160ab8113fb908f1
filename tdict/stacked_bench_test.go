package tdict_test

import (
	"fmt"
	"testing"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// uniformMembers returns n dictionaries [rows] of so many leaves [rows 16].
func uniformMembers(n, leaves, rows int) []*tdict.TensorDict {
	tds := make([]*tdict.TensorDict, n)
	for i := range tds {
		tds[i] = tdict.New(rows)
		for leaf := range leaves {
			if err := tds[i].Set(nestedkey.Of(fmt.Sprint("x", leaf)), tensor.Must(tensor.Zeros[float32](rows, 16))); err != nil {
				panic(err)
			}
		}
	}
	return tds
}

// BenchmarkLazyStackIndex takes parts of 1000 members of 10 leaves: headers only.
func BenchmarkLazyStackIndex(b *testing.B) {
	td := tensor.Must(tdict.LazyStack(uniformMembers(1000, 10, 8), 0))
	for name, expr := range map[string]ix.Index{"at": ix.At(500), "range100": ix.Range(300, 400)} {
		b.Run("part="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = tensor.Must(td.Index(expr))
			}
		})
	}
}

// BenchmarkLazyStackDense makes 64 members dense, beside Stack of the same dictionaries.
func BenchmarkLazyStackDense(b *testing.B) {
	for _, rows := range []int{8, 256} {
		tds := uniformMembers(64, 10, rows)
		td := tensor.Must(tdict.LazyStack(tds, 0))
		for how, fn := range map[string]func() (*tdict.TensorDict, error){
			"stack": func() (*tdict.TensorDict, error) { return shapeops.Stack(tds, 0) },
			"dense": td.Dense,
		} {
			b.Run(fmt.Sprintf("rows=%d/how=%s", rows, how), func(b *testing.B) {
				b.SetBytes(int64(td.ByteSize()))
				for b.Loop() {
					_ = tensor.Must(fn())
				}
			})
		}
	}
}
