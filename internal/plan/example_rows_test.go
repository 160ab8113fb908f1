package plan_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

// Values that are kept in a list follow a batch shape through any operation.
func ExampleRows() {
	names := []string{"ann", "bob", "cid"}
	rows, err := plan.NewRows(3)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := plan.Index(rows.Shape(), ix.Take(2, 0, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	picked, err := rows.Execute(plan.NewPass(p))
	for row := range picked.All() {
		fmt.Print(names[row], " ")
	}
	fmt.Println(picked.Shape(), err)
	// Output: cid ann cid [3] <nil>
}

// What several values share is transformed once in an operation.
func ExampleOnce() {
	pass := plan.NewPass(nil)
	layout := new(int) // shared by two values
	for range 2 {
		doubled, err := plan.Once(pass, layout, func() (string, error) {
			fmt.Println("made")
			return "layout", nil
		})
		fmt.Println(doubled, err)
	}
	// Output:
	// made
	// layout <nil>
	// layout <nil>
}

// The lengths of rows add up without a list of the rows, however often one is repeated.
func ExampleRows_Sum() {
	lengths := []int{3, 4}
	rows, err := plan.NewRows(2, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := plan.Expand(rows.Shape(), 2, 1<<40)
	if err != nil {
		fmt.Println(err)
		return
	}
	often, err := rows.Execute(plan.NewPass(p))
	fmt.Println(often.Sum(func(row int) int { return lengths[row] })>>40, err)
	// Output: 7 <nil>
}

// What looks at rows, and not at positions, need not look at one for each time that it is repeated.
func ExampleRows_Distinct() {
	rows, err := plan.NewRows(2, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := plan.Expand(rows.Shape(), 2, 1<<40)
	if err != nil {
		fmt.Println(err)
		return
	}
	often, err := rows.Execute(plan.NewPass(p))
	for row := range often.Distinct() {
		fmt.Println(row, err)
	}
	// Output:
	// 0 <nil>
	// 1 <nil>
}
