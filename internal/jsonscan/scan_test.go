package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// value reads a value as encoding/json would with UseNumber, but for numbers.
func value(s *jsonscan.Scanner) (any, error) {
	switch s.Next() {
	case '{':
		out := map[string]any{}
		err := s.Object(func(name []byte) error {
			key := string(name)
			v, err := value(s)
			out[key] = v
			return err
		})
		return out, err
	case '[':
		out := []any{}
		err := s.Array(func(i int) error {
			if i != len(out) {
				return fmt.Errorf("element %d of %d", i, len(out))
			}
			v, err := value(s)
			out = append(out, v)
			return err
		})
		return out, err
	case '"':
		text, err := s.Text()
		return string(text), err
	case 't', 'f':
		return s.Bool()
	case 'n':
		return nil, s.Null()
	}
	return s.Number()
}

// whole reads a text that is one value.
func whole(text string) (any, error) {
	s := jsonscan.New([]byte(text))
	v, err := value(s)
	if err == nil {
		err = s.End()
	}
	return v, err
}

func TestValues(t *testing.T) {
	tests := []struct {
		name, text string
		want       any
	}{
		{"an integer stays one", `-9223372036854775808`, int64(math.MinInt64)},
		{"a fraction makes a float", `1.0`, 1.0},
		{"an exponent too", `1e2`, 100.0},
		{"beyond a float is infinity, as Python reads it", `1e999`, math.Inf(1)},
		{"infinity, as Python writes it", ` -Infinity `, math.Inf(-1)},
		{"escapes", `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`, "\"\\/\b\f\n\r\té😀"},
		{"characters that need no escape", `"é😀"`, "é😀"},
		{"an empty list and an empty object", `[[],{}]`, []any{[]any{}, map[string]any{}}},
		{"white space anywhere", "\t{ \"a\" : [ 1 , true ] \r\n}", map[string]any{"a": []any{int64(1), true}}},
		{"words", `[null,true,false]`, []any{nil, true, false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := whole(tt.text)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	nan, err := whole("NaN")
	require.NoError(t, err)
	require.True(t, math.IsNaN(nan.(float64)))
}

func TestRefusals(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", "byte 0: want a value"},
		{"two values", "1 2", "byte 2: trailing data"},
		{"a comma too many", "[1,]", "byte 3: want a value"},
		{"a comma too few", "[1 2]", "byte 3: want ',' or ']'"},
		{"a name without a value", `{"a"}`, "byte 4: want ':'"},
		{"a name that is none", `{1:2}`, "byte 1: want a string"},
		{"a leading zero", "01", "byte 1: trailing data"},
		{"a fraction without digits", "1.", "byte 0: want a value"},
		{"an exponent without digits", "1e+", "byte 0: want a value"},
		{"an integer too large", "9223372036854775808", "integer does not fit 64 bits"},
		{"a string without end", `"a`, "byte 1: unterminated string"},
		{"a string without end after an escape", `"\n`, "unterminated string"},
		{"an escape without end", `"\`, "unterminated string"},
		{"an escape that is none", `"\x"`, "byte 2: invalid escape"},
		{"a control character", "\"a\n\"", "byte 2: control character in a string"},
		{"a control character after an escape", "\"\\n\n\"", "byte 3: control character"},
		{"half of a character", `"\ud800"`, "half of a surrogate pair"},
		{"the other half", `"\udc00\udc00"`, "half of a surrogate pair"},
		{"hexadecimal digits that are none", `"\u00zz"`, "invalid escape"},
		{"bytes that are not UTF-8", "\"\xff\"", "byte 1: string is not UTF-8"},
		{"bytes that are not UTF-8 after an escape", "\"\\n\xff\"", "string is not UTF-8"},
		{"lists without end", strings.Repeat("[", 2000), "byte 1001: nested more than 1000 deep"},
		{"a word that is none", "nul", "byte 0: want null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := whole(tt.text)
			require.ErrorIs(t, err, jsonscan.ErrSyntax)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestCallersRefuse(t *testing.T) {
	mine := errors.New("mine")
	count := 0
	require.ErrorIs(t, jsonscan.New([]byte("[1,2,3]")).Array(func(int) error { count++; return mine }), mine)
	require.ErrorIs(t, jsonscan.New([]byte(`{"a":1,"b":2}`)).Object(func([]byte) error { count++; return mine }), mine)
	require.Equal(t, 2, count, "no further element is read")
	_, err := jsonscan.New([]byte("1.5")).Int()
	require.ErrorContains(t, err, "want a 64-bit integer")
	_, err = jsonscan.New([]byte("1")).Bool()
	require.ErrorContains(t, err, "want true or false")
}

func TestRawIsTheTextOfAValue(t *testing.T) {
	s := jsonscan.New([]byte(` { "a" :  1 , "b":[ 2,"]" ] }`))
	var texts []string
	require.NoError(t, s.Object(func([]byte) error {
		text, err := s.Raw()
		texts = append(texts, string(text))
		return err
	}))
	require.Equal(t, []string{"1", `[ 2,"]" ]`}, texts)
}

// TestLaterReadsWhereItWas: errors say the byte of the whole text.
func TestLaterReadsWhereItWas(t *testing.T) {
	s := jsonscan.New([]byte(`{"a":  7 , "b":2}`))
	var later []*jsonscan.Scanner
	require.NoError(t, s.Object(func([]byte) error {
		one, err := s.Later()
		later = append(later, one)
		return err
	}))
	require.NoError(t, s.End())
	require.Len(t, later, 2)
	n, err := later[1].Int()
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	require.NoError(t, later[1].End(), "the rest of the text is not that of the value")
	require.ErrorContains(t, later[0].Array(nil), "byte 7: want a list")
}

func TestSkippingAllocatesNothingOfTheValue(t *testing.T) {
	text := []byte(`{"x":[` + strings.Repeat(`{"name":[1,2.5,"text",null,true]},`, 10_000) + `0]}`)
	require.Less(t, testing.AllocsPerRun(3, func() { require.NoError(t, jsonscan.New(text).Skip()) }), 100_000.0)
}

// FuzzScan agrees with encoding/json on what is JSON and what it means, but for what the package
// documents: words for numbers that are none, integers beyond 64 bits, halves of characters, and
// bytes that are not UTF-8, which encoding/json replaces.
func FuzzScan(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.5e3,"x\u00e9"],"b":{}}`, `[[[]]]`, `-0`, `NaN`, `"\ud83d\ude00"`, ` 1 `} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := whole(string(text))
		skipper := jsonscan.New(text)
		failed := skipper.Skip()
		if failed == nil {
			failed = skipper.End()
		}
		if failed != nil && err == nil || failed == nil && err != nil && !excused(err) {
			t.Fatalf("Skip says %v, reading %v", failed, err)
		}
		if err != nil {
			if json.Valid(text) && !excused(err) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("Infinity")) {
			return
		}
		var want any
		if err := json.Unmarshal(text, &want); err != nil {
			if strings.Contains(err.Error(), "cannot unmarshal number") { // beyond a float64
				return
			}
			t.Fatalf("%q: %v", text, err)
		}
		if a, b := printed(got), printed(want); a != b {
			t.Fatalf("%q: got %s, want %s", text, a, b)
		}
	})
}

func excused(err error) bool {
	for _, why := range []string{"does not fit 64 bits", "half of a surrogate pair", "not UTF-8", "deep", "invalid escape"} {
		if strings.Contains(err.Error(), why) {
			return true
		}
	}
	return false
}

// printed returns v as text in which integers and floats look alike.
func printed(v any) string {
	switch v := v.(type) {
	case int64:
		return printed(float64(v))
	case float64:
		return fmt.Sprintf("%q", fmt.Sprint(v+0)) // not -0, which as an integer is 0
	case []any:
		var b strings.Builder
		for _, x := range v {
			b.WriteString(printed(x) + ",")
		}
		return "[" + b.String() + "]"
	case map[string]any:
		m := map[string]string{}
		for k, x := range v {
			m[k] = printed(x)
		}
		return fmt.Sprint(m)
	}
	return fmt.Sprintf("%q", fmt.Sprint(v))
}

// TestLoops reads what Array and Object read, without a callback.
func TestLoops(t *testing.T) {
	var s jsonscan.Scanner
	text := []byte(`{"a\n":[1.50,-Infinity,[]],"b":"\u00e9"}`)
	read := func() {
		s.Reset(text, 3)
		require.NoError(t, s.OpenObject())
		ok, err := s.More(0, '}')
		require.True(t, ok && err == nil)
		name, err := s.Name()
		require.True(t, err == nil && string(name) == "a\n")
		require.NoError(t, s.Open())
		for i, want := range []string{"1.50", "-Infinity"} {
			ok, err = s.More(i, ']')
			require.True(t, ok && err == nil)
			digits, err := s.Digits()
			require.True(t, err == nil && string(digits) == want)
		}
		ok, err = s.More(2, ']')
		require.True(t, ok && err == nil && s.Open() == nil)
		for range 2 {
			ok, err = s.More(0, ']')
			require.True(t, !ok && err == nil)
		}
		ok, err = s.More(1, '}')
		require.True(t, ok && err == nil)
		name, err = s.Name()
		require.True(t, err == nil && string(name) == "b")
		v, err := s.Text()
		require.True(t, err == nil && string(v) == "é")
		ok, err = s.More(2, '}')
		require.True(t, !ok && err == nil && s.End() == nil && s.Pos() == len(text))
	}
	read()
	require.Zero(t, testing.AllocsPerRun(3, read))
	s.Reset(text, 1)
	require.ErrorContains(t, s.Skip(), "byte 8: nested more than 1 deep")
	s.Reset([]byte(`"x"`), 1)
	_, err := s.Digits()
	require.ErrorContains(t, err, "byte 0: want a number")
}

// TestSkippedEscapesAreChecked: hexadecimal digits too.
func TestSkippedEscapesAreChecked(t *testing.T) {
	for _, text := range []string{`"\uzzzz"`, `"\u12"`, `"\u"`, `"\u12`, `"\u`} {
		require.ErrorIs(t, jsonscan.New([]byte(text)).Skip(), jsonscan.ErrSyntax, text)
	}
	require.NoError(t, jsonscan.New([]byte(`"\ud800\u12aF\""`)).Skip())
}
