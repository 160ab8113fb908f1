package inspect

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/cmplx"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// compareBytes is about the number of bytes of a block, which one goroutine compares at a time.
const compareBytes = 1 << 20

// A tallied has the elements of a block in which two leaves differ.
type tallied struct {
	first []int // indexes of the first ones, at most DifferencesOptions.Most
	count int   // of all
}

// add adds the element with index at.
func (t *tallied) add(opt *DifferencesOptions, at int) {
	if t.count++; t.count <= opt.most() {
		t.first = append(t.first, at)
	}
}

// leaf compares the elements of two leaves.
func (c *comparison) leaf(p pair) (d tdict.Difference, differ bool, err error) {
	if err := context.Cause(c.ctx); err != nil {
		return d, false, err
	}
	switch a := p.a.(type) {
	case *tensor.Tensor:
		return c.tensors(p, a, p.b.(*tensor.Tensor), a.Shape().Position)
	case *tdict.Unbatched:
		return c.tensors(p, a.Tensor(), p.b.(*tdict.Unbatched).Tensor(), a.Tensor().Shape().Position)
	case *ragged.Tensor:
		return c.rows(p, a, p.b.(*ragged.Tensor))
	case *tdict.Data:
		return c.data(p, a, p.b.(*tdict.Data))
	case *tdict.Stacked:
		return c.members(p, a, p.b.(*tdict.Stacked))
	}
	return d, false, fmt.Errorf("%w: got %T", tdict.ErrKind, p.a)
}

// tensors compares two tensors. position returns the position of an element, given its index.
func (c *comparison) tensors(p pair, a, b *tensor.Tensor, position func(i int) []int) (d tdict.Difference, differ bool, err error) {
	exact := c.opt.NaNDiffers && (a.DType().IsFloat() || a.DType().IsComplex())
	if c.opt.TrustSums && !exact && memmap.SameSums(a, b) {
		return d, false, nil
	}
	xs, err := flattened(a, b)
	if err != nil {
		return d, false, err
	}
	rule := comparers[a.DType()]
	size := max(1, compareBytes/a.DType().Size())
	element := func(i int) (tensor.ElementDiff, error) { return elementOf(a, b, i, position(i)) }
	return c.blocks(p, (a.Size()+size-1)/size, element, func(block int) (t tallied, err error) {
		at := block * size
		err = eachBox(xs, at, min(at+size, a.Size()), func(parts []*tensor.Tensor) error {
			err := rule(&c.opt, &t, at, parts[0], parts[1])
			at += parts[0].Size()
			return err
		})
		return t, err
	})
}

// elementOf returns the elements of a and b with index i.
func elementOf(a, b *tensor.Tensor, i int, position []int) (d tensor.ElementDiff, err error) {
	for _, at := range a.Shape().Position(i) {
		if a, err = a.Index(ix.At(at)); err == nil {
			b, err = b.Index(ix.At(at))
		}
		if err != nil {
			return d, err
		}
	}
	first, _, err := a.Ops().Differing(b, tensor.Tolerance{}, 1)
	if len(first) > 0 {
		d = tensor.ElementDiff{Position: position, A: first[0].A, B: first[0].B}
	}
	return d, err
}

// blocks compares n blocks by compare, and joins the differences. element returns the element with
// an index.
func (c *comparison) blocks(p pair, n int, element func(i int) (tensor.ElementDiff, error), compare func(block int) (tallied, error)) (tdict.Difference, bool, error) {
	d := tdict.Difference{Kind: tdict.DiffElements, Key: p.key, A: described(p.a), B: described(p.b)}
	all := make([]tallied, n)
	err := workers.Do(c.ctx, n, c.opt.Workers, func(block int) (err error) {
		all[block], err = compare(block)
		return err
	})
	if err != nil {
		return d, false, err
	}
	for _, t := range all {
		for _, i := range t.first[:min(len(t.first), c.opt.most()-len(d.Elements))] {
			e, err := element(i)
			if err != nil {
				return d, false, err
			}
			d.Elements = append(d.Elements, e)
		}
		d.Count += t.count
	}
	d.Text = elementsText(d)
	return d, d.Count > 0, nil
}

// elementsText returns the text of a difference of elements.
func elementsText(d tdict.Difference) string {
	text := fmt.Sprintf("%q: %s %s", string(d.Key), grouped(d.Count), plural(d.Count, "element differs", "elements differ"))
	if d.Kind == tdict.DiffShape {
		text = fmt.Sprintf("%q: lengths of %s %s", string(d.Key), grouped(d.Count), plural(d.Count, "row differ", "rows differ"))
	}
	sep := ": "
	for _, e := range d.Elements {
		text += fmt.Sprintf("%s%v is %s, other %s", sep, e.Position, e.A, e.B)
		sep = "; "
	}
	return text
}

// A comparer adds to t the elements in which a and b differ. The first element of both has the
// index at.
type comparer func(opt *DifferencesOptions, t *tallied, at int, a, b *tensor.Tensor) error

// comparers has a comparer for each dtype.
var comparers = map[tensor.DType]comparer{
	tensor.Bool:       comparing(func(_ *DifferencesOptions, a, b bool) bool { return a == b }),
	tensor.Uint8:      comparing(nearInts[uint8]),
	tensor.Uint16:     comparing(nearInts[uint16]),
	tensor.Uint32:     comparing(nearInts[uint32]),
	tensor.Uint64:     comparing(nearInts[uint64]),
	tensor.Int8:       comparing(nearInts[int8]),
	tensor.Int16:      comparing(nearInts[int16]),
	tensor.Int32:      comparing(nearInts[int32]),
	tensor.Int64:      comparing(nearInts[int64]),
	tensor.Float16:    comparing(nearHalf[tensor.F16]),
	tensor.BFloat16:   comparing(nearHalf[tensor.BF16]),
	tensor.Float32:    comparing(nearFloats[float32]),
	tensor.Float64:    comparing(nearFloats[float64]),
	tensor.Complex64:  comparing(nearComplex[complex64]),
	tensor.Complex128: comparing(nearComplex[complex128]),
}

// pieceElements is the number of elements that are first compared as bytes.
const pieceElements = 1024

// comparing returns a comparer of elements of type T. If bytes are equal, elements are not
// compared, unless NaN differs from itself.
func comparing[T tensor.Elem](near func(opt *DifferencesOptions, a, b T) bool) comparer {
	dtype := tensor.DTypeOf[T]()
	floats := dtype.IsFloat() || dtype.IsComplex()
	return func(opt *DifferencesOptions, t *tallied, at int, a, b *tensor.Tensor) error {
		closely := floats && opt.NaNDiffers
		return readBoth(a, b, func(a, b []T) {
			for from := 0; from < len(a); from += pieceElements {
				stop := min(from+pieceElements, len(a))
				p, q := a[from:stop], b[from:stop]
				if !closely && bytes.Equal(cast.Bytes(p), cast.Bytes(q)) {
					continue
				}
				for i, v := range p {
					if !near(opt, v, q[i]) {
						t.add(opt, at+from+i)
					}
				}
			}
		})
	}
}

// readBoth calls fn with the elements of two tensors, as tensor.Read does.
func readBoth[T tensor.Elem](a, b *tensor.Tensor, fn func(a, b []T)) error {
	var inner error
	err := tensor.Read(a, func(p []T) {
		inner = tensor.Read(b, func(q []T) { fn(p, q) })
	})
	return cmp.Or(err, inner)
}

// nearInts compares integers without a conversion to float64, which would round them.
func nearInts[T uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64](opt *DifferencesOptions, a, b T) bool {
	if a == b {
		return true
	}
	apart := uint64(max(a, b)) - uint64(min(a, b)) // correct for negative numbers, too
	most := opt.within(math.Abs(float64(b)))
	return most >= 1<<64 || apart <= uint64(most)
}

// within returns the largest allowed distance from a number with the absolute value size.
func (opt *DifferencesOptions) within(size float64) float64 {
	if opt.RTol == 0 || size == 0 { // 0 times an infinity would be NaN
		return opt.ATol
	}
	return opt.ATol + opt.RTol*size
}

func nearFloats[T float32 | float64](opt *DifferencesOptions, a, b T) bool {
	switch {
	case a == b:
		return true
	case a != a || b != b:
		return a != a && b != b && !opt.NaNDiffers
	}
	x, y := float64(a), float64(b)
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		return false
	}
	return math.Abs(x-y) <= opt.within(math.Abs(y))
}

func nearHalf[T interface{ Float32() float32 }](opt *DifferencesOptions, a, b T) bool {
	return nearFloats(opt, a.Float32(), b.Float32())
}

func nearComplex[T complex64 | complex128](opt *DifferencesOptions, a, b T) bool {
	x, y := complex128(a), complex128(b)
	switch {
	case x == y:
		return true
	case isNaN(x) || isNaN(y):
		return isNaN(x) && isNaN(y) && !opt.NaNDiffers
	case cmplx.IsInf(x) || cmplx.IsInf(y):
		return false
	}
	return cmplx.Abs(x-y) <= opt.within(cmplx.Abs(y))
}

// isNaN reports whether either part of a complex number is NaN.
func isNaN(z complex128) bool { return math.IsNaN(real(z)) || math.IsNaN(imag(z)) }
