package transform_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// images returns n rows that all differ: image uint8 [n 8 8 2], mask bool [n 8 8], obs/depth
// float32 [n 8 8], label int64 [n], note.
func images(t testing.TB, n int) *tdict.TensorDict {
	t.Helper()
	pixels, depth, mask, labels := make([]uint8, n*128), make([]float32, n*64), make([]bool, n*64), make([]int64, n)
	for i := range pixels {
		pixels[i] = uint8(i * 7 >> 2)
	}
	for i := range depth {
		depth[i], mask[i], labels[i/64] = float32(i), i%3 == 0, int64(i/64%4)
	}
	td, err := tdict.FromMap(shapeops.Shape{n}, tdict.Entries{
		"image":     tensor.Must(tensor.From(pixels, n, 8, 8, 2)),
		"mask":      tensor.Must(tensor.From(mask, n, 8, 8)),
		"obs/depth": tensor.Must(tensor.From(depth, n, 8, 8)),
		"label":     tensor.Must(tensor.From(labels, n)),
		"note":      tensor.Must(tdict.NewData("a note")),
	})
	require.NoError(t, err)
	return td
}

// apply applies a transform, which must not change its argument, locked or not.
func apply(t testing.TB, tr transform.Transform, td *tdict.TensorDict, d transform.Draw) *tdict.TensorDict {
	t.Helper()
	before := tensor.Must(td.Clone())
	td.Lock()
	out, err := tr.Apply(td, d)
	require.NoError(t, err)
	require.True(t, before.Equal(td), "the argument has changed")
	return out
}

// set returns a transform that sets a number for all rows.
func set(key nestedkey.Key, v int64) transform.Transform {
	return transform.Func("set "+string(key), func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		x, err := tensor.Full(v, td.Shape()...)
		if err != nil {
			return nil, err
		}
		return td, td.Set(key, x)
	})
}

var errTest = errors.New("a reason")

func failing(err error) transform.Transform {
	return transform.Func("failing", func(*tdict.TensorDict) (*tdict.TensorDict, error) { return nil, err })
}

func panicking(v any) transform.Transform {
	return transform.Func("panicking", func(*tdict.TensorDict) (*tdict.TensorDict, error) { panic(v) })
}

func returning(td *tdict.TensorDict) transform.Transform {
	return transform.Func("returning", func(*tdict.TensorDict) (*tdict.TensorDict, error) { return td, nil })
}

func TestComposeAppliesInOrder(t *testing.T) {
	td := tdict.New(2)
	out := apply(t, transform.Compose(set("a", 1), transform.Compose(set("b", 2), set("a", 3))), td, transform.Draw{})
	require.Equal(t, []int64{3, 3}, tensor.Must(tdict.Slice[int64](out, "a")))
	require.Equal(t, []int64{2, 2}, tensor.Must(tdict.Slice[int64](out, "b")))
	require.Zero(t, td.NumEntries())
}

func TestComposeOfNothingCopies(t *testing.T) {
	td := images(t, 2)
	out := apply(t, transform.Compose(), td, transform.Draw{})
	require.True(t, out.Equal(td))
	require.NoError(t, out.Set("further", tensor.Vector[int64](1, 2)))
	require.False(t, td.Has("further"))
}

// TestFuncOwnsItsArgument: what it sets and deletes is not seen outside, by itself or in others.
func TestFuncOwnsItsArgument(t *testing.T) {
	clearing := transform.Func("clearing", func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return td, errors.Join(td.Delete("obs/depth"), td.Clear())
	})
	for _, tr := range []transform.Transform{clearing, transform.Compose(clearing), transform.OnKeys(clearing, "obs")} {
		require.True(t, apply(t, tr, images(t, 2), transform.Draw{}).Exclude("image", "mask", "label", "note").IsEmpty())
	}
}

// TestTransformsKeepTheirArguments: the caller may change the slices that they were made of.
func TestTransformsKeepTheirArguments(t *testing.T) {
	steps, keys, sizes := []transform.Transform{set("a", 1)}, []nestedkey.Key{"label"}, []int{3, 3}
	all := transform.Compose(
		transform.Compose(steps...),
		transform.OnKeys(set("label", 1), keys...),
		transform.OnKeys(transform.RandomCrop(sizes...), "mask"),
	)
	steps[0], keys[0], sizes[0] = failing(errTest), "nothing", 9
	out := apply(t, all, images(t, 2), transform.Draw{})
	require.True(t, out.Has("a"))
}

func TestTexts(t *testing.T) {
	pipeline := transform.Compose(
		tensor.Must(transform.FitStandard(images(t, 3), nil)),
		transform.OnKeys(transform.Compose(transform.RandomCrop(6, 6), transform.RandomFlip(0.5, -1)), "image", "mask"),
		transform.OnKeys(transform.CastScale(tensor.Float32, 2./255, -1), "image"),
		transform.OnKeys(transform.OneHot(4, tensor.Float32), "label"),
		transform.FillNaN(0),
		transform.Compose(nil, &transform.Standard{}),
		transform.OnKeys(nil),
	)
	require.Equal(t, `compose
  standard: 64 columns
  on image, mask: compose
    random crop 6x6
    random flip: dim -1, p 0.5
  on image: cast scale: float32(x*0.00784314-1)
  on label: one hot: 4 classes, float32
  fill NaN with 0
  nil
  standard: 0 columns
  on : nil`, pipeline.String())
}

func TestComposeRefuses(t *testing.T) {
	indexing := transform.Random("indexing", func(_ *tdict.TensorDict, d transform.Draw) (*tdict.TensorDict, error) {
		return nil, errors.New("row " + string(rune(d.Rows[99])))
	})
	tests := []struct {
		name string
		step transform.Transform
		is   error
	}{
		{"an error", failing(errTest), errTest},
		{"a panic", panicking("boom"), nil},
		{"a panic with an error", panicking(errTest), errTest},
		{"a panic of Go", indexing, nil},
		{"a nil step", nil, tdict.ErrKind},
		{"a nil function", transform.Func("no function", nil), tdict.ErrKind},
		{"no result", returning(nil), tdict.ErrKind},
		{"a step of a step", transform.Compose(set("a", 1), failing(errTest)), errTest},
		{"a step on keys", transform.OnKeys(failing(errTest), "label"), errTest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := transform.Compose(set("b", 1), tt.step).Apply(images(t, 2), transform.Draw{})
			require.Nil(t, out)
			if tt.is == nil {
				tt.is = err
			}
			testkit.Fails(t, tt.is, err)
		})
	}
}

func TestNilDictionaries(t *testing.T) {
	for _, tr := range []transform.Transform{
		transform.Compose(), set("a", 1), transform.OnKeys(set("a", 1)), transform.RandomCrop(1), transform.RandomFlip(1, 0),
		transform.OneHot(2, tensor.Bool), transform.CastScale(tensor.Float32, 1, 0), transform.FillNaN(0), &transform.Standard{},
	} {
		_, err := tr.Apply(nil, transform.Draw{})
		require.ErrorIs(t, err, tdict.ErrKind, tr)
	}
}
