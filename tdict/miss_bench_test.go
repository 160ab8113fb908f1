package tdict_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// BenchmarkMiss asks for a key that is missing, as a caller does who tries one after the other.
func BenchmarkMiss(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000, 10_000} {
		td := tdict.New()
		for i := range n {
			_ = td.Set(nestedkey.Key(fmt.Sprintf("leaf%d", i)), tensor.Scalar(1.0))
		}
		for _, key := range []nestedkey.Key{"leafx", "leaf.x", "leafx/y"} {
			b.Run(fmt.Sprintf("entries=%d/key=%s", n, key), func(b *testing.B) {
				loop(b, func() error {
					if _, err := td.Get(key); !errors.Is(err, tdict.ErrMissing) {
						return err
					}
					return nil
				})
			})
		}
	}
}
