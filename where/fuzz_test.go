package where_test

import (
	"bytes"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/where"
)

// A truth is one of SQL's three.
type truth int

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth { return map[bool]truth{true: yes}[b] }

// An expr is a random condition and what it is for each row.
type expr struct {
	text string
	rows []truth
}

// A maker makes random conditions on the columns of a dictionary.
type maker struct {
	rng     *rand.Rand
	td      *tdict.TensorDict
	present map[string][]bool
	schema  tdict.Schema // says which leaves have masks
}

const rows = 23

var numbers = []string{"0", "-1", "1", "2.5", "-0.5", "1e2", "0.1", "127", "128", "-128", "255", "255.5", "32767.5",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
	"18446744073709551615", "18446744073709551616", "16777217", "1e39", "65504", "65520", "-1e300", "1e-400"}

var texts = []string{"", "a", "ab", "b", "a\x00", "\xff", "é"}

func newMaker(t testing.TB, seed uint64) *maker {
	m := &maker{rng: rand.New(rand.NewPCG(seed, 1)), td: tdict.New(rows), present: map[string][]bool{}}
	for _, d := range tensor.DTypes() {
		if !d.IsInteger() && !d.IsFloat() {
			continue
		}
		data := make([]byte, rows*d.Size())
		for i := range data {
			data[i] = []byte{0, 0xff, 0x7f, 0x80, byte(m.rng.Uint32())}[m.rng.IntN(5)]
		}
		require.NoError(t, m.td.Set(nestedkey.Key("x/"+d.String()), tensor.Must(tensor.FromBytes(d, data, rows))))
	}
	require.NoError(t, m.td.Set("bit", tensor.Vector(m.bits()...)))
	list := make([]string, rows)
	for i := range list {
		list[i] = texts[m.rng.IntN(len(texts))]
	}
	require.NoError(t, m.td.Set("text", tensor.Must(ragged.FromStrings(list))))
	for _, key := range []string{"x/int8", "x/float32", "bit", "text"} {
		m.present[key] = m.bits()
		mask := nestedkey.Key("there/" + key)
		require.NoError(t, m.td.Set(mask, tensor.Vector(m.present[key]...)))
		m.schema = append(m.schema, tdict.Spec{Key: nestedkey.Key(key), Mask: mask})
	}
	return m
}

func (m *maker) bits() []bool {
	b := make([]bool, rows)
	for i := range b {
		b[i] = m.rng.IntN(3) > 0
	}
	return b
}

func pick[T any](m *maker, list ...T) T { return list[m.rng.IntN(len(list))] }

// expr returns a random condition.
func (m *maker) expr(depth int) expr {
	if depth == 0 {
		return m.leaf()
	}
	switch a := m.expr(depth - 1); m.rng.IntN(4) {
	case 0:
		return expr{"not (" + a.text + ")", each(func(i int) truth { return yes - a.rows[i] })}
	case 1:
		b := m.expr(depth - 1)
		return expr{"(" + a.text + ") and (" + b.text + ")", each(func(i int) truth { return min(a.rows[i], b.rows[i]) })}
	case 2:
		b := m.expr(depth - 1)
		return expr{"(" + a.text + ") or (" + b.text + ")", each(func(i int) truth { return max(a.rows[i], b.rows[i]) })}
	default:
		return a
	}
}

func each(fn func(i int) truth) []truth {
	all := make([]truth, rows)
	for i := range all {
		all[i] = fn(i)
	}
	return all
}

func (m *maker) leaf() expr {
	switch m.rng.IntN(6) {
	case 0:
		key := pick(m, "x/int8", "x/float32", "bit", "text", "x/int64")
		return expr{"missing(" + key + ")", each(func(i int) truth { return truthOf(m.present[key] != nil && !m.present[key][i]) })}
	case 1:
		bits := tensor.Must(tdict.Slice[bool](m.td, "bit"))
		return m.masked("bit", "bit", func(i int) bool { return bits[i] })
	case 2:
		list, o, want := tensor.Must(ragged.Strings(tensor.Must(tdict.Get[*ragged.Tensor](m.td, "text")))), m.op(), pick(m, texts...)
		return m.masked("text", "text"+o+strconv.Quote(want), func(i int) bool {
			return holds(o, bytes.Compare([]byte(list[i]), []byte(want)))
		})
	}
	key := "x/" + tensor.DType.String(pick(m, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Int8, tensor.Int16,
		tensor.Int32, tensor.Int64, tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64))
	x := tensor.Must(m.td.Tensor(nestedkey.Key(key)))
	o, a, b := m.op(), m.number(x), m.number(x)
	if m.rng.IntN(3) == 0 {
		return m.masked(key, key+" in ("+a+","+b+")", func(i int) bool { return compare(x, i, "==", a) || compare(x, i, "==", b) })
	}
	return m.masked(key, key+o+a, func(i int) bool { return compare(x, i, o, a) })
}

func (m *maker) op() string { return pick(m, "==", "!=", "<", "<=", ">", ">=") }

// number returns a literal: an element of x, a number next to one, or another.
func (m *maker) number(x *tensor.Tensor) string {
	at := tensor.Must(x.Narrow(0, m.rng.IntN(rows), 1))
	if x.DType().IsFloat() && m.rng.IntN(2) == 0 {
		v := tensor.Must(tensor.Item[float64](tensor.Must(at.Cast(tensor.Float64)), 0))
		if text := strconv.FormatFloat(v, 'g', -1, 64); !strings.ContainsAny(text, "NI") {
			return text
		}
	} else if x.DType().IsInteger() && m.rng.IntN(2) == 0 {
		return integer(at).Num().String() + pick(m, "", ".0", ".25")
	}
	return pick(m, numbers...)
}

func (m *maker) masked(key, text string, holds func(i int) bool) expr {
	return expr{text, each(func(i int) truth {
		if p := m.present[key]; p != nil && !p[i] {
			return unknown
		}
		return truthOf(holds(i))
	})}
}

// compare compares an element with a number by exact arithmetic; a float with the float that the
// number rounds to.
func compare(x *tensor.Tensor, i int, o, number string) bool {
	at := tensor.Must(x.Narrow(0, i, 1))
	want, _ := new(big.Rat).SetString(number)
	if x.DType().IsFloat() {
		v := tensor.Must(tensor.Item[float64](tensor.Must(at.Cast(tensor.Float64)), 0))
		w, _ := strconv.ParseFloat(number, 64)
		rounded := tensor.Must(tensor.Item[float64](tensor.Must(tensor.Must(tensor.Scalar(w).Cast(x.DType())).Cast(tensor.Float64))))
		if !math.IsInf(rounded, 0) && rounded != 0 {
			w = rounded
		}
		return map[string]bool{"==": v == w, "!=": v != w, "<": v < w, "<=": v <= w, ">": v > w, ">=": v >= w}[o]
	}
	return holds(o, integer(at).Cmp(want))
}

// integer returns the only element of x.
func integer(x *tensor.Tensor) *big.Rat {
	if x.DType() == tensor.Uint64 {
		return new(big.Rat).SetUint64(tensor.Must(tensor.Item[uint64](x, 0)))
	}
	return new(big.Rat).SetInt64(tensor.Must(tensor.Item[int64](tensor.Must(x.Cast(tensor.Int64)), 0)))
}

func holds(o string, order int) bool {
	return map[string]bool{"==": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[o]
}

// checkSeed compares a random condition with what nested loops make of it.
func checkSeed(t testing.TB, seed uint64) {
	m := newMaker(t, seed)
	e := m.expr(int(seed % 5))
	cond, err := where.Parse(e.text)
	require.NoError(t, err, e.text)
	again, err := where.Parse(cond.String())
	require.NoError(t, err, cond.String())
	require.Equal(t, cond, again)
	filter, err := again.BindSchema(m.td, m.schema)
	require.NoError(t, err, e.text)
	got := bits(t, tensor.Must(filter.Mask(m.td)))
	want := ""
	for _, row := range e.rows {
		want += map[truth]string{yes: "T"}[row]
		want += map[truth]string{no: "-", unknown: "-"}[row]
	}
	require.Equal(t, want, got, e.text)
}

func TestOracle(t *testing.T) {
	for seed := range uint64(3000) {
		checkSeed(t, seed)
	}
}

// FuzzMask compares random conditions with nested loops.
func FuzzMask(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkSeed(t, seed) })
}

// FuzzParse checks that what parses prints as text that parses to the same, and that a condition
// either binds and makes a mask, or says why not.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"label == 3 and age > 40", "not (a in ('x', \"\\xff\") or `b``c`)", "nan(f32) or missing(age)",
		"u >= 18446744073709551615.5e-1", "name < 'é'", "meta/ok != true", "((", "x==1e-999"} {
		f.Add(seed)
	}
	td := table(f)
	f.Fuzz(func(t *testing.T, text string) {
		cond, err := where.Parse(text)
		if err != nil {
			require.ErrorIs(t, err, where.ErrSyntax)
			return
		}
		again, err := where.Parse(cond.String())
		require.NoError(t, err)
		require.Equal(t, cond, again)
		filter, err := cond.BindSchema(td, masked)
		if err != nil {
			var keyed *tdict.KeyError
			require.ErrorAs(t, err, &keyed)
			return
		}
		mask, err := filter.Mask(td)
		require.NoError(t, err)
		require.Equal(t, []int{4}, []int(mask.Shape()))
	})
}
