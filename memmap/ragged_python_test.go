package memmap_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A promised says what Go does with the result of an operation in Python.
type promised int

const (
	exact   promised = iota // opens it, with the rows that the operation says
	first                   // opens it with these rows, or refuses it
	refused                 // refuses it, unless the operation changed nothing
	mixed                   // opens it with values that are mixed, which nothing can notice
)

const unpackFirst = "unpack first, see docs/from-python.md"

// A raggedOp is an operation of testdata/python/ragged.py.
type raggedOp struct {
	name string
	what promised
	why  string // text of the error
	want func(td, other *tdict.TensorDict) (*tdict.TensorDict, error)
}

func same(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) { return td, nil }

// taking returns the operation that picks rows of td and other, one after the other.
func taking(list func(n int) []int) func(td, other *tdict.TensorDict) (*tdict.TensorDict, error) {
	return func(td, other *tdict.TensorDict) (*tdict.TensorDict, error) {
		both, err := shapeops.Cat([]*tdict.TensorDict{td, other}, 0)
		if err != nil {
			return nil, err
		}
		return both.Index(ix.Take(list(td.Shape()[0])...))
	}
}

// eachRow returns the list of at(i) of n rows.
func eachRow(at func(i, n int) int) func(n int) []int {
	return func(n int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = at(i, n)
		}
		return list
	}
}

// stride returns every step-th row from one to another, which counts from the end.
func stride(from, step, end int) func(n int) []int {
	return func(n int) (list []int) {
		for i := from; i < n-end; i += step {
			list = append(list, i)
		}
		return list
	}
}

func rowAt(i int) func(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
	return func(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Index(ix.At(i)) }
}

func twice(join func([]*tdict.TensorDict, int) (*tdict.TensorDict, error), dim int) func(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
	return func(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
		return join([]*tdict.TensorDict{td, td}, dim)
	}
}

func unsqueezed(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Unsqueeze(0) }

func oddOfOther(i, n int) int { return i + i%2*n }

// computed returns the operation that computes all elements, of bool as int64.
func computed(fn func(td *tdict.TensorDict) (*tdict.TensorDict, error)) func(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
	return func(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
		for _, v := range td.Leaves() {
			if t, ok := v.(*ragged.Tensor); ok && t.DType() == tensor.Bool {
				ints, err := td.Cast(tensor.Int64)
				if err != nil {
					return nil, err
				}
				return fn(ints)
			}
		}
		return fn(td)
	}
}

func zeros(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
	out, err := td.Clone()
	if err == nil {
		err = arith.FillInPlace(out, 0)
	}
	return out, err
}

func cast(dtype tensor.DType) func(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
	return func(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Cast(dtype) }
}

var (
	plusOne = computed(func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return arith.Add(td, 1) })
	doubled = computed(func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return arith.Mul(td, 2) })
)

// raggedOps are the operations. What jagged tensors of consolidated files make of them is exact
// too, or raises.
var raggedOps = []raggedOp{
	{"load", exact, "", same},
	{"clone", exact, "", same},
	{"shallow clone", exact, "", same},
	{"contiguous", exact, "", same},
	{"detach", exact, "", same},
	{"lock", exact, "", same},
	{"num_threads", exact, "", same},
	{"archive", exact, "", same},
	{"consolidate", exact, "", same},
	{"from_consolidated", exact, "", same},
	{"torch.save", exact, "", same},
	{"tensorclass", exact, "", same},
	{"lazy stack", exact, "", func(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
		return tdict.LazyStack([]*tdict.TensorDict{td, td}, 0)
	}},
	{"to_dict", exact, "", same},
	{"apply", exact, "", same},
	{"update", exact, "", same},
	{"flatten", exact, "", same},
	{"flattened", exact, "", func(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) { return td.FlattenKeys(".") }},
	{"unsqueeze", exact, "", unsqueezed},
	{"stack of one", exact, "", unsqueezed},
	{"split and cat", exact, "", same},
	{"[:]", exact, "", same},
	{"reshape", exact, "", func(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Reshape(-1) }},

	{"[0]", first, unpackFirst, rowAt(0)},
	{"[:2]", first, unpackFirst, taking(func(n int) []int { return []int{0, 1}[:min(n, 2)] })},
	{"[:-1]", first, unpackFirst, taking(stride(0, 1, 1))},
	{"split", first, unpackFirst, taking(func(n int) []int { return []int{0, 1}[:min(n, 2)] })},
	{"unbind", first, unpackFirst, rowAt(0)},

	{"[1:]", refused, unpackFirst, taking(stride(1, 1, 0))},
	{"[-1]", refused, unpackFirst, rowAt(-1)},
	{"[::2]", refused, unpackFirst, taking(stride(0, 2, 0))},
	{"mask", refused, unpackFirst, taking(stride(1, 2, 0))},
	{"mask, threads", refused, unpackFirst, taking(stride(1, 2, 0))},
	{"list", refused, unpackFirst, taking(eachRow(func(i, n int) int { return n - 1 - i }))},
	{"flip", refused, unpackFirst, taking(eachRow(func(i, n int) int { return n - 1 - i }))},
	{"roll", refused, unpackFirst, taking(eachRow(func(i, n int) int { return (i + n - 1) % n }))},
	{"gather", refused, unpackFirst, taking(eachRow(func(i, n int) int { return n - 1 - i }))},
	{"stack", refused, unpackFirst, twice(shapeops.Stack[*tdict.TensorDict], 0)},
	{"stack, 1", refused, unpackFirst, twice(shapeops.Stack[*tdict.TensorDict], 1)},
	{"cat", refused, unpackFirst, twice(shapeops.Cat[*tdict.TensorDict], 0)},
	{"cat others", refused, unpackFirst, taking(func(n int) []int { return eachRow(func(i, _ int) int { return i })(2 * n) })},
	{"cat parts of others", refused, unpackFirst, taking(eachRow(func(i, n int) int { return i + min(i, 1)*n }))},
	{"expand", refused, unpackFirst, twice(shapeops.Stack[*tdict.TensorDict], 0)},
	{"repeat", refused, unpackFirst, twice(shapeops.Cat[*tdict.TensorDict], 0)},
	{"repeat_interleave", refused, unpackFirst, taking(func(n int) []int { return eachRow(func(i, _ int) int { return i / 2 })(2 * n) })},
	{"expand and transpose", refused, unpackFirst, twice(shapeops.Stack[*tdict.TensorDict], 0)},
	{"transpose", refused, unpackFirst, func(td, _ *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Transpose(0, 1) }},
	{"pad", refused, unpackFirst, nil},
	{"a row again", refused, unpackFirst, taking(eachRow(func(i, _ int) int { return max(i, 1) - 1 + min(max(i-1, 0), 1) }))},
	{"assigned row", refused, unpackFirst, taking(eachRow(func(i, _ int) int { return max(i, 1) }))},
	{"assigned row of others", refused, unpackFirst, taking(eachRow(func(i, n int) int { return i + (1-min(i, 1))*n }))},
	{"assigned mask of others", refused, unpackFirst, taking(eachRow(oddOfOther))},
	{"where others", refused, unpackFirst, taking(eachRow(func(i, n int) int { return i + (1-i%2)*n }))},
	{"apply + 1", refused, unpackFirst, plusOne},
	{"+ 1", refused, unpackFirst, plusOne},
	{"zero_", refused, unpackFirst, zeros},
	{"mul", refused, unpackFirst, doubled},
	{"float", refused, "dtype mismatch: got float32, want int64", cast(tensor.Float32)},
	{"to int32", refused, "dtype mismatch: got int32, want int64", cast(tensor.Int32)},
	{"lengths + 1", refused, unpackFirst, same},
	{"lengths negated", refused, "want 0 or more", same},
	{"lengths of 2**62", refused, "", same}, // a sum that is too large, or a width
	{"rows negated", refused, unpackFirst, same},
	{"rows from 1", refused, unpackFirst, same},
	{"rows of int32", refused, "@row: dtype mismatch: got int32, want int64", same},
	{"lengths of int32", refused, "@lengths: dtype mismatch: got int32, want int64", same},
	{"wider pool", refused, "@pool: ", same},
	{"no pool", refused, "a ragged tensor without @pool", same},
	{"no rows", refused, "a ragged tensor without @row", same},
	{"no lengths", refused, "a ragged tensor without @lengths", same},
	{"added", refused, `a ragged tensor with a further entry "@lengths9"`, same},

	{"where a changed copy", mixed, "", nil},
	{"mask of a changed copy", mixed, "", nil},
}

// raises are errors of operations that torch does not have for a dtype, a shape, or jagged tensors.
var raises = regexp.MustCompile(`view\(\): cannot view|not implemented for 'UInt|[Nn]ested|NJT|Incompatible dim 0 for tensordict with shape torch.Size\(\[\]\)|` +
	`split_size must be a positive integer|shape '\[1\]' is invalid for input of size 0|` +
	`Cannot save multiple tensors or storages that view the same data as different types`)

// raggedForms save a dataset in each form.
var raggedForms = []struct {
	name string
	save func(t *testing.T, at string, td *tdict.TensorDict)
}{
	{"directory", func(t *testing.T, at string, td *tdict.TensorDict) { require.NoError(t, memmap.Save(at, td)) }},
	{"archive", func(t *testing.T, at string, td *tdict.TensorDict) { require.NoError(t, memmap.Save(at+".tdz", td)) }},
	{"consolidated", func(t *testing.T, at string, td *tdict.TensorDict) { require.NoError(t, memmap.Save(at+".tdc", td)) }},
	{"growing", saveGrowing},
}

// saveGrowing commits the rows of td one by one, and leaves the Writer at work on more.
func saveGrowing(t *testing.T, at string, td *tdict.TensorDict) {
	n := td.Shape()[0]
	row, err := td.NewZeros(td.Shape()[1:]...)
	if n > 0 {
		row, err = td.Index(ix.At(0))
	}
	require.NoError(t, err)
	w, err := memmap.NewWriter(at, row, memmap.WriterOptions{NoSync: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	for i := range n {
		require.NoError(t, w.Append(tensor.Must(td.Index(ix.At(i)))))
		require.NoError(t, w.Commit())
	}
	require.NoError(t, w.Append(row))
	write(t, filepath.Dir(at), "flat", "")
}

// A raggedResult is what Python says of an operation.
type raggedResult struct {
	Op           string
	Flat         bool
	Path, Raised string
}

// TestPythonOperations has Python put datasets with ragged leaves, in each form, through the
// operations of tensordict, and opens the result: it is as the operation says, or refused.
// Python takes some seconds to start, and about 5 ms for each of some thousand results.
func TestPythonOperations(t *testing.T) {
	top, cases := testkit.TempDir(t), raggedCases()
	if !longtests.On() {
		cases = slices.DeleteFunc(cases, func(c raggedCase) bool {
			return !slices.Contains([]string{"three levels", "batch [3 2]", "a longer batch", "no values", "text", "beside others"}, c.name)
		})
	}
	grows := func(c raggedCase) bool { return len(c.make(t, 0).Shape()) > 0 }
	for _, form := range raggedForms {
		for _, c := range cases {
			if form.name == "growing" && !grows(c) {
				continue
			}
			at := filepath.Join(top, form.name, c.name)
			require.NoError(t, os.MkdirAll(at, 0o777))
			form.save(t, filepath.Join(at, "data"), c.make(t, 0))
			form.save(t, filepath.Join(at, "other"), c.make(t, 101))
		}
	}
	processkit.Python(t, string(tensor.Must(os.ReadFile(filepath.Join("testdata", "python", "ragged.py")))), "ops", top)
	for _, form := range raggedForms {
		t.Run(form.name, func(t *testing.T) {
			seen := verdicts{}
			for _, c := range cases {
				if form.name != "growing" || grows(c) {
					t.Run(c.name, func(t *testing.T) { seen.check(t, filepath.Join(top, form.name, c.name), form.name, c) })
				}
			}
			seen.require(t, form.name)
		})
	}
}

// verdicts count what became of the results of each operation: "opened", "refused" or "raised".
type verdicts map[string]map[string]int

// check checks all results of a case.
func (s verdicts) check(t *testing.T, folder, form string, c raggedCase) {
	var results []raggedResult
	require.NoError(t, json.Unmarshal(tensor.Must(os.ReadFile(filepath.Join(folder, "results.json"))), &results))
	td, other := c.make(t, 0), c.make(t, 101)
	want := len(raggedOps)
	if form == "growing" {
		want *= 2
	}
	require.Len(t, results, want)
	for _, r := range results {
		at := slices.IndexFunc(raggedOps, func(op raggedOp) bool { return op.name == r.Op })
		require.GreaterOrEqual(t, at, 0, r.Op)
		if s[r.Op] == nil {
			s[r.Op] = map[string]int{}
		}
		verdict, err := raggedOps[at].verdict(t, td, other, r, form == "consolidated")
		s[r.Op][verdict]++
		if err != nil {
			t.Errorf("%s, flat %v: %v", r.Op, r.Flat, err)
		}
	}
}

// require requires that no operation passes because it raises always.
func (s verdicts) require(t *testing.T, form string) {
	for _, op := range raggedOps {
		if op.what == refused {
			require.Positive(t, s[op.name]["refused"], op.name)
		} else {
			require.Positive(t, s[op.name]["opened"], op.name)
		}
	}
}

// verdict says what became of a result, and returns an error if that is not as it was promised.
func (op raggedOp) verdict(t *testing.T, td, other *tdict.TensorDict, r raggedResult, jagged bool) (string, error) {
	if r.Raised != "" {
		if op.what == exact && !raises.MatchString(r.Raised) {
			return "raised", fmt.Errorf("raises %s", r.Raised)
		}
		return "raised", nil
	}
	ds, err := memmap.Open(r.Path)
	if err != nil {
		if op.what == exact || op.what == mixed {
			return "refused", err
		}
		require.ErrorIs(t, err, memmap.ErrCorrupt, r.Op)
		require.ErrorContains(t, err, op.why, r.Op)
		return "refused", nil
	}
	defer ds.Close()
	got := ds.TensorDict
	if op.name == "tensorclass" {
		got = tensor.Must(got.Dict("td"))
	}
	if op.what == mixed {
		return "opened", sameLengths(td, got, r.Flat)
	}
	if op.want == nil {
		return "opened", fmt.Errorf("opens as %v", got)
	}
	if r.Flat && op.name != "flatten" { // which ends with unflatten_keys
		td, other = tensor.Must(td.FlattenKeys(".")), tensor.Must(other.FlattenKeys("."))
	}
	want, err := op.want(td, other)
	if err != nil {
		return "opened", fmt.Errorf("opens as %v, want %w", got, err)
	}
	if err := differs(want, got); err != nil {
		return "opened", err
	}
	unchanged := want.Shape().Size() == 0 || differs(td, want) == nil || differs(other, want) == nil ||
		differs(td, tensor.Must(want.Unsqueeze(0))) == nil // the only row
	if op.what == refused && !unchanged && !(jagged && hasJagged(td)) {
		return "opened", fmt.Errorf("opens as %v, which is right, but not promised", got)
	}
	return "opened", nil
}

// sameLengths returns an error unless the ragged leaves of got have the lengths of td.
func sameLengths(td, got *tdict.TensorDict, flat bool) error {
	if flat {
		td = tensor.Must(td.FlattenKeys("."))
	}
	for key, v := range td.Leaves() {
		want, ok := v.(*ragged.Tensor)
		if !ok {
			continue
		}
		x, err := tdict.Get[*ragged.Tensor](got, key)
		if err != nil {
			return err
		}
		for level := 1; level <= want.Depth(); level++ {
			if !slices.Equal(tensor.Must(x.Layout().Offsets(level)), tensor.Must(want.Layout().Offsets(level))) {
				return fmt.Errorf("%s: other lengths", key)
			}
		}
	}
	return nil
}

// hasJagged reports whether td has a leaf that a consolidated file holds as a jagged tensor.
func hasJagged(td *tdict.TensorDict) bool {
	for _, v := range td.Leaves() {
		if t, ok := v.(*ragged.Tensor); ok && t.Depth() == 1 && len(t.Shape()) == 1 {
			return true
		}
	}
	return false
}

// differs returns an error unless got equals want, in all but unbatched tensors, which Python saves
// as tensors. A row of a jagged tensor is a tensor.
func differs(want, got *tdict.TensorDict) error {
	const unbatched = "shared"
	want, got = want.Exclude(unbatched), got.Exclude(unbatched)
	for key, v := range want.Leaves() {
		row, is := v.(*ragged.Tensor)
		if x, err := got.Tensor(key); err == nil && is && len(row.Shape()) == 0 {
			layout, err := ragged.LayoutOf(nil, []int64{int64(x.Shape()[0])})
			if err != nil {
				return err
			}
			if err := got.Set(key, tensor.Must(ragged.New(x, layout))); err != nil {
				return err
			}
		}
	}
	diff, err := want.Diff(got)
	if err == nil && diff != "" {
		err = fmt.Errorf("%s", diff)
	}
	return err
}

// A packedLeaf are the arguments of pack in testdata/python/ragged.py.
type packedLeaf struct {
	Rows     json.RawMessage `json:"rows"`
	Batch    shapeops.Shape  `json:"batch"`
	Depth    int             `json:"depth"`
	DType    string          `json:"dtype"`
	Features shapeops.Shape  `json:"features"`
}

// TestPythonPacks opens what Python packed of nested lists.
func TestPythonPacks(t *testing.T) {
	top := testkit.TempDir(t)
	made := map[string]*tdict.TensorDict{}
	for _, c := range raggedCases() {
		if c.name == "floats" || c.name == "beside others" { // not all numbers of JSON, not only ragged leaves
			continue
		}
		td, leaves := c.make(t, 0), map[nestedkey.Key]any{}
		leaves["batch"], made[c.name] = append(shapeops.Shape{}, td.Shape()...), td
		for key, v := range td.Leaves() {
			x := v.(*ragged.Tensor)
			flat := tensor.Must(ragged.New(tensor.Must(x.Values()), flatLayout(t, x.Layout())))
			var text struct{ Values json.RawMessage }
			require.NoError(t, json.Unmarshal(tensor.Must(json.Marshal(flat)), &text))
			leaves[key] = packedLeaf{text.Values, append(shapeops.Shape{}, x.Shape()...), x.Depth(), x.DType().String(), append(shapeops.Shape{}, x.Features()...)}
		}
		write(t, filepath.Join(top, c.name), "rows.json", string(tensor.Must(json.Marshal(leaves))))
	}
	processkit.Python(t, string(tensor.Must(os.ReadFile(filepath.Join("testdata", "python", "ragged.py")))), "pack", top)
	for name, td := range made {
		t.Run(name, func(t *testing.T) { requireSame(t, td, open(t, filepath.Join(top, name, "data")).TensorDict) })
	}
}

// flatLayout returns l with a batch of one dim.
func flatLayout(t *testing.T, l *ragged.Layout) *ragged.Layout {
	t.Helper()
	var offsets [][]int64
	for level := 1; level <= l.Depth(); level++ {
		offsets = append(offsets, tensor.Must(l.Offsets(level)))
	}
	return tensor.Must(ragged.NewLayout(shapeops.Shape{l.Shape().Size()}, offsets...))
}
