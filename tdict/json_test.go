package tdict_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// everyKind returns a dictionary with a value of each kind, and what JSON has no number for.
func everyKind() *tdict.TensorDict {
	return dict([]int{2},
		entry{"reward", tensor.Vector(0.5, math.NaN())},
		entry{"next/done", tensor.Vector(true, false)},
		entry{"next/z", tensor.Vector(1+2i, complex(0, math.Inf(1)))},
		entry{"km~1h", tensor.Must(tensor.Zeros[uint8](2, 501))},
		entry{"name", tensor.Must(tdict.NewData("<a>"))},
		entry{"none", tensor.Must(tdict.NewData(nil))},
		entry{"row", tensor.Must(tdict.DataFrom([]any{[]any{math.Inf(-1)}, map[string]any{"k": 1}}, 2))},
		entry{"codes", tensor.Must(tdict.NewUnbatched(tensor.Vector[int8](1, 2, 3)))},
	)
}

func TestMarshalJSON(t *testing.T) {
	got, err := json.Marshal(everyKind())
	require.NoError(t, err)
	require.True(t, json.Valid(got))
	require.JSONEq(t, `{"batch":[2],"entries":{
		"reward":{"dtype":"float64","shape":[2],"values":[0.5,"NaN"]},
		"next":{"batch":[2],"entries":{
			"done":{"dtype":"bool","shape":[2],"values":[true,false]},
			"z":{"dtype":"complex128","shape":[2],"values":["(1+2i)","(0+Infi)"]}}},
		"km/h":{"dtype":"uint8","shape":[2,501]},
		"name":{"shape":[2],"value":"<a>"},
		"none":{"shape":[2],"value":null},
		"row":{"shape":[2],"values":[["-Infinity"],{"k":1}]},
		"codes":{"batch":[2],"unbatched":{"dtype":"int8","shape":[3],"values":[1,2,3]}}}}`, string(got))
}

func TestLogValue(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, nil))
	log.Info("m", "td", everyKind())
	for _, want := range []string{
		`td.batch=[2]`, `td.reward="float64 [2] [0.5,\"NaN\"]"`, `td.next/done="bool [2] [true,false]"`,
		`td.km~1h="uint8 [2 501]"`, `td.name="data [2] \"<a>\""`, "td.codes=",
	} {
		require.Contains(t, b.String(), want)
	}
	many := tdict.New()
	for i := range 70 {
		require.NoError(t, many.Set(key(fmt.Sprint("k", i)), tensor.Scalar(1.0)))
	}
	b.Reset()
	log.Info("m", "td", many, "none", (*tdict.TensorDict)(nil))
	require.Contains(t, b.String(), "td.k63=")
	require.NotContains(t, b.String(), "td.k64=")
	require.Contains(t, b.String(), "td.more=6 none=<nil>")
}
