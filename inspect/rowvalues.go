package inspect

import (
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// missing is the text of a missing value.
const missing = "missing"

// hides reports whether a mask of an entry hides the element at a position.
func hides(mask tdict.Leaf, position []int) (bool, error) {
	switch mask := mask.(type) {
	case *tensor.Tensor:
		dims := len(mask.Shape())
		if dims > len(position) {
			return false, nil
		}
		there, err := tensor.Item[bool](mask, position[:dims]...)
		return !there, err
	case *ragged.Tensor:
		batch := len(mask.Shape())
		if batch+mask.Depth() > len(position) {
			return false, nil
		}
		row, err := mask.Index(indices(position[:batch])...)
		if err != nil {
			return false, err
		}
		last := batch + mask.Depth() - 1
		path := append(indices(position[batch:last]), ix.Range(position[last], position[last]+1))
		if row, err = row.Path(path...); err != nil {
			return false, err
		}
		bit, err := row.Values()
		if err != nil {
			return false, err
		}
		there, err := tensor.Item[bool](bit)
		return !there, err
	}
	return false, nil
}

// indices returns a position as indices.
func indices(position []int) (at []ix.Index) {
	for _, p := range position {
		at = append(at, ix.At(p))
	}
	return at
}

// spelled returns a value as a table shows it, or that it is missing.
func spelled(spec tdict.Spec, value string, hidden bool) string {
	if hidden {
		return missing
	}
	return spec.Spell(value)
}

// rowText returns a difference within a row as text.
func rowText(d tdict.Difference) string {
	if len(d.Elements) != 1 || len(d.Elements[0].Position) > 0 {
		return elementsText(d)
	}
	what := ""
	if d.Kind == tdict.DiffShape && d.Elements[0].A != missing {
		what = "length "
	}
	return fmt.Sprintf("%q: %s%s, other %s", string(d.Key), what, d.Elements[0].A, d.Elements[0].B)
}

// text returns the values of the key columns of a row.
func (m *matcher) text(td *tdict.TensorDict, row int, says specs) (string, error) {
	var parts []string
	for _, key := range m.opt.By {
		value, err := valueText(td, key, row, says)
		if err != nil {
			return "", err
		}
		parts = append(parts, errtext.Line(string(key))+"="+value)
	}
	return strings.Join(parts, ", "), nil
}

// valueText returns the value of a column in a row.
func valueText(td *tdict.TensorDict, key nestedkey.Key, row int, says specs) (string, error) {
	one, err := td.SelectPresent(says.withMasks([]nestedkey.Key{key})...).Narrow(0, row, 1)
	if err != nil {
		return "", err
	}
	mask, err := says[key].MaskOf(one, key)
	if err != nil {
		return "", err
	}
	if bits, ok := mask.(*tensor.Tensor); ok && bits != nil {
		if bits, err = bits.Reshape(); err == nil {
			there, err := tensor.Item[bool](bits)
			if err != nil || !there {
				return missing, err
			}
		}
	}
	v, err := one.Get(key)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case *ragged.Tensor:
		text, err := ragged.StringAt(v, 0)
		return errtext.Quote(text), err
	case *tensor.Tensor:
		texts, err := v.Ops().Texts()
		if err != nil || len(texts) != 1 {
			return "", err
		}
		return says.of(key).Spell(texts[0]), nil
	}
	return "", nil
}
