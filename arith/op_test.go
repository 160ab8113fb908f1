package arith_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

type tens = *tensor.Tensor

// An elementVerb is one of the package's that works on each element by itself, by the number of its
// operands, with the forms that it has.
type elementVerb struct {
	name   string
	others int
	run    func(xs []tens) (tens, error)
	into   func(dst tens, xs []tens) error
	mask   bool // its results are bool, so that it has no form in place
}

// inPlace writes to the first operand.
func (v elementVerb) inPlace(xs []tens) error { return v.into(xs[0], xs) }

// masks returns v, whose results are bool.
func (v elementVerb) masks() elementVerb {
	v.mask = true
	return v
}

func unary(name string, f func(tens) (tens, error), into func(_, _ tens) error) elementVerb {
	return elementVerb{name, 0, func(x []tens) (tens, error) { return f(x[0]) },
		func(d tens, x []tens) error { return into(d, x[0]) }, false}
}

func binary(name string, f func(tens, any) (tens, error), into func(tens, tens, any) error) elementVerb {
	return elementVerb{name, 1, func(x []tens) (tens, error) { return f(x[0], x[1]) },
		func(d tens, x []tens) error { return into(d, x[0], x[1]) }, false}
}

func ternary(name string, f func(tens, any, any) (tens, error), into func(tens, tens, any, any) error) elementVerb {
	return elementVerb{name, 2, func(x []tens) (tens, error) { return f(x[0], x[1], x[2]) },
		func(d tens, x []tens) error { return into(d, x[0], x[1], x[2]) }, false}
}

var elementVerbs = []elementVerb{
	binary("add", arith.Add[tens], arith.AddInto[tens]),
	binary("sub", arith.Sub[tens], arith.SubInto[tens]),
	binary("mul", arith.Mul[tens], arith.MulInto[tens]),
	binary("div", arith.Div[tens], arith.DivInto[tens]),
	binary("floor div", arith.FloorDiv[tens], arith.FloorDivInto[tens]),
	binary("mod", arith.Mod[tens], arith.ModInto[tens]),
	binary("pow", arith.Pow[tens], arith.PowInto[tens]),
	binary("minimum", arith.Minimum[tens], arith.MinimumInto[tens]),
	binary("maximum", arith.Maximum[tens], arith.MaximumInto[tens]),
	unary("neg", arith.Neg[tens], arith.NegInto[tens]),
	unary("abs", arith.Abs[tens], arith.AbsInto[tens]),
	unary("sign", arith.Sign[tens], arith.SignInto[tens]),
	unary("relu", arith.Relu[tens], arith.ReluInto[tens]),
	unary("floor", arith.Floor[tens], arith.FloorInto[tens]),
	unary("ceil", arith.Ceil[tens], arith.CeilInto[tens]),
	unary("round", arith.Round[tens], arith.RoundInto[tens]),
	unary("trunc", arith.Trunc[tens], arith.TruncInto[tens]),
	unary("sqrt", arith.Sqrt[tens], arith.SqrtInto[tens]),
	unary("exp", arith.Exp[tens], arith.ExpInto[tens]),
	unary("log", arith.Log[tens], arith.LogInto[tens]),
	unary("tanh", arith.Tanh[tens], arith.TanhInto[tens]),
	unary("sigmoid", arith.Sigmoid[tens], arith.SigmoidInto[tens]),
	ternary("clamp", arith.Clamp[tens], arith.ClampInto[tens]),
	ternary("lerp", arith.Lerp[tens], arith.LerpInto[tens]),
	ternary("add c mul", arith.AddCMul[tens], arith.AddCMulInto[tens]),
	binary("equal", arith.Equal[tens], arith.EqualInto[tens]).masks(),
	binary("not equal", arith.NotEqual[tens], arith.NotEqualInto[tens]).masks(),
	binary("less", arith.Less[tens], arith.LessInto[tens]).masks(),
	binary("less equal", arith.LessEqual[tens], arith.LessEqualInto[tens]).masks(),
	binary("greater", arith.Greater[tens], arith.GreaterInto[tens]).masks(),
	binary("greater equal", arith.GreaterEqual[tens], arith.GreaterEqualInto[tens]).masks(),
	unary("is nan", arith.IsNaN[tens], arith.IsNaNInto[tens]).masks(),
	unary("is finite", arith.IsFinite[tens], arith.IsFiniteInto[tens]).masks(),
	binary("and", arith.And[tens], arith.AndInto[tens]),
	binary("or", arith.Or[tens], arith.OrInto[tens]),
	binary("xor", arith.Xor[tens], arith.XorInto[tens]),
	unary("not", arith.Not[tens], arith.NotInto[tens]),
}

// A number is an element of any dtype, as the tests compute with it.
type number struct {
	f    float64 // of a floating-point dtype
	c    complex128
	n    *big.Int // of an integer dtype or bool
	bool bool
}

// naively does an operation on numbers of one dtype with the plainest arithmetic there is, or
// returns false if the operation is not for the dtype.
func naively(name string, d tensor.DType, x []number) (out number, ok bool, err error) {
	switch {
	case d.IsFloat():
		out, ok = naiveFloat(name, d, x)
	case d.IsComplex():
		out, ok = naiveComplex(name, d, x)
	case d == tensor.Bool:
		out, ok = naiveBool(name, x)
	default:
		out, ok, err = naiveInteger(name, d, x)
	}
	return out, ok, err
}

func naiveFloat(name string, d tensor.DType, x []number) (number, bool) {
	a, b, c := x[0].f, 0.0, 0.0
	if len(x) > 1 {
		b = x[1].f
	}
	if len(x) > 2 {
		c = x[2].f
	}
	truth := func(v bool) (number, bool) { return number{bool: v}, true }
	switch name {
	case "equal":
		return truth(a == b)
	case "not equal":
		return truth(a != b)
	case "less":
		return truth(a < b)
	case "less equal":
		return truth(a <= b)
	case "greater":
		return truth(a > b)
	case "greater equal":
		return truth(a >= b)
	case "is nan":
		return truth(math.IsNaN(a))
	case "is finite":
		return truth(!math.IsNaN(a) && !math.IsInf(a, 0))
	case "lerp", "add c mul":
		if d == tensor.Float64 {
			return number{f: naiveMix(name, a, b, c)}, true
		}
		return number{f: float64(naiveMix(name, float32(a), float32(b), float32(c)))}, true
	}
	fns := map[string]func() float64{
		"add": func() float64 { return a + b }, "sub": func() float64 { return a - b }, "mul": func() float64 { return a * b },
		"div": func() float64 { return a / b }, "mod": func() float64 { return pythonMod(a, b) },
		"floor div": func() float64 { return pythonFloorDiv(a, b) }, "pow": func() float64 { return math.Pow(a, b) },
		"minimum": func() float64 { return lower(a, b) }, "maximum": func() float64 { return higher(a, b) },
		"neg": func() float64 { return -a }, "abs": func() float64 { return math.Abs(a) },
		"relu": func() float64 { return higher(a, 0) }, "floor": func() float64 { return math.Floor(a) },
		"ceil": func() float64 { return math.Ceil(a) }, "round": func() float64 { return math.RoundToEven(a) },
		"trunc": func() float64 { return math.Trunc(a) }, "sqrt": func() float64 { return math.Sqrt(a) },
		"exp": func() float64 { return math.Exp(a) }, "log": func() float64 { return math.Log(a) },
		"tanh": func() float64 { return math.Tanh(a) }, "sigmoid": func() float64 { return 1 / (1 + math.Exp(-a)) },
		"clamp": func() float64 { return lower(higher(a, b), c) },
		"sign": func() float64 {
			if a > 0 {
				return 1
			} else if a < 0 {
				return -1
			}
			return a
		},
	}
	fn, ok := fns[name]
	if !ok {
		return number{}, false
	}
	return number{f: fn()}, true
}

// naiveMix rounds each product to T, in which a dtype is computed.
func naiveMix[T float32 | float64](name string, a, b, c T) T {
	switch {
	case name == "add c mul":
		product := T(b * c)
		return a + product
	case c == 0:
		return a
	case c == 1:
		return b
	case c < 0.5:
		part := T(c * (b - a))
		return a + part
	}
	rest := T((b - a) * (1 - c))
	return b - rest
}

// lower and higher are math.Min and Max, but that NaN wins over infinities too.
func lower(a, b float64) float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.NaN()
	}
	return math.Min(a, b)
}

func higher(a, b float64) float64 { return -lower(-a, -b) }

func pythonMod(a, b float64) float64 {
	r := math.Mod(a, b)
	if r != 0 && math.Signbit(r) != math.Signbit(b) {
		r += b
	}
	return r
}

// pythonFloorDiv is the floored quotient of what is finite, exactly.
func pythonFloorDiv(a, b float64) float64 {
	if b == 0 || math.IsNaN(a) || math.IsNaN(b) || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return math.NaN() // not compared
	}
	q := new(big.Rat).Quo(new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b))
	n := new(big.Int).Div(q.Num(), q.Denom()) // Euclidean: of a positive denominator, floored
	f, _ := new(big.Float).SetInt(n).Float64()
	return f
}

func naiveComplex(name string, d tensor.DType, x []number) (number, bool) {
	a, b, c := x[0].c, complex128(0), complex128(0)
	if len(x) > 1 {
		b = x[1].c
	}
	if len(x) > 2 {
		c = x[2].c
	}
	rounded := func(v complex128) complex128 {
		if d == tensor.Complex64 {
			return complex128(complex64(v))
		}
		return v
	}
	switch name {
	case "add":
		return number{c: a + b}, true
	case "sub":
		return number{c: a - b}, true
	case "mul":
		return number{c: rounded(a * b)}, true
	case "div":
		return number{c: rounded(a / b)}, true
	case "add c mul":
		return number{c: rounded(a + rounded(b*c))}, true
	case "neg":
		return number{c: -a}, true
	case "equal":
		return number{bool: a == b}, true
	case "not equal":
		return number{bool: a != b}, true
	case "is nan":
		return number{bool: math.IsNaN(real(a)) || math.IsNaN(imag(a))}, true
	case "is finite":
		return number{bool: real(a)-real(a) == 0 && imag(a)-imag(a) == 0}, true
	}
	return number{}, false
}

func naiveBool(name string, x []number) (number, bool) {
	a, b := x[0].bool, false
	if len(x) > 1 {
		b = x[1].bool
	}
	v, ok := map[string]bool{"and": a && b, "or": a || b, "xor": a != b, "not": !a, "equal": a == b, "not equal": a != b,
		"is nan": false, "is finite": true}[name]
	return number{bool: v}, ok
}

func naiveInteger(name string, d tensor.DType, x []number) (out number, ok bool, err error) {
	a, b, c := x[0].n, new(big.Int), new(big.Int)
	if len(x) > 1 {
		b = x[1].n
	}
	if len(x) > 2 {
		c = x[2].n
	}
	order := a.Cmp(b)
	if v, is := map[string]bool{"equal": order == 0, "not equal": order != 0, "less": order < 0, "less equal": order <= 0,
		"greater": order > 0, "greater equal": order >= 0, "is nan": false, "is finite": true}[name]; is {
		return number{bool: v}, true, nil
	}
	n := new(big.Int)
	low, high := rangeOf(d)
	beyond := func() bool { return n.Cmp(low) < 0 || n.Cmp(high) > 0 }
	switch name {
	case "add":
		n.Add(a, b)
	case "sub":
		n.Sub(a, b)
	case "mul":
		n.Mul(a, b)
	case "floor div", "mod":
		if b.Sign() == 0 {
			return number{}, true, arith.ErrDivide
		}
		m := new(big.Int)
		n.DivMod(a, b, m)
		if m.Sign() != 0 && b.Sign() < 0 { // Euclidean to floored
			n.Sub(n, big.NewInt(1))
			m.Add(m, b)
		}
		if name == "mod" {
			n = m
		}
	case "pow":
		if b.Sign() < 0 {
			return number{}, true, tensor.ErrDType
		}
		if a.CmpAbs(big.NewInt(1)) > 0 && b.Cmp(big.NewInt(64)) > 0 {
			return number{}, true, tensor.ErrDType
		}
		n.Exp(a, b, nil)
		if a.CmpAbs(big.NewInt(1)) <= 0 {
			n.Set(a)
			if b.Sign() == 0 || a.Sign() < 0 && b.Bit(0) == 0 {
				n.SetInt64(1)
			}
		}
	case "add c mul":
		if n.Mul(b, c); beyond() {
			return number{}, true, tensor.ErrDType
		}
		n.Add(a, n)
	case "minimum":
		n = least(a, b)
	case "maximum":
		n = greatest(a, b)
	case "clamp":
		n = least(greatest(a, b), c)
	case "neg":
		n.Neg(a)
	case "abs":
		n.Abs(a)
	case "sign":
		n.SetInt64(int64(a.Sign()))
	case "relu":
		n = greatest(a, n)
	case "floor", "ceil", "round", "trunc":
		n = a
	case "and":
		n.And(a, b)
	case "or":
		n.Or(a, b)
	case "xor":
		n.Xor(a, b)
	case "not":
		if n.Not(a); d <= tensor.Uint64 {
			n.Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*d.Size())))
		}
	default:
		return number{}, false, nil
	}
	if beyond() {
		return number{}, true, tensor.ErrDType
	}
	return number{n: n}, true, nil
}

func least(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func greatest(a, b *big.Int) *big.Int {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// rangeOf returns the least and the greatest integer of a dtype.
func rangeOf(d tensor.DType) (low, high *big.Int) {
	bits := uint(8 * d.Size())
	one := big.NewInt(1)
	if d <= tensor.Uint64 {
		return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
	}
	half := new(big.Int).Lsh(one, bits-1)
	return new(big.Int).Neg(half), new(big.Int).Sub(half, one)
}

// numbersOf returns the elements of a tensor.
func numbersOf(t testing.TB, x tens) (all []number) {
	t.Helper()
	switch d := x.DType(); {
	case d.IsFloat():
		for v := range tensor.Must(tensor.Elements[float64](tensor.Must(x.Cast(tensor.Float64)))) {
			all = append(all, number{f: v})
		}
	case d.IsComplex():
		for v := range tensor.Must(tensor.Elements[complex128](tensor.Must(x.Cast(tensor.Complex128)))) {
			all = append(all, number{c: v})
		}
	case d == tensor.Bool:
		for v := range tensor.Must(tensor.Elements[bool](x)) {
			all = append(all, number{bool: v})
		}
	case d == tensor.Uint64:
		for v := range tensor.Must(tensor.Elements[uint64](x)) {
			all = append(all, number{n: new(big.Int).SetUint64(v)})
		}
	default:
		for v := range tensor.Must(tensor.Elements[int64](tensor.Must(x.Cast(tensor.Int64)))) {
			all = append(all, number{n: big.NewInt(v)})
		}
	}
	return all
}

// unusual are numbers at the edges of dtypes.
var unusual = []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxInt64, math.MinInt64, math.MaxUint64, 65504, 1e-7, -0.5, 128, -128, 255}

// drawn returns a tensor of random elements, small ones mostly, in a random layout.
func drawn(r *rand.Rand, d tensor.DType, shape []int) tens {
	wide := make([]float64, naive.Size(shape)*2)
	for i := range wide {
		switch r.IntN(12) {
		case 0:
			wide[i] = unusual[r.IntN(len(unusual))]
		case 1:
			wide[i] = r.NormFloat64() * 1000
		default:
			wide[i] = float64(r.IntN(13)-4) / float64(1+r.IntN(2))
		}
		if d == tensor.Bool {
			wide[i] = float64(r.IntN(2))
		}
	}
	double := append([]int{2}, shape...)
	both := tensor.Must(tensor.Must(tensor.From(wide, double...)).Cast(d))
	if d.IsComplex() {
		imaginary := tensor.Must(arith.Mul(both, complex(0, 1)))
		both = tensor.Must(arith.Add(both, tensor.Must(shapeops.Roll(imaginary, -1, 1))))
	}
	one := tensor.Must(both.Index(ix.At(0)))
	switch n := len(shape); {
	case r.IntN(4) == 0 && n > 0: // stepped
		wider := append([]int{2 * shape[0]}, shape[1:]...)
		return tensor.Must(tensor.Must(both.Reshape(wider...)).Index(ix.All.Step(2)))
	case r.IntN(4) == 0 && n > 1: // transposed
		turned := tensor.Must(tensor.Must(one.Transpose(0, n-1)).Contiguous())
		return tensor.Must(turned.Transpose(0, n-1))
	case r.IntN(6) == 0 && n > 0 && shape[0] > 0: // repeated
		return tensor.Must(tensor.Must(one.Index(ix.Range(0, 1))).Expand(shape...))
	}
	return tensor.Must(one.Clone())
}

// TestVerbsAreNaive compares each operation on each dtype, in all its forms, with the plainest
// arithmetic there is, over shapes, layouts and operands that broadcast. A dtype that an operation
// does not take is tensor.ErrDType in all forms.
func TestVerbsAreNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	shapes, rounds := [][]int{{}, {0}, {1}, {5}, {3, 4}, {2, 3, 2}, {70, 33}}, 4
	if !longtests.On() {
		shapes, rounds = shapes[:len(shapes)-1], 1
	}
	for _, v := range elementVerbs {
		for _, d := range tensor.DTypes() {
			for _, shape := range shapes {
				for range rounds {
					xs := []tens{drawn(r, d, shape)}
					for range v.others {
						xs = append(xs, drawn(r, d, broadcastable(r, shape)))
					}
					checkElementVerb(t, v, d, xs)
				}
			}
		}
	}
}

// broadcastable returns a shape that broadcasts to one.
func broadcastable(r *rand.Rand, shape []int) []int {
	out := append([]int{}, shape[r.IntN(len(shape)+1):]...)
	for i, n := range out {
		if n > 0 && r.IntN(3) == 0 {
			out[i] = 1
		}
	}
	return out
}

// checkElementVerb compares an operation with naively, or checks that it fails where naively does.
func checkElementVerb(t *testing.T, v elementVerb, d tensor.DType, xs []tens) {
	t.Helper()
	about := fmt.Sprint(v.name, " of ", xs)
	lists := make([][]number, len(xs))
	for i, x := range xs {
		lists[i] = numbersOf(t, tensor.Must(x.Expand(xs[0].Shape()...)))
	}
	var want []number
	var wrong error
	one := number{f: 1, n: big.NewInt(1)}
	_, taken, _ := naively(v.name, d, []number{one, one, one}[:len(xs)])
	for i := range xs[0].Size() {
		operands := make([]number, len(xs))
		for k := range xs {
			operands[k] = lists[k][i]
		}
		out, _, err := naively(v.name, d, operands)
		if err != nil && wrong == nil {
			wrong = err
		}
		want = append(want, out)
	}
	got, err := v.run(xs)
	dst := result(t, v, d, xs[0].Shape())
	before := testkit.Content(t, dst)
	intoErr := v.into(dst, xs)
	switch {
	case !taken:
		require.ErrorIs(t, err, tensor.ErrDType, about)
		require.ErrorIs(t, intoErr, tensor.ErrDType, about)
		require.Equal(t, before, testkit.Content(t, dst), about)
		if !v.mask {
			refusesInPlace(t, v, xs, tensor.ErrDType, about)
		}
		return
	case wrong != nil:
		require.ErrorIs(t, err, wrong, about)
		require.Nil(t, got, about)
		require.ErrorIs(t, intoErr, wrong, about)
		require.Equal(t, before, testkit.Content(t, dst), about)
		if !v.mask {
			refusesInPlace(t, v, xs, wrong, about)
		}
		return
	}
	require.NoError(t, err, about)
	require.NoError(t, intoErr, about)
	compareNumbers(t, v, d, want, got, about)
	require.Equal(t, testkit.Content(t, got), testkit.Content(t, dst), about)
	if !v.mask {
		own := tensor.Must(xs[0].Clone())
		require.NoError(t, v.inPlace(append([]tens{own}, xs[1:]...)), about)
		require.Equal(t, testkit.Content(t, got), testkit.Content(t, own), about)
	}
}

// refusesInPlace checks that an operation on operands fails in place too, and changes nothing.
func refusesInPlace(t *testing.T, v elementVerb, xs []tens, want error, about string) {
	t.Helper()
	own := tensor.Must(xs[0].Clone())
	before := testkit.Content(t, own)
	err := v.inPlace(append([]tens{own}, xs[1:]...))
	require.ErrorIs(t, err, want, about)
	require.Equal(t, before, testkit.Content(t, own), about)
}

// result returns a destination for an operation.
func result(t *testing.T, v elementVerb, d tensor.DType, shape shapeops.Shape) tens {
	t.Helper()
	if v.mask {
		d = tensor.Bool
	}
	return tensor.Must(tensor.New(d, shape...))
}

func compareNumbers(t *testing.T, v elementVerb, d tensor.DType, want []number, got tens, about string) {
	t.Helper()
	if v.mask {
		require.Equal(t, tensor.Bool, got.DType(), about)
	} else {
		require.Equal(t, d, got.DType(), about)
	}
	all := numbersOf(t, got)
	require.Len(t, all, len(want), about)
	for i, g := range all {
		switch w := want[i]; {
		case got.DType() == tensor.Bool:
			require.Equal(t, w.bool, g.bool, "%s: element %d", about, i)
		case d.IsFloat():
			if math.IsNaN(w.f) && v.name == "floor div" {
				continue
			}
			w := tensor.Must(tensor.Must(tensor.Scalar(roundedBy(d, w.f)).Cast(d)).Cast(tensor.Float64))
			f := tensor.Must(tensor.Item[float64](w))
			if v.name == "floor div" && math.Abs(f) > 1<<24 && f != g.f {
				require.InEpsilon(t, f, g.f, 1e-6, "%s: element %d", about, i) // what no number is exactly
				continue
			}
			require.True(t, f == g.f || math.IsNaN(f) && math.IsNaN(g.f), "%s: element %d: got %v, want %v", about, i, g.f, f)
		case d.IsComplex():
			near := func(a, b float64) bool {
				return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-5*math.Abs(a)
			}
			require.True(t, near(real(w.c), real(g.c)) && near(imag(w.c), imag(g.c)), "%s: element %d: got %v, want %v", about, i, g.c, w.c)
		default:
			require.Zero(t, w.n.Cmp(g.n), "%s: element %d: got %v, want %v", about, i, g.n, w.n)
		}
	}
}

// roundedBy rounds as the computation of a dtype does: of 16 bits, first to float32.
func roundedBy(d tensor.DType, v float64) float64 {
	if d.Size() == 2 {
		return float64(float32(v))
	}
	return v
}

// TestFirstFailureInAnyLayout: an error names the first element that fails, also if an operand is
// transposed and its blocks are narrower than rows.
func TestFirstFailureInAnyLayout(t *testing.T) {
	data := make([]int32, 3*1000)
	data[900], data[1001] = math.MaxInt32-1, math.MaxInt32 // in a later block, and in an earlier one
	x := tensor.Must(tensor.From(data, 3, 1000))
	turned := tensor.Must(tensor.Must(tensor.Must(x.Transpose(0, 1)).Clone()).Transpose(0, 1))
	_, want := arith.Add(x, 2)
	require.ErrorContains(t, want, "2147483646")
	_, err := arith.Add(turned, 2)
	require.EqualError(t, err, want.Error())
	require.EqualError(t, arith.AddInto(turned, turned, 2), want.Error())
	require.True(t, turned.Equal(x), "nothing has changed")
}
