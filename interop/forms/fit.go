package forms

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Loss is an entry, or a property of one, that a form cannot hold.
type Loss struct {
	Key    nestedkey.Key // "" for the whole dataset
	Reason string
}

// String returns the key and the reason.
func (l Loss) String() string {
	if l.Key == "" {
		return l.Reason
	}
	return errtext.Quote(string(l.Key)) + ": " + l.Reason
}

// A LossError lists the entries and properties that a form cannot hold. It unwraps to [ErrLoss].
type LossError struct {
	Path   string // path of the output
	Form   Form   // form of the output
	Losses []Loss
}

// Error returns the path, the form and the first eight losses.
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

// A fitting changes dictionaries so that a form can hold them.
type fitting struct {
	to     Form
	losses []Loss
	drop   []nestedkey.Key // entries that the form cannot hold
	inner  shapeops.Shape  // the batch dims after the first
	layout *ragged.Layout  // layout of the first ragged leaf
}

// newFitting finds the entries and properties of td that form to cannot hold. schema has the
// columns if to is a table. source has the entries of rows that are appended chunk by chunk; it is
// nil if no rows are appended.
func newFitting(td *tdict.TensorDict, to Form, schema tdict.Schema, source *tdict.TensorDict) *fitting {
	f := &fitting{to: to, inner: td.Shape()[min(1, len(td.Shape())):]}
	columns := map[nestedkey.Key]tdict.Spec{}
	for _, s := range schema {
		columns[s.Key] = s
	}
	for _, s := range tdict.SchemaOf(td) {
		v, err := td.Get(s.Key)
		if err != nil {
			continue // cannot happen
		}
		column, listed := columns[s.Key]
		why, stays := "", false
		switch {
		case to.isDataset():
			why = whyNotAppended(s.Key, source)
		case !to.IsTable() || s.Kind == tdict.KindDict:
			why, stays = f.why(s, v)
			if column.Kind == tdict.KindText && why == tdict.KindRagged.String() {
				why = tdict.KindText.String()
			}
		case listed: // otherwise it is a mask
			why = whyNoColumn(column, to)
		}
		if why != "" {
			f.losses = append(f.losses, Loss{s.Key, why})
		}
		if why != "" && !stays {
			f.drop = append(f.drop, s.Key)
		}
	}
	if !to.isDataset() && to != Safetensors {
		f.dropEmptied(td)
		f.dims(td)
	}
	if !to.isDataset() || source != nil { // a memmap.Writer does not keep classes
		f.classes("", td)
	}
	return f
}

// dropEmptied drops each dictionary whose entries are all dropped.
func (f *fitting) dropEmptied(td *tdict.TensorDict) {
	dropped := map[nestedkey.Key]bool{}
	for _, key := range f.drop {
		dropped[key] = true
	}
	left := map[nestedkey.Key]bool{} // dictionaries in which a leaf is left
	for key := range td.Leaves() {
		for outer, ok := key.Parent(); ok && !dropped[key]; outer, ok = outer.Parent() {
			left[outer] = true
		}
	}
	for key := range td.NestedKeys() {
		if inner, err := td.Dict(key); err == nil && inner.NumEntries() > 0 && !left[key] {
			f.drop = append(f.drop, key)
		}
	}
}

// classes adds the classes of td and of the dictionaries in it to the losses.
func (f *fitting) classes(key nestedkey.Key, td *tdict.TensorDict) {
	if td.Class() != "" {
		f.losses = append(f.losses, Loss{key, "class " + errtext.Quote(td.Class())})
	}
	for name, v := range td.All() {
		inner, ok := v.(*tdict.TensorDict)
		if key != "" {
			name = nestedkey.Join(key, name)
		}
		if ok {
			f.classes(name, inner)
		}
	}
}

// metadata adds the strings of a safetensors file to the losses, except strings about files.
func (f *fitting) metadata(texts map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if f.to != Safetensors && name != "format" && name != "total_size" {
			f.losses = append(f.losses, Loss{"", "metadata " + errtext.Quote(name)})
		}
	}
}

// why returns the reason why a file cannot hold an entry, or "", and whether the entry stays
// nevertheless.
func (f *fitting) why(s tdict.Spec, v tdict.Value) (why string, stays bool) {
	switch {
	case s.Kind == tdict.KindDict:
		return whyNoDict(v, f.to)
	case f.to == NRT:
		return f.whyNotJoint(s, v), false
	}
	return whyNoArray(s, f.to)
}

// dims adds names of dims to the losses, and the batch shape if it would be read back as another.
func (f *fitting) dims(td *tdict.TensorDict) {
	if slices.ContainsFunc(td.Names(), func(name string) bool { return name != "" }) {
		f.losses = append(f.losses, Loss{"", fmt.Sprintf("names of dims %q", td.Names())})
	}
	back := td.Shape()[:min(1, len(td.Shape()))]
	if f.to == Npy || f.to == Npz {
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

// whyNotAppended returns the reason why rows of an entry of source cannot be appended, or "".
func whyNotAppended(key nestedkey.Key, source *tdict.TensorDict) string {
	if source == nil {
		return ""
	}
	if _, err := tdict.Get[*tdict.Stacked](source, key); err == nil {
		return tdict.KindStacked.String()
	}
	data, err := tdict.Get[*tdict.Data](source, key)
	if err != nil || data.Shape().Size() == 0 {
		return ""
	}
	if _, same := data.Uniform(); same {
		return ""
	}
	return "data with a value for each row, which cannot be picked or appended"
}

// whyNoDict returns the loss of a dictionary that is empty or has more batch dims, and whether its
// entries stay.
func whyNoDict(v tdict.Value, to Form) (why string, stays bool) {
	inner, ok := v.(*tdict.TensorDict)
	switch {
	case to == Safetensors:
		return "", true
	case ok && inner.NumEntries() > 0:
		return fmt.Sprintf("separate batch shape %v", inner.Shape()), true
	case to == JSONL:
		return "", true
	}
	return "an empty dictionary", false
}

// whyNoArray returns the reason why a file of arrays cannot hold an entry, or "", and whether the
// entry stays nevertheless.
func whyNoArray(s tdict.Spec, to Form) (why string, stays bool) {
	lacks := tensor.BFloat16
	if to == Safetensors {
		lacks = tensor.Complex128
	}
	switch {
	case s.Kind != tdict.KindTensor:
		return s.Kind.String(), false
	case s.DType == lacks:
		return s.DType.String(), false
	case to == Safetensors && strings.Contains(string(s.Key), "."):
		return "a dot in a key reads back as a nested key", true
	}
	return "", true
}

// whyNotJoint returns the reason why an entry cannot be a field of the tree that has the lengths of
// the first ragged leaf, or "".
func (f *fitting) whyNotJoint(s tdict.Spec, v tdict.Value) string {
	if r, ok := v.(*ragged.Tensor); ok {
		if f.layout == nil {
			f.layout = r.Layout()
		}
		if !sameTo(min(f.layout.Depth(), r.Depth()), f.layout, r.Layout()) {
			return "lengths differ from the first ragged leaf's"
		}
	}
	switch dims := slices.Concat(f.inner, s.Batch, s.Shape); {
	case s.Kind == tdict.KindData || s.Kind == tdict.KindStacked:
		return s.Kind.String()
	case len(dims) > 0:
		return fmt.Sprintf("dims %v", dims)
	case s.DType == tensor.BFloat16 || s.DType == tensor.Complex64 || s.DType == tensor.Complex128:
		return s.DType.String()
	case strings.Contains(string(s.Key), "/"):
		return "a nested key"
	}
	return ""
}

// sameTo reports whether two layouts have the same lengths in the first depth levels.
func sameTo(depth int, a, b *ragged.Layout) bool {
	a, errA := a.At(depth)
	b, errB := b.At(depth)
	return errA == nil && errB == nil && a.Equal(b)
}

// whyNoColumn returns the reason why a table cannot hold a column, or "".
func whyNoColumn(s tdict.Spec, to Form) string {
	if to.needsDriver() {
		return whyNotDriven(s)
	}
	_, err := chunkSchema(to, tdict.Schema{s}, csv.Format{})
	switch {
	case err == nil && (to == JSONL || s.Kind != tdict.KindRagged && s.Depth == 0):
		return ""
	case s.Kind == tdict.KindText:
		return "lists of text"
	case s.Kind == tdict.KindTensor:
		return fmt.Sprintf("a tensor of shape %v", s.Shape)
	}
	return s.Kind.String()
}

// apply returns td without the entries that do not fit, and with a batch shape that fits.
func (f *fitting) apply(td *tdict.TensorDict) (*tdict.TensorDict, error) {
	td = td.Exclude(f.drop...)
	switch {
	case f.to != NRT && !f.to.IsTable():
		return td, nil
	case len(td.Shape()) == 0:
		return nil, errNoRows(td)
	}
	return td.WithBatch(td.Shape()[0])
}
