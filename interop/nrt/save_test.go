package nrt_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestPartsAreCompacted writes parts of a collection, in memory and mapped, as what they are.
func TestPartsAreCompacted(t *testing.T) {
	f := open(t, saved(t, visits()))
	parts := []struct {
		name string
		of   func(j *joint.Joint) (*joint.Joint, error)
		want map[string]any
	}{
		{"a range of rows", func(j *joint.Joint) (*joint.Joint, error) { return j.Range(1, 3) }, map[string]any{
			"s": []any{8, 9}, "ts": []any{[]any{3}, []any{4, 5, 6}},
			"v": []any{[]any{[]any{3, 4, 5}}, []any{[]any{}, []any{}, []any{2}}}}},
		{"rows by list", func(j *joint.Joint) (*joint.Joint, error) { return j.Index(ix.Take(1, 0)) }, map[string]any{
			"s": []any{8, 7}, "ts": []any{[]any{3}, []any{1, 2}}, "v": []any{[]any{[]any{3, 4, 5}}, []any{[]any{}, []any{3, 0}}}}},
		{"every other row", func(j *joint.Joint) (*joint.Joint, error) { return j.Index(ix.Range(0, 3).Step(2)) }, map[string]any{
			"s": []any{7, 9}, "ts": []any{[]any{1, 2}, []any{4, 5, 6}},
			"v": []any{[]any{[]any{}, []any{3, 0}}, []any{[]any{}, []any{}, []any{2}}}}},
		{"one field, in a row", func(j *joint.Joint) (*joint.Joint, error) {
			v, err := j.Select("v")
			if err != nil {
				return nil, err
			}
			return v.Row(1)
		}, map[string]any{"v": []any{[]any{3, 4, 5}}}},
	}
	for _, tt := range parts {
		for _, j := range []*joint.Joint{visits(), f.Joint} {
			t.Run(tt.name, func(t *testing.T) {
				want := written(t, tensor.Must(nrt.FromLists(tt.want, nil)))
				require.Equal(t, string(want), string(written(t, tensor.Must(tt.of(j)))))
			})
		}
	}
}

// field returns a field of values over a layout.
func field(name, tree string, values *tensor.Tensor, l *ragged.Layout) joint.Field {
	return joint.Field{Name: name, Tree: tree, Tensor: tensor.Must(ragged.New(values, l))}
}

func TestSaveRefuses(t *testing.T) {
	rows := tensor.Must(ragged.NewLayout([]int{2}))
	nested := tensor.Must(rows.Nest([]int64{0, 1, 2}))
	x := tensor.Vector[int64](1, 1)
	of := func(fields ...joint.Field) *joint.Joint { return tensor.Must(joint.New(fields...)) }
	tests := []struct {
		name string
		j    *joint.Joint
		err  error
	}{
		{"no collection", nil, shapeops.ErrKind},
		{"values with dims of their own", of(field("a", "", tensor.Must(x.Reshape(2, 1)), nested)), nrt.ErrUnsupported},
		{"two trees", of(field("a", "one", x, nested), field("b", "two", x, nested)), nrt.ErrUnsupported},
		{"bfloat16", of(field("a", "", tensor.Must(x.Cast(tensor.BFloat16)), rows)), nrt.ErrUnsupported},
		{"complex64", of(field("a", "", tensor.Must(x.Cast(tensor.Complex64)), rows)), nrt.ErrUnsupported},
		{"complex128", of(field("a", "", tensor.Must(x.Cast(tensor.Complex128)), rows)), nrt.ErrUnsupported},
		{"a field that would be taken for lengths", of(field("lengths", "", x, nested)), nrt.ErrUnsupported},
		{"a name that is not UTF-8", of(field("\xff", "", x, nested)), nrt.ErrUnsupported},
		{"no elements", of(field("a", "", tensor.Must(tensor.NewMeta(tensor.Int64, 2)), nested)), tensor.ErrMeta},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			err := nrt.Write(&b, tt.j)
			testkit.Fails(t, tt.err, err)
			path := filepath.Join(t.TempDir(), "data.nrt")
			err = nrt.Save(path, tt.j)
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, "save "+path+": ")
			require.NoFileExists(t, path)
		})
	}
	require.NoError(t, nrt.Write(&bytes.Buffer{}, of(field("a", "one", x, nested), field("b", "one", x, nested))), "a tree of any name")
}

func TestSaveRefusesPaths(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name, path string
		err        error
	}{
		{"none", "", fs.ErrInvalid},
		{"a directory by its form", dir + string(filepath.Separator), fs.ErrInvalid},
		{"a directory", dir, fs.ErrExist},
		{"the directory around", filepath.Join(dir, "x") + string(filepath.Separator) + "..", fs.ErrInvalid},
		{"a name of what is being saved", filepath.Join(dir, ".saving-ABCDEFGH"), fs.ErrInvalid},
		{"in a directory that is not there", filepath.Join(dir, "nope", "x"), fs.ErrNotExist},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.ErrorIs(t, nrt.Save(tt.path, visits()), tt.err) })
	}
	require.Empty(t, tensor.Must(os.ReadDir(dir)))
}

// TestSaveStops: a context that has ended leaves what was there, and nothing beside it.
func TestSaveStops(t *testing.T) {
	path := saved(t, visits())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, nrt.SaveWith(ctx, path, mixed(), nrt.SaveOptions{}), context.Canceled)
	require.True(t, visits().Equal(open(t, path).Joint))
	require.NoError(t, nrt.SaveWith(t.Context(), path, mixed(), nrt.SaveOptions{NoSync: true}))
	require.Len(t, tensor.Must(os.ReadDir(filepath.Dir(path))), 1)
}

// TestSaveOverItself saves a part of a file over that file.
func TestSaveOverItself(t *testing.T) {
	path := saved(t, visits())
	f := open(t, path)
	require.NoError(t, nrt.Save(path, tensor.Must(f.Range(1, 3))))
	require.True(t, tensor.Must(visits().Range(1, 3)).Equal(open(t, path).Joint))
}

func TestWriteReportsTheWriter(t *testing.T) {
	broken := errors.New("broken")
	for left := range len(visitsFile) {
		err := nrt.Write(&short{left, broken}, visits())
		require.ErrorIs(t, err, broken)
	}
	require.NoError(t, nrt.Write(&short{len(visitsFile), broken}, visits()))
}

// A short writer takes left bytes.
type short struct {
	left int
	err  error
}

func (w *short) Write(p []byte) (int, error) {
	n := min(w.left, len(p))
	w.left -= n
	if n < len(p) {
		return n, w.err
	}
	return n, nil
}

// Writing takes no memory for values.
func TestWriteStreams(t *testing.T) {
	f := func(n int) *joint.Joint {
		return tensor.Must(joint.New(field("x", "", tensor.Must(tensor.Zeros[float64](n)), tensor.Must(ragged.NewLayout([]int{n})))))
	}
	none := writerFunc(func(b []byte) (int, error) { return len(b), nil })
	little, big := f(1), f(1<<21)
	testkit.Near(t, 1.2, func() { _ = nrt.Write(none, little) }, func() { _ = nrt.Write(none, big) })
}
