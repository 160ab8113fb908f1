package jsonlists_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// TestListsOfEveryForm writes elements 0, 1, 2 ... and reads them back.
func TestListsOfEveryForm(t *testing.T) {
	tests := []struct {
		name  string
		lists jsonlists.Lists
		want  string
	}{
		{"a scalar", jsonlists.Lists{Data: []byte{7}}, "7"},
		{"dims of even size", jsonlists.Lists{Batch: []int{2, 2}, Data: []byte{0, 1, 2, 3}}, "[[0,1],[2,3]]"},
		{"a level", jsonlists.Lists{Batch: []int{3}, Levels: [][]int64{{0, 2, 2, 3}}, Data: []byte{0, 1, 2}}, "[[0,1],[],[2]]"},
		{"a level without a batch dim", jsonlists.Lists{Levels: [][]int64{{0, 2}}, Data: []byte{0, 1}}, "[0,1]"},
		{"levels within levels", jsonlists.Lists{Batch: []int{2}, Levels: [][]int64{{0, 1, 3}, {0, 2, 2, 3}}, Data: []byte{0, 1, 2}}, "[[[0,1]],[[],[2]]]"},
		{"features", jsonlists.Lists{Batch: []int{1}, Levels: [][]int64{{0, 2}}, Features: []int{2}, Data: []byte{0, 1, 2, 3}}, "[[[0,1],[2,3]]]"},
		{"features without an element", jsonlists.Lists{Batch: []int{2}, Levels: [][]int64{{0, 2, 3}}, Features: []int{1 << 40, 0}}, "[[[],[]],[[]]]"},
		{"a batch without a row", jsonlists.Lists{Batch: []int{1 << 40, 0}, Levels: [][]int64{{0}}, Features: []int{3}}, "[]"},
		{"no value", jsonlists.Lists{Batch: []int{2}, Levels: [][]int64{{0, 0, 0}}, Features: []int{3}}, "[[],[]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.lists.DType = "uint8"
			text := tt.lists.Append(nil)
			require.Equal(t, tt.want, string(text))
			got, err := jsonlists.Read(jsonscan.New(text), "uint8", tt.lists.Batch, len(tt.lists.Levels), tt.lists.Features)
			require.NoError(t, err)
			require.Equal(t, tt.lists.Data, got.Data)
			require.Equal(t, append([][]int64{}, tt.lists.Levels...), got.Levels)
		})
	}
}

// TestInfinitiesInBothSpellings: as they are written here, and as Data writes them.
func TestInfinitiesInBothSpellings(t *testing.T) {
	tests := []struct{ dtypes, text, want string }{
		{"float16 bfloat16 float32 float64", `["Infinity","-Infinity","+Inf","-Inf","NaN",1]`, `["+Inf","-Inf","+Inf","-Inf","NaN",1]`},
		{"complex64 complex128", `["(1+Infinityi)","(-Infinity+0i)","(+Inf-Infi)","(NaN-Infinityi)","Infinity","1"]`, `["(1+Infi)","(-Inf+0i)","(+Inf-Infi)","(NaN-Infi)","(+Inf+0i)","(1+0i)"]`},
	}
	for _, tt := range tests {
		for dtype := range strings.FieldsSeq(tt.dtypes) {
			got, err := jsonlists.Read(jsonscan.New([]byte(tt.text)), dtype, []int{6}, 0, nil)
			require.NoError(t, err, dtype)
			require.Equal(t, tt.want, string(got.Append(nil)), dtype)
		}
	}
	for _, text := range []string{"inf", "infinity", "+Infinity", "Inf", ""} {
		_, err := jsonlists.Read(jsonscan.New([]byte(`"`+text+`"`)), "float32", nil, 0, nil)
		require.ErrorIs(t, err, jsonscan.ErrSyntax, text)
	}
}

// TestNodesSayWhatIsWrong: every refusal is an error of syntax.
func TestNodesSayWhatIsWrong(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a dtype there is not", `{"dtype":"float"}`, `got unknown dtype "float"`},
		{"a field twice", `{"dtype":"int8","dtype":"int8"}`, `duplicate field "dtype"`},
		{"another field", `{"device":"cpu"}`, `unknown field "device"`},
		{"a preview", `{"preview":3}`, "this is a preview, which leaves elements out"},
		{"the elements of a preview", `{"dtype":"int8","shape":[1],"first":[1]}`, "this is a preview, which leaves elements out"},
		{"no dtype", `{"shape":[1],"values":[1]}`, `got no field "dtype"`},
		{"no shape", `{"dtype":"int8","values":[1]}`, `got no field "shape"`},
		{"no values", `{"dtype":"int8","shape":[1]}`, `got no field "values"`},
		{"a negative size", `{"dtype":"int8","shape":[-1],"values":[1]}`, "got size -1, want none negative"},
		{"a size that is not an integer", `{"dtype":"int8","shape":[1.5],"values":[1]}`, "want a 64-bit integer"},
		{"too few entries", `{"dtype":"int8","shape":[2,2],"values":[[1,2]]}`, "got a list of 1, want 2 for dim 0"},
		{"too many entries", `{"dtype":"int8","shape":[2,2],"values":[[1,2,3]]}`, "got a list of more than 2, want 2 for dim 1"},
		{"an entry where there is none", `{"dtype":"int8","shape":[3,0],"values":[[]]}`, "got a list of more than 0, want 0 for dim 0"},
		{"more than the text has", `{"dtype":"int8","shape":[9223372036854775807,2],"values":[]}`, "got a list of 0, want 9223372036854775807 for dim 0"},
		{"lists that are too deep", `{"dtype":"int8","shape":[1],"values":[[1]]}`, "element 0: "},
		{"lists that are not deep enough", `{"dtype":"int8","shape":[1,1],"values":[1]}`, "want a list"},
		{"too many dims", `{"dtype":"int8","shape":[` + strings.Repeat("1,", 400) + `1],"values":[]}`, "got more than 400 dims"},
		{"a ragged shape without brackets", `{"dtype":"int8","shape":"3 *","values":[]}`, `got shape "3 *", want a shape such as "[3 * * 2]"`},
		{"a star after a feature", `{"dtype":"int8","shape":"[3 * 2 *]","values":[]}`, `got shape "[3 * 2 *]"`},
		{"a ragged shape with a negative size", `{"dtype":"int8","shape":"[-3 *]","values":[]}`, `got shape "[-3 *]"`},
		{"features of a dense shape", `{"dtype":"int8","shape":[1],"feature_dims":1,"values":[1]}`, "got feature_dims 1"},
		{"more features than dims", `{"dtype":"int8","shape":"[1]","feature_dims":2,"values":[1]}`, "got feature_dims 2"},
		{"features where stars show them", `{"dtype":"int8","shape":"[1 *]","feature_dims":1,"values":[[1]]}`, "got feature_dims 1"},
		{"beyond the dtype", `{"dtype":"int8","shape":[2],"values":[1,128]}`, "element 1: unexpected JSON: got 128, want an integer from -128 to 127"},
		{"below the dtype", `{"dtype":"uint64","shape":[1],"values":[-1]}`, "got -1, want an integer from 0 to 18446744073709551615"},
		{"a fraction for an integer", `{"dtype":"int64","shape":[1],"values":[1.0]}`, "got 1.0, want an integer from -9223372036854775808 to 9223372036854775807"},
		{"an exponent for an integer", `{"dtype":"int64","shape":[1],"values":[1e2]}`, "got 1e2, want an integer from -9223372036854775808 to 9223372036854775807"},
		{"a number for a bool", `{"dtype":"bool","shape":[1],"values":[1]}`, "want true or false"},
		{"a text for a number", `{"dtype":"int8","shape":[1],"values":["1"]}`, `got "1", want a number`},
		{"null for a number", `{"dtype":"float32","shape":[1],"values":[null]}`, "got null, want a number"},
		{"a float beyond the dtype", `{"dtype":"float32","shape":[1],"values":[1e39]}`, "got 1e39, want a number that float32 holds"},
		{"a half beyond the dtype", `{"dtype":"float16","shape":[1],"values":[65520]}`, "got 65520, want a number that float16 holds"},
		{"a word for a number", `{"dtype":"float64","shape":[1],"values":[NaN]}`, "got NaN, want a number"},
		{"a negative word for a number", `{"dtype":"float64","shape":[1],"values":[-Infinity]}`, "got -Infinity, want a number"},
		{"another text", `{"dtype":"float64","shape":[1],"values":["nan"]}`, `got nan, want a number, "NaN", "+Inf" or "-Inf"`},
		{"a number for a complex one", `{"dtype":"complex64","shape":[1],"values":[1]}`, "want a string"},
		{"what is not complex", `{"dtype":"complex64","shape":[1],"values":["x"]}`, `got x, want a number such as "(1+2i)" that complex64 holds`},
		{"a complex number beyond the dtype", `{"dtype":"complex64","shape":[1],"values":["(1e39+0i)"]}`, `got (1e39+0i), want a number such as "(1+2i)" that complex64 holds`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, err := jsonlists.ReadNode(jsonscan.New([]byte(tt.text)))
			if err == nil {
				_, err = n.Lists()
			}
			require.ErrorIs(t, err, jsonscan.ErrSyntax)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// TestFieldsComeInAnyOrder: also where values come before the fields that say how to read them.
func TestFieldsComeInAnyOrder(t *testing.T) {
	for _, text := range []string{
		`{"values":[1,2],"shape":[2],"dtype":"uint8"}`,
		`{"shape":[2],"values":[1,2],"dtype":"uint8"}`,
		`{"values":[1,2],"feature_dims":1,"dtype":"uint8","shape":"[2]"}`,
	} {
		n, err := jsonlists.ReadNode(jsonscan.New([]byte(text)))
		require.NoError(t, err, text)
		l, err := n.Lists()
		require.NoError(t, err, text)
		require.Equal(t, []byte{1, 2}, l.Data)
		require.Equal(t, []int{2}, append(l.Batch, l.Features...))
	}
}

// TestTextIsWhatJSONReads: strings have the escapes that JSON needs and no others.
func TestTextIsWhatJSONReads(t *testing.T) {
	var all strings.Builder
	for c := range rune(0x3000) {
		all.WriteRune(c)
	}
	text := jsonlists.AppendText(nil, all.String())
	var got string
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, all.String(), got)
	require.Equal(t, `"<\"\\/\n\u0001é>"`, string(jsonlists.AppendText(nil, "<\"\\/\n\x01é>")))
	require.Equal(t, "\"\ufffd\"", string(jsonlists.AppendText(nil, "\xff")))
}
