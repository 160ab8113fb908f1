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

// A DifferenceKind says in what two dictionaries differ.
type DifferenceKind string

// The kinds of differences.
const (
	DiffMissing  DifferenceKind = "missing"  // the other dictionary lacks the key
	DiffExtra    DifferenceKind = "extra"    // only the other dictionary has the key
	DiffKind     DifferenceKind = "kind"     // one value is a tensor, say, and one a dictionary
	DiffDType    DifferenceKind = "dtype"    // of tensors
	DiffShape    DifferenceKind = "shape"    // of values, lengths of ragged rows included, or of batches
	DiffElements DifferenceKind = "elements" // or values of Data
	DiffError    DifferenceKind = "error"    // a leaf cannot be read, or a dictionary is nil
)

// shownElements is the most elements that a Difference has.
const shownElements = 8

// A Difference is one thing in which two dictionaries differ.
type Difference struct {
	Kind DifferenceKind
	Key  nestedkey.Key // of the value, or of the dictionary whose batch shape it is; "" for the outermost
	A, B string        // what the values are: "float32 [2 3]"; "" for none
	Text string        // what [TensorDict.Diff] says, with the key; of DiffError, the text of Err

	Elements []tensor.ElementDiff // the first 8 that differ
	Count    int                  // how many differ
	Err      error                // of DiffError
}

// String returns the text, or that of the error.
func (d Difference) String() string {
	if d.Err != nil {
		return d.Err.Error()
	}
	return d.Text
}

// Diffs returns an iterator over all differences between td and other, one for each value, in td's
// order; then come the keys that only other has. Dictionaries that are [TensorDict.Equal] have
// none. If td or other is nil there is one, of kind [DiffError] with [ErrKind]. Neither dictionary
// must be changed meanwhile.
func (td *TensorDict) Diffs(other *TensorDict) iter.Seq[Difference] {
	return td.DiffsWithin(other, tensor.Tolerance{})
}

// DiffsWithin is [TensorDict.Diffs] that passes over elements of tensors that differ no more than a
// tolerance allows. Values of [Data] compare exactly.
func (td *TensorDict) DiffsWithin(other *TensorDict, tol tensor.Tolerance) iter.Seq[Difference] {
	return func(yield func(Difference) bool) {
		if td == nil || other == nil {
			yield(Difference{Kind: DiffError, A: describeAny(td), B: describeAny(other), Err: failed("diff", errNil)})
			return
		}
		td.eachDiff(other, "", func(at string, v, w Value) (Difference, bool) { return leafDiff(at, v, w, tol) }, yield)
	}
}

// Diff describes the first difference between td and other, with its key, or returns "" if they are
// [TensorDict.Equal]. An error means that a leaf cannot be read, or that td or other is nil
// ([ErrKind]).
func (td *TensorDict) Diff(other *TensorDict) (text string, err error) {
	if td == nil || other == nil {
		return "", failed("diff", errNil)
	}
	td.eachDiff(other, "", firstOfLeaves, func(d Difference) bool {
		if err = d.Err; err == nil {
			text = d.Text
		}
		return false
	})
	return text, err
}

// eachDiff calls yield with each difference between dictionaries under a key, with a slash if it is
// not empty, until yield returns false. leaves compares two values that are not both dictionaries.
func (td *TensorDict) eachDiff(other *TensorDict, at string, leaves diffLeaves, yield func(Difference) bool) bool {
	if !td.batch.Equal(other.batch) && !yield(td.batchDiff(other, at)) {
		return false
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
		d, isDict := asDict(v)
		e, alsoDict := asDict(w)
		if isDict && alsoDict {
			if !d.eachDiff(e, key+"/", leaves, yield) {
				return false
			}
		} else if diff, ok := leaves(key, v, w); ok && !yield(diff) {
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

// diffLeaves returns how two values under a key differ, or false if they do not.
type diffLeaves func(at string, v, w Value) (Difference, bool)

// batchDiff is the difference between batch shapes.
func (td *TensorDict) batchDiff(other *TensorDict, at string) Difference {
	d := Difference{Kind: DiffShape, A: describe(td), B: describe(other)}
	if at != "" {
		d.Key = nestedkey.Key(at[:len(at)-1])
		d.Text = fmt.Sprintf("%q: ", string(d.Key))
	}
	d.Text += fmt.Sprintf("batch %v, other %v", td.batch, other.batch)
	return d
}

// oneSided is the difference of a value that one of two dictionaries has.
func oneSided(kind DifferenceKind, at string, v Value) Difference {
	d := Difference{Kind: kind, Key: nestedkey.Key(at)}
	if kind == DiffMissing {
		d.A, d.Text = describe(v), fmt.Sprintf("%q is missing in other", at)
	} else {
		d.B, d.Text = describe(v), fmt.Sprintf("%q is only in other", at)
	}
	return d
}

// firstOfLeaves is diffLeaves with nothing but the text, which has the first element.
func firstOfLeaves(at string, v, w Value) (Difference, bool) {
	text, err := opsOf(v).diff(v, w)
	if err != nil {
		return failedDiff(at, v, w, err), true
	}
	return Difference{Text: fmt.Sprintf("%q: %s", at, text)}, text != ""
}

// failedDiff is the difference of values that cannot be read.
func failedDiff(at string, v, w Value, err error) Difference {
	err = &KeyError{"diff", nestedkey.Key(at), err}
	return Difference{Kind: DiffError, Key: nestedkey.Key(at), A: describe(v), B: describe(w), Text: err.Error(), Err: err}
}

// leafDiff is diffLeaves with a tolerance.
func leafDiff(key string, a, b Value, tol tensor.Tolerance) (Difference, bool) {
	text, err := opsOf(a).diff(a, b)
	if text == "" && err == nil {
		return Difference{}, false
	}
	d := Difference{Kind: DiffKind, Key: nestedkey.Key(key), A: describe(a), B: describe(b), Text: fmt.Sprintf("%q: %s", key, text)}
	if err == nil && opsOf(a) == opsOf(b) {
		d.Elements, d.Count, err = opsOf(a).differing(a, b, tol)
		d.Kind, err = differsIn(d, err)
	}
	if err != nil {
		return failedDiff(key, a, b, err), true
	}
	if d.Kind == DiffElements && tol != (tensor.Tolerance{}) && d.Count > 0 {
		first := d.Elements[0]
		d.Text = fmt.Sprintf("%q: element %v is %s, other %s", key, first.Position, first.A, first.B)
	}
	return d, d.Kind != DiffElements || d.Count > 0
}

// differsIn says in what two leaves of one kind differ, by the error of a comparison of elements.
// It returns the error if that is another.
func differsIn(d Difference, err error) (DifferenceKind, error) {
	switch {
	case errors.Is(err, tensor.ErrDType) && d.A != d.B: // else an element is none of its dtype
		return DiffDType, nil
	case errors.Is(err, shapeops.ErrShape), errors.Is(err, ragged.ErrLengths):
		return DiffShape, nil
	}
	return DiffElements, err
}

// Differing returns the first n rows in which d and x differ, with their values as JSON, long ones
// cut, and how many there are in all; values compare exactly. It returns shapeops.ErrShape if the
// shapes differ, and [ErrKind] if x is nil.
func (v *dataOps) Differing(x *Data, _ tensor.Tolerance, n int) (first []tensor.ElementDiff, count int, err error) {
	d := (*Data)(v)
	if !x.made() {
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
			return first, min(count, 1) * d.Shape().Size(), nil // all rows are alike
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

// Differing is that of the tensors. It also returns shapeops.ErrShape if the batch shapes differ.
func (v *unbatchedOps) Differing(x *Unbatched, tol tensor.Tolerance, n int) ([]tensor.ElementDiff, int, error) {
	u := (*Unbatched)(v)
	if !x.made() {
		return nil, 0, errNoUnbatched
	}
	if err := x.batch.CheckEqual(u.batch); err != nil {
		return nil, 0, err
	}
	return u.tensor.Ops().Differing(x.tensor, tol, n)
}

// describeAny is describe of a dictionary that may be nil.
func describeAny(td *TensorDict) string {
	if td == nil {
		return "no value"
	}
	return describe(td)
}
