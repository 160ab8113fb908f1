package tdict

import (
	"errors"
	"fmt"
	"iter"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A DifferenceKind is the kind of a [Difference].
type DifferenceKind string

// The kinds of differences.
const (
	DiffMissing  DifferenceKind = "missing"  // the other dictionary lacks the key
	DiffExtra    DifferenceKind = "extra"    // only the other dictionary has the key
	DiffKind     DifferenceKind = "kind"     // the kinds of value differ
	DiffDType    DifferenceKind = "dtype"    // the tensors differ in dtype
	DiffShape    DifferenceKind = "shape"    // shapes, ragged lengths or batch shapes differ
	DiffElements DifferenceKind = "elements" // elements differ, or values of Data
	DiffError    DifferenceKind = "error"    // a leaf cannot be read, or a dictionary is nil
)

// shownElements is the largest number of elements in a Difference.
const shownElements = 8

// A Difference is one difference between two dictionaries.
type Difference struct {
	Kind DifferenceKind
	Key  nestedkey.Key // the key of the value, or of the dictionary whose batch shapes differ
	A, B string        // the values described, such as "float32 [2 3]"; "" for none
	Text string        // the text that [TensorDict.Diff] returns; for DiffError, the text of Err

	Elements []tensor.ElementDiff // the first 8 elements that differ
	Count    int                  // the number of elements that differ
	Err      error                // the error, for DiffError
}

// String returns d.Text, or the text of d.Err.
func (d Difference) String() string {
	if d.Err != nil {
		return d.Err.Error()
	}
	return d.Text
}

// Diffs returns an iterator over all differences between td and other, at most one for each value.
// The differences are in the order of td's keys, followed by one for each key that only other has.
// There are none if the dictionaries are [TensorDict.Equal]. If other is nil there is one, of
// kind [DiffError] with [ErrKind]. Do not change either dictionary during the iteration.
func (td *TensorDict) Diffs(other *TensorDict) iter.Seq[Difference] {
	return td.DiffsWithin(other, tensor.Tolerance{})
}

// DiffsWithin is [TensorDict.Diffs], except that it ignores two elements of tensors whose
// difference is within tol. Values of [Data] compare exactly.
func (td *TensorDict) DiffsWithin(other *TensorDict, tol tensor.Tolerance) iter.Seq[Difference] {
	return func(yield func(Difference) bool) {
		if other == nil {
			yield(Difference{Kind: DiffError, A: describe(td), B: "no value", Err: failed("diff", errNil)})
			return
		}
		td.eachDiff(other, "", &tol, yield)
	}
}

// Diff describes the first difference between td and other, with its key. It returns "" if they are
// [TensorDict.Equal]. It returns an error if a leaf cannot be read, and [ErrKind] if other is nil.
func (td *TensorDict) Diff(other *TensorDict) (text string, err error) {
	if other == nil {
		return "", failed("diff", errNil)
	}
	td.eachDiff(other, "", nil, func(d Difference) bool {
		if err = d.Err; err == nil {
			text = d.Text
		}
		return false
	})
	return text, err
}

// eachDiff calls yield with each difference between two dictionaries, until yield returns false. at
// is their key, followed by a slash unless it is empty. Without tol it counts no elements, and
// reads none after the first one that differs.
func (td *TensorDict) eachDiff(other *TensorDict, at string, tol *tensor.Tolerance, yield func(Difference) bool) bool {
	if !td.batch.Equal(other.batch) {
		d := Difference{Kind: DiffShape, A: describe(td), B: describe(other)}
		if at != "" {
			d.Key = nestedkey.Key(at[:len(at)-1])
			d.Text = fmt.Sprintf("%q: ", string(d.Key))
		}
		d.Text += fmt.Sprintf("batch %v, other %v", td.batch, other.batch)
		if !yield(d) {
			return false
		}
	}
	for name, v := range td.entries.all() {
		key := at + string(name)
		w, ok := other.entries.get(name)
		if !ok {
			if !yield(oneSided(DiffMissing, key, v)) {
				return false
			}
			continue
		}
		d, isDict := v.(*TensorDict)
		e, alsoDict := w.(*TensorDict)
		if isDict && alsoDict {
			if !d.eachDiff(e, key+"/", tol, yield) {
				return false
			}
		} else if diff, ok := leafDiff(key, v, w, tol); ok && !yield(diff) {
			return false
		}
	}
	for name, w := range other.entries.all() {
		if !td.entries.has(name) && !yield(oneSided(DiffExtra, at+string(name), w)) {
			return false
		}
	}
	return true
}

// oneSided returns the difference for a value that only one of two dictionaries has.
func oneSided(kind DifferenceKind, at string, v Value) Difference {
	d := Difference{Kind: kind, Key: nestedkey.Key(at)}
	if kind == DiffMissing {
		d.A, d.Text = describe(v), fmt.Sprintf("%q is missing in other", at)
	} else {
		d.B, d.Text = describe(v), fmt.Sprintf("%q is only in other", at)
	}
	return d
}

// leafDiff returns the difference between two values that are not both dictionaries, or false if
// they are equal. tol is as for eachDiff.
func leafDiff(key string, a, b Value, tol *tensor.Tolerance) (Difference, bool) {
	text, err := opsOf(a).diff(a, b)
	if text == "" && err == nil {
		return Difference{}, false
	}
	d := Difference{Kind: DiffKind, Key: nestedkey.Key(key), A: describe(a), B: describe(b), Text: fmt.Sprintf("%q: %s", key, text)}
	if tol == nil && err == nil {
		return d, true
	}
	if err == nil && opsOf(a) == opsOf(b) {
		d.Elements, d.Count, err = opsOf(a).differing(a, b, *tol)
		switch d.Kind = DiffElements; {
		case errors.Is(err, tensor.ErrDType) && d.A != d.B: // not an element that is invalid
			d.Kind, err = DiffDType, nil
		case errors.Is(err, shapeops.ErrShape), errors.Is(err, ragged.ErrLengths):
			d.Kind, err = DiffShape, nil
		}
	}
	if err != nil {
		err = failedKey("diff", nestedkey.Key(key), err)
		d = Difference{Kind: DiffError, Key: d.Key, A: d.A, B: d.B, Text: err.Error(), Err: err}
	}
	if d.Kind == DiffElements && *tol != (tensor.Tolerance{}) && d.Count > 0 {
		first := d.Elements[0]
		d.Text = fmt.Sprintf("%q: element %v is %s, other %s", key, first.Position, first.A, first.B)
	}
	return d, d.Kind != DiffElements || d.Count > 0
}

// Differing returns the first n rows in which d and x differ, with their values as JSON, and the
// number of all rows that differ. Long values are cut. Values compare exactly. Differing returns
// shapeops.ErrShape if the shapes differ, and [ErrKind] if x is nil.
func (d dataOps) Differing(x *Data, _ tensor.Tolerance, n int) (first []tensor.ElementDiff, count int, err error) {
	if !x.valid() {
		return nil, 0, errNoData
	}
	if err := x.Shape().CheckEqual(d.Shape()); err != nil {
		return nil, 0, err
	}
	_, one := d.rows.One()
	others := x.numbers()
	i := 0
	for row := range d.rows.All() {
		if one && len(others) == 1 && i > 0 && (count == 0 || count >= n) {
			return first, min(count, 1) * d.Shape().Size(), nil // all rows have the same two values
		}
		a, b := d.values[row], x.values[others[min(i, len(others)-1)]]
		if !same(a, b) {
			if count++; count <= n {
				first = append(first, tensor.ElementDiff{Position: d.Shape().Position(i), A: shortened(jsonText(a)), B: shortened(jsonText(b))})
			}
		}
		i++
	}
	return first, count, nil
}

// Differing compares the tensors. It also returns shapeops.ErrShape if the batch shapes differ.
func (u unbatchedOps) Differing(x *Unbatched, tol tensor.Tolerance, n int) ([]tensor.ElementDiff, int, error) {
	if !x.valid() {
		return nil, 0, errNoUnbatched
	}
	if err := x.batch.CheckEqual(u.batch); err != nil {
		return nil, 0, err
	}
	return u.tensor.Ops().Differing(x.tensor, tol, n)
}
