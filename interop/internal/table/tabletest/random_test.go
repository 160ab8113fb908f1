package tabletest_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/interop/internal/table/tabletest"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// schemaOf returns a random schema of texts, tensors of every dtype, and ragged tensors of them of
// depth 1 to deepest. Some integers are categories or times.
func schemaOf(rng *rand.Rand, deepest int) (s tdict.Schema) {
	sizes := func() (shape shapeops.Shape) {
		for range rng.IntN(3) {
			shape = append(shape, 1+rng.IntN(3))
		}
		return shape
	}
	for i, d := range append(tensor.DTypes(), 0) {
		for depth := range deepest + 1 {
			spec := tdict.Spec{DType: d, Depth: depth, Shape: sizes(), Optional: rng.IntN(2) == 0}
			spec.Key = nestedkey.Of([]string{"a", `"b"/é`, ""}[rng.IntN(3)], fmt.Sprint(i), fmt.Sprint(depth))
			switch {
			case d == 0 && depth > 0:
				continue
			case d == 0:
				spec.Kind = tdict.KindText
			case depth > 0:
				spec.Kind = tdict.KindRagged
			}
			switch {
			case d == tensor.Int64 && rng.IntN(2) == 0:
				spec.Time, spec.Unit = "2006-01-02 15:04:05.000", "ms"
			case d.IsInteger() && rng.IntN(3) == 0:
				spec.Categories = tabletest.Texts
			}
			s = append(s, spec)
		}
	}
	rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

// rowsOf returns n random rows of a schema. Missing values are zero, as when they are read.
func rowsOf(rng *rand.Rand, s tdict.Schema, n int) *tdict.TensorDict {
	td := tdict.New(n)
	for _, spec := range s {
		batch := shapeops.Shape{n}
		if spec.Kind != tdict.KindRagged {
			batch = append(batch, spec.Shape...)
		}
		present := make([]bool, batch.Size())
		for i := range present {
			present[i] = !spec.Optional || rng.IntN(3) > 0
		}
		_ = tensor.Must(0, td.Set(spec.Key, anyValue(rng, spec, batch, present)))
		if spec.Optional {
			_ = tensor.Must(0, td.Set(spec.Key+"_mask", tensor.Must(tensor.From(present, batch...))))
		}
	}
	return td
}

// anyValue returns a random value.
func anyValue(rng *rand.Rand, spec tdict.Spec, batch shapeops.Shape, present []bool) tdict.Value {
	switch spec.Kind {
	case tdict.KindText:
		texts := make([]string, len(present))
		for i := range texts {
			if present[i] {
				texts[i] = tabletest.Texts[rng.IntN(len(tabletest.Texts))]
			}
		}
		return tensor.Must(ragged.FromStrings(texts, batch...))
	case tdict.KindRagged:
		l := tensor.Must(ragged.NewLayout(batch))
		for rows, level := len(present), 0; level < spec.Depth; level++ {
			offsets := make([]int64, rows+1)
			for i := range rows {
				if offsets[i+1] = offsets[i]; level > 0 || present[i] {
					offsets[i+1] += int64(rng.IntN(4))
				}
			}
			l, rows = tensor.Must(l.Nest(offsets)), int(offsets[rows])
			if level == spec.Depth-1 {
				return tensor.Must(ragged.New(anyTensor(rng, spec, append(shapeops.Shape{rows}, spec.Shape...), nil), l))
			}
		}
	}
	return anyTensor(rng, spec, batch, present)
}

// anyTensor returns a tensor of random bits: extremes, subnormal numbers, and infinities are there;
// or of codes, or of times from year 0 to 9999.
func anyTensor(rng *rand.Rand, spec tdict.Spec, shape shapeops.Shape, present []bool) *tensor.Tensor {
	d := spec.DType
	b := make([]byte, shape.Size()*d.Size())
	for i := range shape.Size() {
		if present != nil && !present[i] {
			continue
		}
		one := b[i*d.Size() : (i+1)*d.Size()]
		var v [8]byte
		switch {
		case spec.Time != "":
			binary.NativeEndian.PutUint64(one, uint64(-62167219200000+rng.Int64N(315569520000000)))
			continue
		case spec.Categories != nil:
			binary.NativeEndian.PutUint64(v[:], uint64(rng.IntN(len(spec.Categories))))
			copy(one, v[:])
			if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 { // the big end is first
				copy(one, v[8-len(one):])
			}
			continue
		}
		fill := byte(rng.IntN(256))
		for k := range one {
			if one[k] = byte(rng.IntN(256)); rng.IntN(4) == 0 {
				one[k] = fill
			}
			if d == tensor.Bool {
				one[k] &= 1
			}
		}
	}
	return tensor.Must(tensor.FromBytes(d, b, shape...))
}
