package joint

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/masks"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shape"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Densify returns a dictionary of batch shape [N] with all fields as dense tensors, padded as in
// ragged.Tensor.Densify: [N] for a field of depth 0, [N L] for depth 1, and so on; scalars become
// unbatched tensors. For a single row without rows inside, the dim N is missing. Fields that share
// a layout are padded by one plan. opt.Rows lists rows of j. With opt.Masks there are masks under
// that key, for each field with levels.
//
// Densify returns the errors of ragged.Tensor.Densify, with the name of the field, shapeops.ErrDim
// if opt.Rows is set but j has no rows, and tdict.ErrExists if opt.Masks is the name of a field.
func (j *Joint) Densify(opt ragged.DensifyOptions) (_ *tdict.TensorDict, err error) {
	defer errtext.Name("densify", &err)
	rows, err := j.inner()
	if err != nil && j.made() && j.at.Single && opt.Rows == nil {
		out, err := Collate([]*Joint{j}, opt) // a single row without rows inside, or with rows of several trees
		if err != nil {
			return nil, err
		}
		return out.Index(ix.At(0))
	}
	if err != nil {
		return nil, err
	}
	runs, n := []shape.Run{{From: rows.at.First, Len: rows.at.N}}, rows.at.N
	if opt.Rows != nil {
		runs, n = make([]shape.Run, len(opt.Rows)), len(opt.Rows)
		for i, row := range opt.Rows {
			at := rows.at
			if err := at.Step(row); err != nil {
				return nil, err
			}
			runs[i] = shape.Run{From: at.First, Len: 1}
		}
	}
	parts := rows.parts(runs, false)
	scalars := map[string]tdict.Value{}
	for _, f := range rows.base.fields {
		if !rows.isScalar(f.Tensor) {
			parts.Names, parts.Values, parts.Rows = append(parts.Names, f.Name), append(parts.Values, f.Tensor), append(parts.Rows, nil)
			continue
		}
		x, err := rows.field(nil, f.Tensor)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
		if scalars[f.Name], err = entryOf(x, true); err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return rows.dense(n, scalars, parts, opt)
}

// Collate makes each collection a row of dense tensors: a dictionary with the batch shape [N]. The
// result is the same as with [Vstack] followed by [Joint.Densify], but takes one pass. The
// collections may be single rows, or ranges of rows:
//
//	visits, err := patients.Row(i)         // of each patient in the batch
//	visits, err = visits.Range(a, b)
//	batch, err := joint.Collate(all, opt)  // [N L], [N L M]
//
// If all collections are parts of the same collection and of the same kind, as here, Collate pads
// them without copying them first; otherwise it stacks them first. Fields that are scalars in the
// collections become [N F...]. opt.Rows must be nil. Collate returns the errors of [Vstack] and
// [Joint.Densify].
func Collate(js []*Joint, opt ragged.DensifyOptions) (_ *tdict.TensorDict, err error) {
	defer errtext.Name("collate", &err)
	if len(js) == 0 {
		return nil, fmt.Errorf("%w: got nothing to collate, want at least one collection", shapeops.ErrShape)
	}
	if opt.Rows != nil {
		return nil, fmt.Errorf("%w: got Rows, want them in the list of collections", shapeops.ErrShape)
	}
	for i, j := range js {
		if j == nil || !j.made() {
			return nil, fmt.Errorf("value %d: %w", i, errNoJoint)
		}
	}
	alike, ok := inOneBase(js)
	if !ok {
		all, err := Vstack(js)
		if err != nil {
			return nil, err
		}
		return all.Densify(opt)
	}
	first := alike[0]
	parts := first.parts(make([]shape.Run, len(alike)), !first.at.Single)
	for i, j := range alike {
		parts.Runs[i] = shape.Run{From: j.at.First, Len: j.at.N}
	}
	for _, f := range first.base.fields {
		var rows []int
		if first.isScalar(f.Tensor) {
			rows = make([]int, len(alike))
			for i, j := range alike {
				if len(f.Tensor.Shape()) > 0 {
					rows[i] = j.path.at(f.Tensor.Depth())
				}
			}
		}
		parts.Names, parts.Values, parts.Rows = append(parts.Names, f.Name), append(parts.Values, f.Tensor), append(parts.Rows, rows)
	}
	return first.dense(len(alike), nil, parts, opt)
}

// inOneBase returns js and true if they are parts of one collection: all single rows of one level,
// or all ranges of rows of one level. Ranges may also be mixed with single rows of the level above,
// for each of which it returns the range of the rows in it.
func inOneBase(js []*Joint) ([]*Joint, bool) {
	alike := func(xs []*Joint) bool {
		for _, x := range xs {
			if x.base != xs[0].base || x.at.Level != xs[0].at.Level || x.at.Single != xs[0].at.Single {
				return false
			}
		}
		return true
	}
	if alike(js) {
		return js, true
	}
	entered, err := inners(js)
	return entered, err == nil && alike(entered)
}

// parts returns parts with room for all fields.
func (j *Joint) parts(runs []shape.Run, apart bool) plan.Parts[*ragged.Tensor] {
	n := len(j.base.fields)
	return plan.Parts[*ragged.Tensor]{
		Names: make([]string, 0, n), Values: make([]*ragged.Tensor, 0, n), Rows: make([][]int, 0, n),
		Level: j.at.Level, Runs: runs, Apart: apart,
	}
}

// isScalar reports whether t, a field of the base, is a scalar in j.
func (j *Joint) isScalar(t *ragged.Tensor) bool { return len(t.Shape()) == 0 || t.Depth() < j.at.Level }

// dense returns a dictionary of n rows with the scalars and the padded parts, in the order of j's
// fields, and then the masks.
func (j *Joint) dense(n int, scalars map[string]tdict.Value, parts plan.Parts[*ragged.Tensor], opt ragged.DensifyOptions) (*tdict.TensorDict, error) {
	var dense []*tensor.Tensor
	var bits [][]*tensor.Tensor
	if len(parts.Values) > 0 {
		var err error
		if dense, bits, err = opsOf(parts.Values[0]).DensifyIn(parts, opt); err != nil {
			return nil, err
		}
	}
	out, at := tdict.New(n), 0
	for _, f := range j.base.fields {
		v, scalar := scalars[f.Name]
		if !scalar {
			v, at = dense[at], at+1
		}
		if err := out.Set(nestedkey.Of(f.Name), v); err != nil {
			return nil, err
		}
	}
	if opt.Masks == "" {
		return out, nil
	}
	if out.Has(opt.Masks) {
		return nil, &tdict.KeyError{Op: "densify", Key: opt.Masks, Err: tdict.ErrExists}
	}
	under := tdict.New(n)
	for i, name := range parts.Names {
		if err := masks.Add(under, nestedkey.Of(name), bits[i]); err != nil {
			return nil, err
		}
	}
	if under.NumEntries() == 0 {
		return out, nil
	}
	return out, out.Set(opt.Masks, under)
}
