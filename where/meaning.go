package where

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// number returns the number of a text: the code of a category, or the time of a layout. For other
// specs it returns l. Another text than the categories becomes a number that no code equals.
func (l literal) number(spec tdict.Spec, op string) (literal, error) {
	switch {
	case spec.Categories != nil && op != "==" && op != "!=":
		return l, fmt.Errorf("%w: got %s and the text %s for categories, want == or !=", tensor.ErrDType, op, l)
	case spec.Categories != nil:
		code := strconv.Itoa(slices.Index(spec.Categories, l.text))
		if code == "-1" {
			code = "0.5"
		}
		return literal{aNumber, code}, nil
	case spec.Time != "":
		return l.time(spec)
	}
	return l, nil
}

// isoLayouts are the layouts that a time may have besides the layout of its column.
var isoLayouts = []string{
	time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00",
}

// time returns the number of units from 1970 to the time that l says.
func (l literal) time(spec tdict.Spec) (literal, error) {
	unit, _ := spec.TimeUnit()
	for _, layout := range append([]string{spec.Time}, isoLayouts...) {
		at, err := time.Parse(layout, l.text)
		if err != nil {
			continue
		}
		return literal{aNumber, units(at, unit)}, nil
	}
	want := strconv.Quote(spec.Time)
	if spec.Time != time.DateOnly {
		want += " or " + strconv.Quote(time.DateOnly)
	}
	return l, fmt.Errorf("%w: got the text %s, want a time as %s", tensor.ErrDType, l, want)
}

// units returns the number of units from 1970 to a time. A time between two whole numbers is
// written as the half between them, which compares with whole numbers as the time does.
func units(at time.Time, unit time.Duration) string {
	nanos := new(big.Int).Mul(big.NewInt(at.Unix()), big.NewInt(int64(time.Second)))
	nanos.Add(nanos, big.NewInt(int64(at.Nanosecond())))
	whole, rest := new(big.Int).DivMod(nanos, big.NewInt(int64(unit)), new(big.Int))
	n := new(big.Rat).SetInt(whole)
	if rest.Sign() > 0 {
		n.Add(n, big.NewRat(1, 2))
	}
	return n.FloatString(1)
}
