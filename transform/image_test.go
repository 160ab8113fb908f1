package transform_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// positions returns a dictionary with leaves "y" and "x" [n h w] that say where an element was.
func positions(t testing.TB, n, h, w int) *tdict.TensorDict {
	t.Helper()
	ys, xs := make([]int32, n*h*w), make([]int32, n*h*w)
	for i := range ys {
		ys[i], xs[i] = int32(i/w%h), int32(i%w)
	}
	td, err := tdict.FromMap(shapeops.Shape{n}, tdict.Entries{
		"y": tensor.Must(tensor.From(ys, n, h, w)), "x": tensor.Must(tensor.From(xs, n, h, w)),
	})
	require.NoError(t, err)
	return td
}

// TestRandomCropCutsAtEachPlaceAlike: the part is whole, the same of both leaves, and each place
// occurs about as often as the others.
func TestRandomCropCutsAtEachPlaceAlike(t *testing.T) {
	const n, h, w = 12000, 6, 7
	out := apply(t, transform.RandomCrop(4, 5), positions(t, n, h, w), transform.Draw{Seed: 1})
	ys, xs := tensor.Must(tdict.Slice[int32](out, "y")), tensor.Must(tdict.Slice[int32](out, "x"))
	counts := map[[2]int32]int{}
	for row := range n {
		y0, x0 := ys[row*20], xs[row*20]
		counts[[2]int32{y0, x0}]++
		for i := range 20 {
			if ys[row*20+i] != y0+int32(i/5) || xs[row*20+i] != x0+int32(i%5) {
				t.Fatalf("row %d: element %d is from (%d, %d)", row, i, ys[row*20+i], xs[row*20+i])
			}
		}
	}
	require.Len(t, counts, 9)
	for place, count := range counts {
		require.InDelta(t, n/9, count, 6*math.Sqrt(n/9), "%v", place)
	}
}

func TestRandomCropShapes(t *testing.T) {
	of := func(shape ...int) *tensor.Tensor { return tensor.Must(tensor.Zeros[float32](shape...)) }
	tests := []struct {
		name  string
		x     *tensor.Tensor
		batch shapeops.Shape
		sizes []int
		want  shapeops.Shape
	}{
		{"one dim", of(3, 8), shapeops.Shape{3}, []int{5}, shapeops.Shape{3, 5}},
		{"features after", of(3, 8, 8, 2, 4), shapeops.Shape{3}, []int{5, 8}, shapeops.Shape{3, 5, 8, 2, 4}},
		{"three dims", of(2, 4, 5, 6), shapeops.Shape{2}, []int{1, 2, 3}, shapeops.Shape{2, 1, 2, 3}},
		{"films", of(2, 9, 8, 8), shapeops.Shape{2, 9}, []int{5, 5}, shapeops.Shape{2, 9, 5, 5}},
		{"no rows", of(0, 8, 8), shapeops.Shape{0}, []int{5, 5}, shapeops.Shape{0, 5, 5}},
		{"nothing of it", of(2, 8, 8), shapeops.Shape{2}, []int{0, 3}, shapeops.Shape{2, 0, 3}},
		{"of nothing", of(2, 0), shapeops.Shape{2}, []int{0}, shapeops.Shape{2, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td, err := tdict.FromMap(tt.batch, tdict.Entries{"x": tt.x})
			require.NoError(t, err)
			out := apply(t, transform.RandomCrop(tt.sizes...), td, transform.Draw{})
			require.Equal(t, tt.want, tensor.Must(out.Tensor("x")).Shape())
		})
	}
}

// TestRandomCropOfNoLeaf: there is nothing to cut.
func TestRandomCropOfNoLeaf(t *testing.T) {
	for _, size := range []int{5, -1} {
		require.Zero(t, apply(t, transform.RandomCrop(size), tdict.New(3), transform.Draw{}).NumEntries())
	}
}

// TestFramesOfAFilmAreCutAlike: a row is what lies at a position of the first batch dim.
func TestFramesOfAFilmAreCutAlike(t *testing.T) {
	film := tensor.Must(tensor.Must(positions(t, 30, 8, 8).Unsqueeze(1)).Expand(30, 4))
	out := apply(t, transform.Compose(transform.RandomCrop(3, 3), transform.RandomFlip(0.5, 1)), film, transform.Draw{})
	first := tensor.Must(tensor.Must(out.Index(ix.All, ix.Range(0, 1))).Expand(30, 4))
	require.True(t, first.Equal(out))
}

// TestRandomFlipFlipsWholeRows: each row is as it was or reversed, all leaves alike, with
// probability p.
func TestRandomFlipFlipsWholeRows(t *testing.T) {
	const n = 6000
	td := positions(t, n, 3, 5)
	for _, dim := range []int{1, -1} {
		out := apply(t, transform.RandomFlip(0.25, dim), td, transform.Draw{})
		ys, xs := tensor.Must(tdict.Slice[int32](out, "y")), tensor.Must(tdict.Slice[int32](out, "x"))
		flipped := 0
		for i := range xs {
			want := int32(i % 5)
			if xs[i/15*15] == 4 { // the first of its row
				want = 4 - want
			}
			if xs[i] != want || ys[i] != int32(i/5%3) {
				t.Fatalf("element %d is from (%d, %d)", i, ys[i], xs[i])
			}
			if i%15 == 0 && xs[i] == 4 {
				flipped++
			}
		}
		require.InDelta(t, n/4, flipped, 6*math.Sqrt(n*0.25*0.75))
	}
}

func TestRandomFlipOfAllAndNone(t *testing.T) {
	td := tensor.Must(images(t, 5).Select("image", "mask"))
	require.True(t, apply(t, transform.RandomFlip(0, 0), td, transform.Draw{}).Equal(td))
	want := tensor.Must(shapeops.Flip(tensor.Must(td.Tensor("image")), 2))
	require.True(t, tensor.Must(apply(t, transform.RandomFlip(1, 1), td, transform.Draw{}).Tensor("image")).Equal(want))
}

func TestImagesRefuse(t *testing.T) {
	td := images(t, 2)
	require.NoError(t, td.Set("small", tensor.Must(tensor.Zeros[uint8](2, 4, 8))))
	on := func(tr transform.Transform, keys ...nestedkey.Key) error {
		part := tdict.New(2)
		for _, key := range keys { // in this order
			require.NoError(t, part.Set(key, tensor.Must(td.Tensor(key))))
		}
		return testkit.Err(tr.Apply(part, transform.Draw{}))
	}
	tests := []struct {
		name string
		err  error
		is   error
	}{
		{"too few dims", on(transform.RandomCrop(2, 2), "label"), shapeops.ErrShape},
		{"sizes that differ", on(transform.RandomCrop(2, 2), "image", "obs/depth", "small"), shapeops.ErrShape},
		{"too small", on(transform.RandomCrop(2, 9), "image"), shapeops.ErrShape},
		{"a negative size", on(transform.RandomCrop(-1, 2), "image"), shapeops.ErrShape},
		{"no sizes", on(transform.RandomCrop(), "image"), shapeops.ErrShape},
		{"no rows", testkit.Err(transform.RandomCrop(1).Apply(tdict.New(), transform.Draw{})), shapeops.ErrDim},
		{"row numbers", testkit.Err(transform.RandomCrop(1).Apply(tdict.New(3), transform.Draw{Rows: []int{1}})), shapeops.ErrShape},
		{"flipped along no dim", on(transform.RandomFlip(1, 1), "image", "label"), shapeops.ErrDim},
		{"flipped along a batch dim", on(transform.RandomFlip(1, -3), "mask"), shapeops.ErrDim},
		{"no probability", on(transform.RandomFlip(1.5, 0), "image"), transform.ErrNumber},
		{"NaN as probability", on(transform.RandomFlip(math.NaN(), 0), "image"), transform.ErrNumber},
		{"flip without rows", testkit.Err(transform.RandomFlip(1, 0).Apply(tdict.New(), transform.Draw{})), shapeops.ErrDim},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, tt.err) })
	}
}
