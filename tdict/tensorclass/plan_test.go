package tensorclass_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/tdict/tensorclass"
)

func TestTrip(t *testing.T) {
	type P struct {
		Name  string
		Tags  []int64
		Age   *float32 `td:"age,mask=age_mask"`
		Inner *struct {
			X [2]int8
			S string
		} `td:"in,mask=im"`
		C  complex128
		B  bool
		M  map[string]float64
		Ns struct{ Y []bool }
	}
	a := float32(3)
	rows := []P{{Name: "x", Tags: []int64{1, 2}, Age: &a, C: 3i, B: true, M: map[string]float64{"a": 1.5}}, {Ns: struct{ Y []bool }{[]bool{true}}},
		{Inner: &struct {
			X [2]int8
			S string
		}{[2]int8{1, 2}, "hi"}}}
	td, err := tensorclass.FromRows(rows)
	require.NoError(t, err)
	t.Log(td)
	back, err := tensorclass.ToRows[P](td)
	require.NoError(t, err)
	require.True(t, reflect.DeepEqual(rows, back))
	s, err := tensorclass.SchemaFor[P]()
	require.NoError(t, err)
	t.Log("\n" + s.String())
	require.NoError(t, s.Check(td))
}
