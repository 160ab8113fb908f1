package forms

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Loss is an entry, or a property of one, that a form cannot hold.
type Loss struct {
	Key    nestedkey.Key // "" for the whole
	Reason string
}

// String returns the key and the reason.
func (l Loss) String() string {
	if l.Key == "" {
		return l.Reason
	}
	return errtext.Quote(string(l.Key)) + ": " + l.Reason
}

// A LossError lists what a form cannot hold. It unwraps to [ErrLoss].
type LossError struct {
	Path   string // of the output
	Form   Form   // of the output
	Losses []Loss
}

// Error returns the path, the form and the first losses.
func (e *LossError) Error() string {
	const most = 8
	var list []string
	for _, l := range e.Losses[:min(most, len(e.Losses))] {
		list = append(list, l.String())
	}
	if more := len(e.Losses) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s: %v: %v, set Lossy to leave it out: %s", e.Path, ErrLoss, e.Form, strings.Join(list, "; "))
}

// Unwrap returns [ErrLoss].
func (e *LossError) Unwrap() error { return ErrLoss }

// A fitting makes dictionaries fit a form.
type fitting struct {
	losses []Loss
	drop   []nestedkey.Key // entries that the form cannot hold
	rows   bool            // the form has rows and no other batch dims
	layout *ragged.Layout  // of the first ragged leaf
}

// newFitting finds out what of td a form cannot hold. schema has the columns of a table; appended
// says that rows are appended chunk by chunk.
func newFitting(td *tdict.TensorDict, to Form, schema tdict.Schema, appended bool) *fitting {
	f := &fitting{rows: to == CSV || to == JSONL || to == NRT}
	specs := map[nestedkey.Key]tdict.Spec{}
	for _, s := range schema {
		specs[s.Key] = s
	}
	for key := range td.NestedKeys() {
		v, err := td.Get(key)
		if err == nil {
			s, listed := specs[key]
			f.entry(td, key, v, to, s, listed, appended)
		}
	}
	if to != Directory && to != Archive && to != Safetensors {
		f.dims(td, to)
	}
	return f
}

// entry notes an entry that does not fit.
func (f *fitting) entry(td *tdict.TensorDict, key nestedkey.Key, v tdict.Value, to Form, s tdict.Spec, listed, appended bool) {
	if inner, ok := v.(*tdict.TensorDict); ok {
		f.inner(td, key, inner, to)
		return
	}
	var why string
	switch to {
	case Directory, Archive:
		why = whyNotAppended(v, appended)
	case Npy, Npz, Safetensors:
		why = whyNoArray(v, to)
	case NRT:
		why = f.whyNotJoint(key, v)
	case CSV, JSONL:
		why = whyNoColumn(s, listed, to)
	}
	if why != "" {
		f.losses = append(f.losses, Loss{key, why})
		f.drop = append(f.drop, key)
	} else if to == Safetensors && strings.Contains(string(key), ".") {
		f.losses = append(f.losses, Loss{key, "a dot in a key reads back as a nested key"})
	}
}

// inner notes what of a nested dictionary a form loses.
func (f *fitting) inner(td *tdict.TensorDict, key nestedkey.Key, inner *tdict.TensorDict, to Form) {
	switch {
	case to == Directory || to == Archive || to == Safetensors:
	case inner.NumEntries() == 0 && to != JSONL:
		f.losses = append(f.losses, Loss{key, "an empty dictionary"})
		f.drop = append(f.drop, key)
	case len(inner.Shape()) > len(td.Shape()):
		f.losses = append(f.losses, Loss{key, fmt.Sprintf("batch shape %v of its own", inner.Shape())})
	}
}

// dims notes names of dims, and a batch shape that would read back as another.
func (f *fitting) dims(td *tdict.TensorDict, to Form) {
	if slices.ContainsFunc(td.Names(), func(name string) bool { return name != "" }) {
		f.losses = append(f.losses, Loss{"", fmt.Sprintf("names of dims %q", td.Names())})
	}
	var back shapeops.Shape
	if f.rows {
		back = td.Shape()[:min(1, len(td.Shape()))]
	} else {
		var kept []bundle.Entry
		for key, t := range td.Exclude(f.drop...).Tensors() {
			kept = append(kept, bundle.Entry{Key: key, Value: t})
		}
		back = bundle.Common(kept, 1)
	}
	if !back.Equal(td.Shape()) {
		f.losses = append(f.losses, Loss{"", fmt.Sprintf("batch shape %v, reads back as %v", td.Shape(), back)})
	}
}

func whyNotAppended(v tdict.Value, appended bool) string {
	data, ok := v.(*tdict.Data)
	if !ok || !appended {
		return ""
	}
	if _, same := data.Uniform(); same {
		return ""
	}
	return "data with a value for each row"
}

func whyNoArray(v tdict.Value, to Form) string {
	t, ok := v.(*tensor.Tensor)
	switch {
	case !ok:
		return kindOf(v)
	case to == Safetensors && t.DType() == tensor.Complex128, to != Safetensors && t.DType() == tensor.BFloat16:
		return t.DType().String()
	}
	return ""
}

// whyNotJoint returns why an entry cannot be a field of a collection with the lengths of the first
// ragged leaf.
func (f *fitting) whyNotJoint(key nestedkey.Key, v tdict.Value) string {
	var features shapeops.Shape
	var dtype tensor.DType
	switch v := v.(type) {
	case *tensor.Tensor:
		features, dtype = v.Shape()[min(1, len(v.Shape())):], v.DType()
	case *ragged.Tensor:
		features, dtype = append(v.Shape()[min(1, len(v.Shape())):].Clone(), v.Features()...), v.DType()
		if f.layout == nil {
			f.layout = v.Layout()
		}
		if depth := min(f.layout.Depth(), v.Depth()); !sameTo(depth, f.layout, v.Layout()) {
			return "other lengths than those of the leaves before"
		}
	case *tdict.Unbatched:
		features, dtype = v.Shape(), v.Tensor().DType()
	default:
		return kindOf(v)
	}
	switch {
	case len(features) > 0:
		return fmt.Sprintf("dims %v", features)
	case dtype == tensor.BFloat16 || dtype == tensor.Complex64 || dtype == tensor.Complex128:
		return dtype.String()
	case strings.Contains(string(key), "/"):
		return "a nested key"
	}
	return ""
}

// sameTo reports whether two layouts have the same lengths down to a depth.
func sameTo(depth int, a, b *ragged.Layout) bool {
	a, errA := a.At(depth)
	b, errB := b.At(depth)
	return errA == nil && errB == nil && a.Equal(b)
}

// whyNoColumn returns why a table cannot have a column; a mask is part of that of another entry.
func whyNoColumn(s tdict.Spec, listed bool, to Form) string {
	if !listed {
		return ""
	}
	if to == CSV && s.Kind == tdict.KindRagged {
		return s.Kind.String()
	}
	var err error
	if to == CSV {
		_, err = csv.ChunkSchema(tdict.Schema{s}, csv.Format{})
	} else {
		_, err = jsonl.ChunkSchema(tdict.Schema{s}, jsonl.ReadOptions{})
	}
	if err == nil {
		return ""
	}
	if s.Kind == tdict.KindTensor {
		return fmt.Sprintf("a tensor of shape %v", s.Shape)
	}
	return s.Kind.String()
}

func kindOf(v tdict.Value) string {
	switch v.(type) {
	case *ragged.Tensor:
		return tdict.KindRagged.String()
	case *tdict.Unbatched:
		return tdict.KindUnbatched.String()
	case *tdict.Data:
		return tdict.KindData.String()
	}
	return fmt.Sprintf("%T", v)
}

// apply returns td without what does not fit.
func (f *fitting) apply(td *tdict.TensorDict) (*tdict.TensorDict, error) {
	td = td.Exclude(f.drop...)
	if !f.rows {
		return td, nil
	}
	if len(td.Shape()) == 0 {
		return nil, errNoRows(td)
	}
	return td.WithBatch(td.Shape()[0])
}

func errNoRows(td *tdict.TensorDict) error {
	return fmt.Errorf("%w: got batch shape %v, want a dim of rows", shapeops.ErrDim, td.Shape())
}
