package data

import (
	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Labs are the columns that were measured at a visit.
var Labs = []string{"bili", "chol", "albumin", "alk.phos", "ast", "platelet", "protime"}

// LabVisits returns the visits, ordered by patient and day: patient and day int32 [N], stage int32
// [N] from 0 to 3, and labs float32 [N 7], NaN where a lab was not measured.
func LabVisits() (*tdict.TensorDict, error) {
	visits, err := Visits()
	if err != nil {
		return nil, err
	}
	labs, err := labsOf(visits)
	if err != nil {
		return nil, err
	}
	td, err := visits.Select("day", "id", "stage")
	if err != nil {
		return nil, err
	}
	if err := td.Rename("id", "patient"); err != nil {
		return nil, err
	}
	if err := td.Set("labs", labs); err != nil {
		return nil, err
	}
	stage, err := td.Tensor("stage")
	if err != nil {
		return nil, err
	}
	return td.SortKeys(), arith.SubInto(stage, stage, 1)
}

// labsOf returns the measurements: float32 [N 7].
func labsOf(visits *tdict.TensorDict) (*tensor.Tensor, error) {
	columns := make([]*tensor.Tensor, len(Labs))
	for i, lab := range Labs {
		var err error
		if columns[i], err = visits.Tensor(nestedkey.Of(lab)); err != nil {
			return nil, err
		}
	}
	return shapeops.Stack(columns, 1)
}
