package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// filled returns a tensor of random bits. Memory that was never written is one page of zeros, in
// the cache.
func filled(d tensor.DType, sizes ...int) (*tensor.Tensor, error) {
	b := make([]byte, shape.Shape(sizes).Size()*d.Size())
	r := rand.NewChaCha8([32]byte{1})
	if _, err := r.Read(b); err != nil {
		return nil, err
	}
	return tensor.FromBytes(d, b, sizes...)
}

// copying returns a function that copies x to memory that has been written before, on all cores.
func copying(x *tensor.Tensor) (func(), error) {
	flat, err := x.Reshape(x.Size())
	if err != nil {
		return nil, err
	}
	to, err := flat.Clone()
	return func() { _ = to.CopyFrom(flat) }, err
}

// permutes are copies to memory in another order of dims, of sizes that are powers of two, and odd.
func permutes(bytes int) (all []row, err error) {
	for _, d := range []tensor.DType{tensor.Uint8, tensor.Float16, tensor.Float32, tensor.Float64, tensor.Complex128} {
		for _, odd := range []int{0, 1} {
			n, k := 4096+3*odd, 64+odd
			m := bytes/d.Size()/4096 + 5*odd
			for _, c := range []struct {
				name  string
				sizes []int
				dims  []int
			}{
				{"transpose", []int{m, n}, []int{1, 0}},
				{"permute 0 2 1", []int{max(1, m*n/k/k), k, k}, []int{0, 2, 1}},
				{"permute 2 0 1", []int{max(1, m/k), k, n}, []int{2, 0, 1}},
			} {
				x, err := filled(d, c.sizes...)
				if err != nil {
					return nil, err
				}
				turned, err := x.Permute(c.dims...)
				if err != nil {
					return nil, err
				}
				dst, err := turned.Clone()
				if err != nil {
					return nil, err
				}
				plain, err := copying(x)
				if err != nil {
					return nil, err
				}
				name := fmt.Sprintf("%s of %v, %v", c.name, x.Shape(), d)
				all = append(all, row{name, x.ByteSize(), func() error { return dst.CopyFrom(turned) }, plain})
			}
		}
	}
	return all, nil
}

// reductions reduce float32: tensors of all bytes, and tensors that stay in a core's cache.
func reductions(bytes int) (all []row, err error) {
	for _, size := range []int{bytes, 1 << 20, 256 << 10, 64 << 10} {
		n := size / 4 / 256
		data := make([]float32, n*256)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range data {
			data[i] = float32(r.NormFloat64())
		}
		x, err := tensor.From(data, n, 256)
		if err != nil {
			return nil, err
		}
		flat, err := x.Reshape(n * 256)
		if err != nil {
			return nil, err
		}
		plain, err := copying(x)
		if err != nil {
			return nil, err
		}
		type reduce func(*tensor.Tensor, arith.Over) (*tensor.Tensor, error)
		add := func(name string, f reduce, x *tensor.Tensor, over arith.Over) {
			work := func() error { _, err := f(x, over); return err }
			all = append(all, row{name, x.ByteSize(), work, plain})
		}
		std := func(x *tensor.Tensor, over arith.Over) (*tensor.Tensor, error) {
			return arith.Std(x, over, arith.VarOptions{})
		}
		add("sum of all", arith.Sum, flat, arith.Over{})
		add("sum over the first dim of [N 256]", arith.Sum, x, arith.Dims(0))
		add("sum over the last dim of [N 256]", arith.Sum, x, arith.Dims(1))
		add("max of all", arith.Max, flat, arith.Over{})
		add("arg max of [N]", arith.ArgMax, flat, arith.Dims(0))
		add("arg max over the last dim of [N 256]", arith.ArgMax, x, arith.Dims(1))
		add("std of all", std, flat, arith.Over{})
	}
	return all, nil
}

// rows gather random rows.
func rows(bytes int) (all []row, err error) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ n, bytes int }{{256, 12 << 10}, {4096, 4000}, {4096, 64}} {
		x, err := filled(tensor.Uint8, max(1, bytes/c.bytes), c.bytes)
		if err != nil {
			return nil, err
		}
		picks := make([]int, c.n)
		for i := range picks {
			picks[i] = r.IntN(x.Shape()[0])
		}
		dst, err := filled(tensor.Uint8, c.n, c.bytes)
		if err != nil {
			return nil, err
		}
		from, err := tensor.Of[uint8](x)
		if err != nil {
			return nil, err
		}
		to := make([]byte, c.n*c.bytes)
		plain := func() {
			for i, pick := range picks {
				copy(to[i*c.bytes:(i+1)*c.bytes], from[pick*c.bytes:])
			}
		}
		name := fmt.Sprintf("%d rows of %d bytes, beside a loop", c.n, c.bytes)
		all = append(all, row{name, c.n * c.bytes, func() error { return x.IndexInto(dst, ix.Take(picks...)) }, plain})
	}
	return all, nil
}

// saves are of a thousand small leaves to a directory, and of 10 MB to one file, durable and not.
func saves(dir string) (all []row, err error) {
	small, large := tdict.New(), tdict.New()
	for i := range 1000 {
		x, err := filled(tensor.Float32, 128)
		if err == nil {
			err = small.Set(nestedkey.Of(fmt.Sprint("leaf", i)), x)
		}
		if err != nil {
			return nil, err
		}
	}
	x, err := filled(tensor.Float32, 10<<20/4)
	if err == nil {
		err = large.Set("x", x)
	}
	for _, c := range []struct {
		name string
		td   *tdict.TensorDict
		opt  memmap.SaveOptions
	}{
		{"save 1000 leaves of 512 bytes", small, memmap.SaveOptions{}},
		{"the same, without sync", small, memmap.SaveOptions{NoSync: true}},
		{"save 10 MB, consolidated", large, memmap.SaveOptions{Container: memmap.Consolidated}},
		{"the same, without sync", large, memmap.SaveOptions{Container: memmap.Consolidated, NoSync: true}},
	} {
		at := filepath.Join(dir, fmt.Sprint("d", len(all)))
		work := func() error { return memmap.SaveWith(context.Background(), at, c.td, c.opt) }
		all = append(all, row{c.name, c.td.ByteSize(), work, nil})
	}
	return all, err
}

// tables are a CSV file of integers, floats and texts, in memory.
func tables(size int) ([]row, error) {
	file := sheet(size * 37 / 64)
	infer := func() error {
		_, err := csv.Infer(bytes.NewReader(file), 0, csv.Format{})
		return err
	}
	schema, err := csv.Infer(bytes.NewReader(file), 0, csv.Format{})
	if err != nil {
		return nil, err
	}
	read := func() error {
		for _, err := range csv.Read(context.Background(), bytes.NewReader(file), schema, csv.ReadOptions{}) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	return []row{{"csv: infer", len(file), infer, nil}, {"csv: read", len(file), read, nil}}, nil
}

// sheet returns a CSV file of about size bytes.
func sheet(size int) []byte {
	r := rand.New(rand.NewPCG(5, 6))
	words := []string{"alpha", "beta", "gamma", "delta", "male", "female", "true"}
	b := []byte("id,age,price,x,y,z,kind,when\n")
	for id := 0; len(b) < size; id++ {
		b = append(strconv.AppendInt(b, int64(id), 10), ',')
		b = append(strconv.AppendInt(b, r.Int64N(100), 10), ',')
		b = append(strconv.AppendFloat(b, float64(r.IntN(100000))/100, 'f', 2, 64), ',')
		for range 3 {
			b = append(strconv.AppendFloat(b, r.NormFloat64(), 'g', -1, 64), ',')
		}
		b = append(append(b, words[r.IntN(len(words))]...), ',')
		b = fmt.Appendf(b, "2024-%02d-%02d\n", 1+r.IntN(12), 1+r.IntN(28))
	}
	return b
}
