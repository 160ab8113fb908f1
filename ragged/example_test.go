package ragged_test

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// labs returns the values of visits of three patients: [3 *].
func labs() *ragged.Tensor {
	return tensor.Must(ragged.From[int64]([][]int64{{7, 5}, {}, {1, 9, 4}}))
}

// show prints the lengths of each level, and the values.
func show(x *ragged.Tensor) {
	for level := 1; level <= x.Depth(); level++ {
		fmt.Print("lengths ", tensor.Must(x.Layout().Lengths(level)), " ")
	}
	fmt.Println("values", elements(tensor.Must(x.Values())))
}

func elements(x *tensor.Tensor) []int64 {
	return slices.Collect(tensor.Must(tensor.Elements[int64](tensor.Must(x.Cast(tensor.Int64)))))
}

func ExampleFrom() {
	codes, err := ragged.From[int64]([][][]int64{{{}, {3, 0}}, {{3, 4, 5}}, {{}, {}, {2}}})
	if err != nil {
		panic(err)
	}
	fmt.Println(codes.Layout(), codes.DType())
	show(codes)
	// Output:
	// [3 * *] int64
	// lengths [2 1 3] lengths [0 2 3 0 0 1] values [3 0 3 4 5 2]
}

func ExampleFromOffsets() {
	values := tensor.Vector[int64](7, 5, 1, 9, 4)
	x, err := ragged.FromOffsets(values, []int32{0, 2, 2, 5}) // as in an Arrow list
	if err != nil {
		panic(err)
	}
	show(x)
	fmt.Println(tensor.Must(x.Layout().Offsets32(1)))
	// Output:
	// lengths [2 0 3] values [7 5 1 9 4]
	// [0 2 2 5]
}

func ExampleFromRowIDs() {
	x := tensor.Must(ragged.FromRowIDs(tensor.Vector[int64](7, 5, 1), []int64{0, 0, 2}, 3))
	show(x)
	fmt.Println(tensor.Must(x.Layout().RowIDs(1)))
	// Output:
	// lengths [2 0 1] values [7 5 1]
	// [0 0 2]
}

func ExampleLayout() {
	visits, err := ragged.LayoutOf(shapeops.Shape{3}, []int64{2, 0, 3})
	if err != nil {
		panic(err)
	}
	codes, err := visits.Nest([]int64{0, 1, 3, 3, 4, 4}) // of each of the 5 visits
	if err != nil {
		panic(err)
	}
	fmt.Println(codes, "in", codes.Outer())
	fmt.Println(tensor.Must(codes.Lengths(2)), tensor.Must(codes.NumRows(-1)))
	_, err = visits.Nest([]int64{0, 1, 3})
	fmt.Println(err)
	// Output:
	// [3 * *] in [3 *]
	// [1 2 0 1 0] 4
	// level 2, of 5 rows: bad offsets: got 3 of them, want one for each row and one for the end
}

func ExampleTensor_Row() {
	x := labs()
	show(tensor.Must(x.Range(1, 3)))
	last := tensor.Must(x.Row(-1)) // its rows are the batch
	fmt.Println(last.Shape(), elements(tensor.Must(last.Values())))
	// Output:
	// lengths [0 3] values [1 9 4]
	// [3] [1 9 4]
}

func ExampleTensor_Path() {
	x := labs()
	tail := tensor.Must(x.Path(ix.At(2), ix.Range(1, ix.End)))
	fmt.Println(tail.Shape(), elements(tensor.Must(tail.Values())))
	_, err := x.Path(ix.At(1), ix.At(0))
	fmt.Println(err)
	// Output:
	// [2] [9 4]
	// path: bad index: level 1: got row 0 of 0
}

func ExampleTensor_Index() {
	x := labs()
	show(tensor.Must(x.Index(ix.Range(0, ix.End).Step(2))))
	show(tensor.Must(x.TakeRows(2, 2, 0)))
	// Output:
	// lengths [2 3] values [7 5 1 9 4]
	// lengths [3 3 2] values [1 9 4 1 9 4 7 5]
}

func ExampleTensor_SetIndex() {
	x := labs()
	one := tensor.Must(ragged.From[int64]([][]int64{{0}}))
	if err := x.SetIndex(one, ix.Range(1, 3)); err != nil { // rows may change their lengths
		panic(err)
	}
	show(x)
	// Output:
	// lengths [2 1 1] values [7 5 0 0]
}

func ExampleTensor_IndexLevel() {
	x := labs()
	show(tensor.Must(x.IndexLevel(1, ix.Range(-2, ix.End))))                  // the last two of each row
	show(tensor.Must(x.IndexLevel(1, ix.Range(0, ix.End).Step(2))))           // every other one
	show(tensor.Must(tensor.Must(x.TakeRows(0, 2)).IndexLevel(1, ix.At(-1)))) // the last, which every row must have
	// Output:
	// lengths [2 0 2] values [7 5 9 4]
	// lengths [1 0 2] values [7 1 4]
	// values [5 4]
}

func ExampleTensor_WindowLevel() {
	starts := tensor.Vector[int64](1, 0, -2)
	show(tensor.Must(labs().WindowLevel(1, starts, 2)))
	// Output:
	// lengths [1 0 2] values [5 9 4]
}

func ExampleTensor_MaskedSelect() {
	x := labs()
	large := tensor.Must(x.MapValues(func(v *tensor.Tensor) (*tensor.Tensor, error) { return arith.Greater(v, 4) }))
	show(tensor.Must(x.MaskedSelect(large)))
	// Output:
	// lengths [2 0 1] values [7 5 9]
}

func ExampleTensor_FlattenLevel() {
	codes := tensor.Must(ragged.From[int64]([][][]int64{{{1}, {2, 3}}, {{4}}}))
	perVisit := tensor.Must(codes.Counts(2))
	all := tensor.Must(codes.FlattenLevel(2)) // all codes of each patient
	show(all)
	show(tensor.Must(all.UnflattenLevel(perVisit)))
	// Output:
	// lengths [3 1] values [1 2 3 4]
	// lengths [2 1] lengths [1 2 1] values [1 2 3 4]
}

func ExampleTensor_Group() {
	show(tensor.Must(labs().Group(1, 2)))
	// Output:
	// lengths [1 2] lengths [2 0 3] values [7 5 1 9 4]
}

func ExampleTensor_Reduce() {
	x := labs()
	show(tensor.Must(x.Reduce(-1, arith.Sum[*tensor.Tensor])))
	show(tensor.Must(x.CumSum(-1)))
	_, err := x.Reduce(-1, arith.Max[*tensor.Tensor])
	fmt.Println(err)
	// Output:
	// values [12 0 14]
	// lengths [2 0 3] values [7 12 1 10 14]
	// reduce: level 1, row 1: max: no element to choose from
}

func ExampleTensor_Broadcast() {
	sums := tensor.Must(labs().Reduce(1, arith.Sum[*tensor.Tensor]))
	show(tensor.Must(sums.Broadcast(labs().Layout())))
	// Output:
	// lengths [2 0 3] values [12 12 14 14 14]
}

func ExampleTensor_Sort() {
	x := labs()
	show(tensor.Must(x.Sort(arith.SortOptions{})))
	order := tensor.Must(x.ArgSort(arith.SortOptions{}))
	show(order)
	show(tensor.Must(x.Pick(order)))
	// Output:
	// lengths [2 0 3] values [5 7 1 4 9]
	// lengths [2 0 3] values [1 0 0 2 1]
	// lengths [2 0 3] values [5 7 1 4 9]
}

func ExampleTensor_DensifyMasked() {
	dense, masks, err := labs().DensifyMasked(ragged.DensifyOptions{Fill: -1, Left: true})
	if err != nil {
		panic(err)
	}
	fmt.Println(dense)
	fmt.Println(masks[0])
	// Output:
	// int64 [3 3]
	// [[-1  7  5]
	//  [-1 -1 -1]
	//  [ 1  9  4]]
	// bool [3 3]
	// [[false  true  true]
	//  [false false false]
	//  [ true  true  true]]
}

// The row of three numbers is cut away with the second visit, so the longest that remains has two.
func ExampleTensor_Densify_widths() {
	visits := tensor.Must(ragged.From[int64]([][][]int64{{{1, 2}, {3, 4, 5}}, {{6}}}))
	fmt.Println(visits.Densify(ragged.DensifyOptions{Widths: []int{1}}))
	// Output:
	// int64 [2 1 2]
	// [[[1 2]]
	//
	//  [[6 0]]] <nil>
}

func ExampleFromMasks() {
	dense, masks, err := labs().DensifyMasked(ragged.DensifyOptions{})
	if err != nil {
		panic(err)
	}
	show(tensor.Must(ragged.FromMasks(dense, masks...)))
	// Output:
	// lengths [2 0 3] values [7 5 1 9 4]
}

func ExampleConcatLevel() {
	x := labs()
	show(tensor.Must(ragged.ConcatLevel([]*ragged.Tensor{x, x}, 1))) // side by side in each row
	show(tensor.Must(ragged.ConcatLevel([]*ragged.Tensor{x, x}, 0))) // one after the other
	// Output:
	// lengths [4 0 6] values [7 5 7 5 1 9 4 1 9 4]
	// lengths [2 0 3 2 0 3] values [7 5 1 9 4 7 5 1 9 4]
}

func ExampleVstack() {
	x := labs()
	show(tensor.Must(ragged.Vstack([]*ragged.Tensor{tensor.Must(x.Row(2)), tensor.Must(x.Row(0))})))
	// Output:
	// lengths [3 2] values [1 9 4 7 5]
}
