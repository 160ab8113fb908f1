package tdict_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// wide returns a dictionary of so many leaves, float32 [batch... 4].
func wide(leaves int, batch ...int) *tdict.TensorDict {
	td := tdict.New(batch...)
	for i := range leaves {
		key := nestedkey.Of(fmt.Sprintf("leaf%02d", i))
		_ = td.Set(key, tensor.Must(tensor.Zeros[float32](append(batch, 4)...)))
	}
	return td
}

func BenchmarkGet(b *testing.B) {
	flat, deep := wide(10, 32), grouped(100)
	for _, c := range []struct {
		name string
		td   *tdict.TensorDict
		key  nestedkey.Key
	}{{"depth=1", flat, "leaf07"}, {"depth=3", deep, "root/dict7/leaf3"}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.td.Get(c.key); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSet(b *testing.B) {
	td, x := wide(10, 32), tensor.Must(tensor.Zeros[float32](32, 4))
	b.ReportAllocs()
	for b.Loop() {
		if err := td.Set("leaf07", x); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	mask := make([]bool, 32)
	for i := range mask {
		mask[i] = i%2 == 0
	}
	by := []struct {
		name string
		x    ix.Index
		rows int64
	}{
		{"int", ix.At(3), 1}, {"range", ix.Range(4, 20), 16}, {"mask", ix.Mask(mask), 16}, {"indices8", ix.Take(1, 5, 9, 2, 30, 7, 7, 0), 8},
	}
	for _, c := range by {
		for _, leaves := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("by=%s/leaves=%d", c.name, leaves), func(b *testing.B) {
				td := wide(leaves, 32)
				b.SetBytes(int64(leaves) * c.rows * 16)
				loop(b, func() error { return testkit.Err(td.Index(c.x)) })
			})
		}
	}
}

// BenchmarkRows takes random rows of 4000 bytes from 200,000 of them. how=copy is a plain copy loop
// over the same rows into a buffer that is used again, how=makecopy one into a new buffer: what
// how=into and how=fresh are measured against.
func BenchmarkRows(b *testing.B) {
	const all, width = 200_000, 4000
	x := tensor.Must(tensor.New(tensor.Uint8, all, width))
	src := tensor.Must(tensor.Of[uint8](x))
	for i := range src {
		src[i] = uint8(i)
	}
	td := tdict.New(all)
	_ = td.Set("x", x)
	for _, n := range []int{64, 4096} {
		rng := rand.New(rand.NewPCG(1, 2))
		rows := make([]int, n)
		shuffle := func() { // other rows each time, so that no cache helps
			for i := range rows {
				rows[i] = rng.IntN(all)
			}
		}
		dst := tensor.Must(td.Index(ix.Range(0, n)))
		dst = tensor.Must(dst.Clone())
		buf := make([]byte, n*width)
		gather := func(to []byte) {
			for i, row := range rows {
				copy(to[i*width:(i+1)*width], src[row*width:])
			}
		}
		kept := buf
		ways := []struct {
			name string
			run  func() error
		}{
			{"copy", func() error { gather(buf); return nil }},
			{"into", func() error { return td.IndexInto(dst, ix.Take(rows...)) }},
			{"makecopy", func() error { kept = make([]byte, n*width); gather(kept); return nil }},
			{"fresh", func() error { _, err := td.Index(ix.Take(rows...)); return err }},
		}
		for _, way := range ways {
			b.Run(fmt.Sprintf("rows=%d/how=%s", n, way.name), func(b *testing.B) {
				b.SetBytes(int64(n) * width)
				b.ReportAllocs()
				for b.Loop() {
					shuffle()
					if err := way.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkJoin stacks and cats dictionaries. operation=makecopy is what the data alone costs: ten
// buffers made, and each block copied.
func BenchmarkJoin(b *testing.B) {
	verbs := []struct {
		name string
		join func([]*tdict.TensorDict, int) (*tdict.TensorDict, error)
	}{{"stack", shapeops.Stack[*tdict.TensorDict]}, {"cat", shapeops.Cat[*tdict.TensorDict]}}
	for _, n := range []int{2, 10, 100} {
		b.Run(fmt.Sprintf("verb=makecopy/dicts=%d", n), func(b *testing.B) { makeCopy(b, n) })
	}
	for _, verb := range verbs {
		for _, n := range []int{2, 10, 100} {
			b.Run(fmt.Sprintf("verb=%s/dicts=%d", verb.name, n), func(b *testing.B) {
				tds := make([]*tdict.TensorDict, n)
				for i := range tds {
					tds[i] = wide(10, 32)
				}
				b.SetBytes(int64(n) * 10 * 32 * 4 * 4)
				loop(b, func() error { return testkit.Err(verb.join(tds, 0)) })
			})
		}
	}
}

func makeCopy(b *testing.B, n int) {
	const block = 32 * 4 * 4
	src := make([][]byte, 10*n)
	for i := range src {
		src[i] = make([]byte, block)
	}
	dst := make([][]byte, 10)
	b.SetBytes(int64(n) * 10 * block)
	b.ReportAllocs()
	for b.Loop() {
		for i := range dst {
			dst[i] = make([]byte, n*block)
			for j, s := range src[i*n : (i+1)*n] {
				copy(dst[i][j*block:], s)
			}
		}
	}
}

func BenchmarkView(b *testing.B) {
	td := wide(10, 8, 4)
	for _, c := range []struct {
		name string
		run  func() (*tdict.TensorDict, error)
	}{
		{"reshape", func() (*tdict.TensorDict, error) { return td.Reshape(4, 8) }},
		{"permute", func() (*tdict.TensorDict, error) { return td.Permute(1, 0) }},
	} {
		b.Run("op="+c.name+"/leaves=10", func(b *testing.B) {
			loop(b, func() error { return testkit.Err(c.run()) })
		})
	}
}

func BenchmarkFlattenKeys(b *testing.B) {
	td := grouped(100)
	loop(b, func() error { return testkit.Err(td.FlattenKeys(".")) })
}
