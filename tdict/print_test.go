package tdict_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestPrint(t *testing.T) {
	td := dict([]int{2},
		entry{"a", tensor.Must(tensor.Must(tensor.Zeros[float32](3, 2)).Transpose(0, 1))},
		entry{"b/c~1d", tensor.Vector(true, false)},
		entry{"b/e", tdict.New(2, 0)},
	)
	tensor.Must(td.Dict("b")).Lock()
	tests := []struct {
		name, format string
		value        any
		want         string
	}{
		{"empty", "%v", tdict.New(), "TensorDict(\n    fields={},\n    batch=[])"},
		{"empty, in full", "%+v", tdict.New(3), "TensorDict(\n    fields={},\n    batch=[3],\n    locked=false)"},
		{"nil", "%v", (*tdict.TensorDict)(nil), "<nil>"},
		{"another verb", "%d", tdict.New(), "%!d(*tdict.TensorDict)"},
		{"nested", "%v", td, `TensorDict(
    fields={
        a: Tensor(shape=[2 3], dtype=float32),
        b: TensorDict(
            fields={
                c~1d: Tensor(shape=[2], dtype=bool),
                e: TensorDict(
                    fields={},
                    batch=[2 0])},
            batch=[2])},
    batch=[2])`},
		{"nested, in full", "%+v", td, `TensorDict(
    fields={
        a: Tensor(shape=[2 3], dtype=float32, bytes=24, memory=go, strides=[1 2]),
        b: TensorDict(
            fields={
                c~1d: Tensor(shape=[2], dtype=bool, bytes=2, memory=go),
                e: TensorDict(
                    fields={},
                    batch=[2 0],
                    locked=true)},
            batch=[2],
            locked=true)},
    batch=[2],
    locked=false)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, fmt.Sprintf(tt.format, tt.value))
		})
	}
	require.Equal(t, fmt.Sprintf("%v", td), td.String())
	require.Equal(t, td.String(), fmt.Sprintf("%s", td))
}
