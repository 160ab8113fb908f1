package main

import (
	"fmt"
	"math"
	"strconv"

	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// labs are the columns that were measured at a visit.
var labs = []string{"bili", "chol", "albumin", "alk.phos", "ast", "platelet", "protime"}

// A visit is a line of the table.
type visit struct {
	patient, day int32
	labs         []float32 // NaN where not measured
}

// readVisits returns all visits, those of a patient in a row, in the order of days.
func readVisits() ([]visit, error) {
	table, err := data.Visits()
	if err != nil {
		return nil, err
	}
	column := map[string]int{}
	for i, name := range table[0] {
		column[name] = i
	}
	var visits []visit
	for line, fields := range table[1:] {
		v, err := parseVisit(fields, column)
		if err != nil {
			return nil, fmt.Errorf("visits: line %d: %w", line+2, err)
		}
		visits = append(visits, v)
	}
	return visits, nil
}

func parseVisit(fields []string, column map[string]int) (v visit, err error) {
	var numbers [2]int64
	for i, name := range []string{"id", "day"} {
		if numbers[i], err = strconv.ParseInt(fields[column[name]], 10, 32); err != nil {
			return v, err
		}
	}
	v = visit{patient: int32(numbers[0]), day: int32(numbers[1])}
	for _, name := range labs {
		x, text := math.NaN(), fields[column[name]]
		if text != "NA" {
			if x, err = strconv.ParseFloat(text, 64); err != nil {
				return v, err
			}
		}
		v.labs = append(v.labs, float32(x))
	}
	return v, nil
}

// row returns a visit as a dictionary with batch shape [].
func (v visit) row() (*tdict.TensorDict, error) {
	values, err := tensor.From(v.labs, len(labs))
	if err != nil {
		return nil, err
	}
	var list []any
	for _, name := range labs {
		list = append(list, name)
	}
	names, err := tdict.NewData(list)
	if err != nil {
		return nil, err
	}
	return tdict.FromMap(nil, tdict.Entries{
		"patient": tensor.Scalar(v.patient), "day": tensor.Scalar(v.day), "labs/values": values, "labs/names": names,
	})
}
