package tensorclass_test

import (
	"math/big"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tdict/tensorclass"
	"github.com/go-tensordict/tensordict/tensor"
)

type (
	base  struct{ ID int64 }
	Base  struct{ ID int64 }
	codes []int64
	Mood  uint8

	listOfItself []listOfItself
	list         struct {
		Value int64
		Next  *list `td:"next,mask=more"`
	}
	frame struct {
		_      tensorclass.Class       `td:"my.module.Frame"`
		Pixels tensorclass.Leaf[uint8] `td:"obs/pixels" shape:"2,?"`
		Action tensorclass.Leaf[int64]
		Reward *tensor.Tensor       `td:",optional"`
		Info   struct{ Seed int64 } `td:"info,data"`
		Next   *frame               `td:"next,optional"`
	}
	pair[A, B any] struct {
		First  A
		Second B
	}
)

func schema[T any]() (string, error) {
	s, err := tensorclass.SchemaFor[T]()
	return s.Diff(nil), err
}

// TestSchemas lists what types map to.
func TestSchemas(t *testing.T) {
	tests := []struct {
		name string
		of   func() (string, error)
		want string
	}{
		{"keys are names in lower case", schema[struct{ NextObs, B bool }], `"nextobs": tensor bool [], other none
"b": tensor bool [], other none`},
		{"a tag names a key that is nested", schema[struct {
			A float32 `td:"obs/a"`
		}], `"obs/a": tensor float32 [], other none`},
		{"a tag leaves a field out", schema[struct {
			A float32
			b chan int `td:"-"`
		}], `"a": tensor float32 [], other none`},
		{"an option without a key", schema[struct {
			A float32 `td:",optional"`
		}], `"a": tensor float32 [], optional, other none`},
		{"embedded structs are inline", schema[struct {
			base
			A int8
		}], `"id": tensor int64 [], other none
"a": tensor int8 [], other none`},
		{"an embedded struct with a key is not", schema[struct {
			Base `td:"base"`
		}], `"base/id": tensor int64 [], other none`},
		{"structs nest", schema[struct{ Obs struct{ Pos [2]float32 } }], `"obs/pos": tensor float32 [2], other none`},
		{"arrays of arrays", schema[struct{ A [2][3]bool }], `"a": tensor bool [2 3], other none`},
		{"types with a name", schema[struct {
			M Mood
			C codes
		}], `"m": tensor uint8 [], other none
"c": ragged int64 [*], other none`},
		{"16-bit floats", schema[struct {
			A tensor.F16
			B []tensor.BF16
			C uint16
		}], `"a": tensor float16 [], other none
"b": ragged bfloat16 [*], other none
"c": tensor uint16 [], other none`},
		{"slices of arrays have features", schema[struct{ A [][2]int8 }], `"a": ragged int8 [* 2], other none`},
		{"strings are text, bytes are not", schema[struct {
			S string
			B []byte
		}], `"s": text [], other none
"b": ragged uint8 [*], other none`},
		{"a pointer has a mask", schema[struct {
			A *float64 `td:"a,mask=m"`
		}], `"a": tensor float64 [], mask m, other none
"m": tensor bool [], other none`},
		{"masks lie beside what they are of", schema[struct {
			In struct {
				A *struct{ S string } `td:"a,mask=m"`
			}
		}], `"in/a/s": text [], mask in/m, other none
"in/m": tensor bool [], other none`},
		{"all else is data", schema[struct {
			A map[string]int
			B any
			C []string
			D []struct{ X int }
			E time.Time
			F [][]float32
			G big.Int
			H int `td:",data"`
			I [2]string
			J [][2]string
			K listOfItself
			L *big.Int `td:"l,data"`
			M struct {
				out chan int
				C   chan int `json:"-"`
			} `td:"m,data"`
		}], `"a": data [], other none
"b": data [], other none
"c": data [], other none
"d": data [], other none
"e": data [], other none
"f": data [], other none
"g": data [], other none
"h": data [], other none
"i": data [], other none
"j": data [], other none
"k": data [], other none
"l": data [], other none
"m": data [], other none`},
		{"generic types", schema[pair[int8, pair[string, bool]]], `"first": tensor int8 [], other none
"second/first": text [], other none
"second/second": tensor bool [], other none`},
		{"columns", schema[struct {
			A tensorclass.Leaf[float32] `shape:"3,?"`
			B *tensor.Tensor
			C *ragged.Tensor `shape:"*,*,2"`
			D *ragged.Tensor `td:",optional"`
			E *tdict.Data
			F *tdict.Unbatched `shape:"4"`
			G *struct{ X tensorclass.Leaf[bool] }
		}], `"a": tensor float32 [3 ?], other none
"b": tensor ? [], other none
"c": ragged ? [* * 2], other none
"d": ragged ? [*], optional, other none
"e": data [], other none
"f": unbatched ? [4], other none
"g": dictionary [], other none
"g/x": tensor bool [], other none`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.of()
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

// TestTypesThatDoNotMap lists structs of rows, and of columns, that are refused, with what the
// error names.
func TestTypesThatDoNotMap(t *testing.T) {
	for name, of := range map[string]func() (string, error){
		"no struct":             schema[int64],
		"a pointer to a struct": schema[*Base],
		"an interface":          schema[any],
		"no field":              schema[struct{}],
		"no field within":       schema[struct{ A struct{} }],
		"all fields left out": schema[struct {
			A int64 `td:"-"`
		}],
		"two fields of one key": schema[struct {
			A int64
			B int64 `td:"a"`
		}],
		"an embedded field of the same key": schema[struct {
			Base
			Id int64
		}],
		"a mask of the same key": schema[struct {
			A int64
			B *int64 `td:"b,mask=a"`
		}],
		"an entry within an entry": schema[struct {
			A int64
			B int64 `td:"a/b"`
		}],
		"int":                      schema[struct{ A int }],
		"uint":                     schema[struct{ A [3]uint }],
		"int in a slice":           schema[struct{ A []int }],
		"int in a struct":          schema[struct{ In struct{ A int } }],
		"a channel":                schema[struct{ A chan int }],
		"a function":               schema[struct{ A func() }],
		"a channel in a list":      schema[struct{ A []struct{ C chan int } }],
		"keys of a map":            schema[struct{ A map[int]string }],
		"an embedded pointer":      schema[struct{ *Base }],
		"not exported":             schema[struct{ a int64 }],
		"blank":                    schema[struct{ _, A int64 }],
		"a pointer without a mask": schema[struct{ A *int64 }],
		"a mask of no pointer": schema[struct {
			A int64 `td:"a,mask=m"`
		}],
		"a mask and optional": schema[struct {
			A *int64 `td:"a,mask=m,optional"`
		}],
		"a mask that is the field": schema[struct {
			A *int64 `td:"a,mask=a"`
		}],
		"a pointer to a pointer": schema[struct {
			A **int64 `td:"a,mask=m"`
		}],
		"a row that holds itself":  schema[list],
		"a view that holds itself": schema[frame],
		"a misspelt option": schema[struct {
			A int64 `td:"a,optionl"`
		}],
		"an option twice": schema[struct {
			A int64 `td:"a,optional,optional"`
		}],
		"two masks": schema[struct {
			A *int64 `td:"a,mask=m,mask=n"`
		}],
		"two classes": schema[struct {
			_ tensorclass.Class `td:"a"`
			_ tensorclass.Class `td:"b"`
			A int64
		}],
		"a pointer to what is data":      schema[struct{ A *time.Time }],
		"a pointer to what does not map": schema[struct{ A *url.URL }],
		"a channel beside another": schema[struct {
			A struct{ c, C chan int } `td:"a,data"`
		}],
		"an empty option": schema[struct {
			A int64 `td:"a,"`
		}],
		"a misspelt key": schema[struct {
			A int64 `td:"a~b"`
		}],
		"a misspelt shape": schema[struct {
			A tensorclass.Leaf[int8] `shape:"3x4"`
		}],
		"a negative shape": schema[struct {
			A tensorclass.Leaf[int8] `shape:"-1"`
		}],
		"a level after a size": schema[struct {
			A *ragged.Tensor `shape:"3,*"`
		}],
		"levels of a tensor": schema[struct {
			A *tensor.Tensor `shape:"*"`
		}],
		"a shape of an array": schema[struct {
			A [3]int8 `shape:"3"`
		}],
		"an optional struct": schema[struct {
			A Base `td:"a,optional"`
		}],
		"a class without a name": schema[struct {
			_ tensorclass.Class
			A int64
		}],
		"a class that is no name": schema[struct {
			_ tensorclass.Class `td:"a'b"`
			A int64
		}],
		"columns and elements": schema[struct {
			A tensorclass.Leaf[int8]
			B int8
		}],
		"elements behind a pointer of columns": schema[struct{ A *Base }],
		"columns in a row":                     func() (string, error) { return "", testkit.Err(tensorclass.FromRows([]frame{})) },
		"elements in a view":                   func() (string, error) { return "", testkit.Err(tensorclass.View[step](tdict.New())) },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := of()
			testkit.Fails(t, tensorclass.ErrType, err)
		})
	}
}

// TestFirstUse makes the plan of a type from several goroutines.
func TestFirstUse(t *testing.T) {
	type local struct {
		A int64
		B struct{ C []string }
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			td, err := tensorclass.FromRows([]local{{A: 1}})
			if err != nil || td.NumEntries() != 2 {
				t.Error(err)
			}
			if err := testkit.Err(tensorclass.View[list](td)); err == nil {
				t.Error("want an error")
			}
		})
	}
	wg.Wait()
}
