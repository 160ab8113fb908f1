package data

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Labs are the columns that were measured at a visit.
var Labs = []string{"bili", "chol", "albumin", "alk.phos", "ast", "platelet", "protime"}

// LabVisits returns the visits, those of a patient in the order of days: patient and day int32 [N],
// stage int32 [N] from 0 to 3, labs float32 [N 7], NaN where not measured.
func LabVisits() (*tdict.TensorDict, error) {
	table, err := Visits()
	if err != nil {
		return nil, err
	}
	var columns []*tensor.Tensor
	for _, name := range Labs {
		x, err := column(table, name)
		if err != nil {
			return nil, err
		}
		columns = append(columns, x)
	}
	labs, err := shapeops.Stack(columns, 1)
	if err != nil {
		return nil, err
	}
	td := tdict.New(len(table) - 1)
	if err := td.Set("labs", labs); err != nil {
		return nil, err
	}
	for key, name := range map[nestedkey.Key]string{"patient": "id", "day": "day", "stage": "stage"} {
		if err := setInts(td, key, table, name); err != nil {
			return nil, err
		}
	}
	stage, err := td.Tensor("stage")
	if err != nil {
		return nil, err
	}
	return td.SortKeys(), arith.SubInto(stage, stage, 1)
}

// setInts sets a column of the table as int32.
func setInts(td *tdict.TensorDict, key nestedkey.Key, table [][]string, name string) error {
	x, err := column(table, name)
	if err == nil {
		x, err = x.Cast(tensor.Int32)
	}
	if err == nil {
		err = td.Set(key, x)
	}
	return err
}

// column returns a column of the table: float32 [N], NaN where it says NA.
func column(table [][]string, name string) (*tensor.Tensor, error) {
	at, values := slices.Index(table[0], name), make([]float32, 0, len(table))
	for i, fields := range table[1:] {
		v, err := strconv.ParseFloat(strings.Replace(fields[at], "NA", "NaN", 1), 32)
		if err != nil {
			return nil, fmt.Errorf("visits: line %d: %w", i+2, err)
		}
		values = append(values, float32(v))
	}
	return tensor.Vector(values...), nil
}
