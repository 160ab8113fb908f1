package arith_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// real200 returns x with the precision of the oracle.
func real200(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }

// bigLog returns the logarithm of x, which is positive and finite: of x = m * 2^e, that is
// e * log 2 + 2 atanh s, where s = (m-1) / (m+1).
func bigLog(x float64) *big.Float {
	m, e := math.Frexp(x)
	s := real200(m)
	s.Quo(new(big.Float).Sub(s, real200(1)), new(big.Float).Add(s, real200(1)))
	sum := new(big.Float).Mul(halfLn2, real200(float64(e)))
	return sum.Mul(sum.Add(sum, bigAtanh(s)), real200(2))
}

var halfLn2 = bigAtanh(new(big.Float).Quo(real200(1), real200(3)))

// bigAtanh returns the sum of s^k / k over odd k, for |s| of at most 1/3.
func bigAtanh(s *big.Float) *big.Float {
	sum, power, square := real200(0), new(big.Float).Set(s), new(big.Float).Mul(s, s)
	for k := 1.0; k < 130; k += 2 {
		sum.Add(sum, new(big.Float).Quo(power, real200(k)))
		power.Mul(power, square)
	}
	return sum
}

// bigExp returns e^x for |x| below 2^12: the series at x / 2^24, squared 24 times.
func bigExp(x *big.Float) *big.Float {
	small := new(big.Float).SetMantExp(x, -24)
	sum, term := real200(1), real200(1)
	for k := 1.0; k < 20; k++ {
		term.Quo(term.Mul(term, small), real200(k))
		sum.Add(sum, term)
	}
	for range 24 {
		sum.Mul(sum, sum)
	}
	return sum
}

func bigPow(x, y float64) *big.Float {
	power := new(big.Float).Mul(bigLog(x), real200(y))
	if math.Abs(y) > 1<<11 { // x is subnormal: far beyond float64 either way
		power = real200(math.Copysign(1<<11, -y))
	}
	return bigExp(power)
}

// ulps returns how far got is from want, in units in the last place of want.
func ulps(got float64, want *big.Float) float64 {
	nearest, _ := want.Float64()
	if math.IsInf(nearest, 0) || math.IsInf(got, 0) || math.IsNaN(got) {
		if got == nearest {
			return 0
		}
		return math.Inf(1)
	}
	_, e := math.Frexp(nearest)
	unit := max(math.Ldexp(1, e-53), 0x1p-1074)
	far, _ := new(big.Float).Quo(new(big.Float).Sub(real200(got), want), real200(unit)).Float64()
	return math.Abs(far)
}

// edges are positive numbers where computing goes wrong: subnormal ones, powers of two and their
// neighbours, numbers close to 1, and random ones of any size.
func edges(r *rand.Rand) (all []float64) {
	for e := -1074; e < 1024; e++ {
		x := math.Ldexp(1, e)
		all = append(all, x, math.Nextafter(x, math.Inf(1)), x*(1+r.Float64()/2))
		if e > -1074 {
			all = append(all, math.Nextafter(x, 0))
		}
	}
	for i := range 520 {
		all = append(all, math.Float64frombits(1+r.Uint64N(1<<(i%52+1))), 1+r.NormFloat64()*1e-7)
	}
	return append(all, math.MaxFloat64, 0x1p-1022, math.Nextafter(0x1p-1022, 0))
}

// TestExponentialsAreNear compares Log, Exp, Pow and Sqrt with arithmetic of 200 bits. On amd64
// math.Log, and math.Pow with it, is wrong for subnormal numbers, and math.Exp above 709.43.
func TestExponentialsAreNear(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 7))
	positive, subnormal, few := edges(r), []float64{}, []float64{}
	for i, x := range positive {
		if x < 0x1p-1022 {
			subnormal = append(subnormal, x)
		}
		if x < 0x1p-1022 && (i%16 == 0 || i < 8) {
			few = append(few, x)
		}
	}
	var exponents, top, bottom []float64
	for range 500 {
		exponents = append(exponents, r.NormFloat64()*100)
		top = append(top, 709+r.Float64()*0.8)
		bottom = append(bottom, -708-r.Float64()*38)
	}
	top = append(top, 0x1.62e42fefa39efp+9, 0x1.62e42fefa39fp+9) // the last that is finite; the next
	powers := []float64{0, 1, -1, 0.5, -0.5, 0.25, 1. / 3, -1. / 3, 0.7, -0.95, 0.999, 1.0000001, -1.0001, 1.04, 2, 3, -2, 1e-5, 1e-300, 5e-324, 1e300}
	log := func(x, _ float64) *big.Float { return bigLog(x) }
	exp := func(x, _ float64) *big.Float { return bigExp(real200(x)) }
	sqrt := func(x, _ float64) *big.Float { return new(big.Float).Sqrt(real200(x)) }
	unary := func(f func(tens) (tens, error)) func(x tens, _ any) (tens, error) {
		return func(x tens, _ any) (tens, error) { return f(x) }
	}
	tests := []struct {
		name string
		verb func(x tens, y any) (tens, error)
		want func(x, y float64) *big.Float
		x, y []float64 // each x with each y
		ulps float64
	}{
		{"log of subnormal numbers", unary(arith.Log[tens]), log, subnormal, []float64{0}, 1},
		{"log", unary(arith.Log[tens]), log, positive, []float64{0}, 1},
		{"exp", unary(arith.Exp[tens]), exp, exponents, []float64{0}, 1.5},
		{"exp of numbers close to 0", unary(arith.Exp[tens]), exp, subnormal, []float64{0}, 0.5},
		{"exp close to the largest result", unary(arith.Exp[tens]), exp, top, []float64{0}, 2.5},
		{"exp with a subnormal result", unary(arith.Exp[tens]), exp, bottom, []float64{0}, 1.5},
		{"sqrt", unary(arith.Sqrt[tens]), sqrt, positive, []float64{0}, 0.5},
		{"pow of subnormal numbers", arith.Pow[tens], bigPow, few, powers, 400},
		{"pow with a subnormal result", arith.Pow[tens], bigPow, []float64{math.E}, bottom, 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, y := range tt.y {
				got, err := tt.verb(tensor.Vector(tt.x...), y)
				require.NoError(t, err)
				for i, g := range testkit.Elements[float64](t, got) {
					want := tt.want(tt.x[i], y)
					if far := ulps(g, want); far > tt.ulps {
						t.Fatalf("of %v, %v: got %v, want %v: %v ulps", tt.x[i], y, g, want.Text('g', 20), far)
					}
				}
			}
		})
	}
}

// TestExponentialsOfSpecialNumbers: zeros, infinities, NaN, and subnormal numbers below 0.
func TestExponentialsOfSpecialNumbers(t *testing.T) {
	inf, nan, tiny, zero := math.Inf(1), math.NaN(), 0x1p-1074, math.Copysign(0, -1)
	pow := func(x float64, y ...float64) tens {
		return tensor.Must(arith.Pow(tensor.Must(tensor.Full(x, len(y))), tensor.Vector(y...)))
	}
	tests := []struct {
		name string
		got  tens
		want string
	}{
		{"log", tensor.Must(arith.Log(tensor.Vector(0, zero, inf, -inf, nan, -tiny, 1))), "[-Inf -Inf +Inf NaN NaN NaN 0]"},
		{"exp", tensor.Must(arith.Exp(tensor.Vector(0, zero, inf, -inf, nan, 710, -746))), "[1 1 +Inf 0 NaN +Inf 0]"},
		{"sigmoid", tensor.Must(arith.Sigmoid(tensor.Vector(0, inf, -inf, nan, -709.5))), "[0.5 1 0 NaN 7.38014831401258e-309]"},
		{"the smallest number to a power", pow(tiny, 0, 1, -1, 2, -2, inf, -inf, nan, 0.5), "[1 5e-324 +Inf 0 +Inf 0 +Inf NaN 2.2227587494850775e-162]"},
		{"a subnormal number below 0 to a power", pow(-tiny, 0, 1, -1, 2, 3, -3, 0.5, inf), "[1 -5e-324 -Inf 0 -0 -Inf NaN 0]"},
		{"zeros to a power", tensor.Must(shapeops.Cat([]tens{pow(0, 1, -1, 0.5), pow(zero, 1, -1, 0.5)}, 0)), "[0 +Inf 0 -0 -Inf 0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, fmt.Sprint(testkit.Elements[float64](t, tt.got)))
		})
	}
}

// TestExponentialsOfHalves compares with package math all numbers of 16 bits, which are not
// subnormal as float64.
func TestExponentialsOfHalves(t *testing.T) {
	verbs := map[string]func(tens) (tens, error){"exp": arith.Exp[tens], "log": arith.Log[tens], "sqrt": arith.Sqrt[tens], "tanh": arith.Tanh[tens]}
	want := map[string]func(float64) float64{"exp": math.Exp, "log": math.Log, "sqrt": math.Sqrt, "tanh": math.Tanh}
	all := make([]tensor.F16, 1<<16)
	brains := make([]tensor.BF16, 1<<16)
	for i := range all {
		all[i], brains[i] = tensor.F16(i), tensor.BF16(i)
	}
	for name, verb := range verbs {
		t.Run(name, func(t *testing.T) {
			for i, got := range testkit.Elements[tensor.F16](t, tensor.Must(verb(tensor.Vector(all...)))) {
				equalOrNaN(t, tensor.F16Of(float64(float32(want[name](all[i].Float64())))).Float64(), got.Float64(), all[i].Float64())
			}
			for i, got := range testkit.Elements[tensor.BF16](t, tensor.Must(verb(tensor.Vector(brains...)))) {
				equalOrNaN(t, tensor.BF16Of(float64(float32(want[name](brains[i].Float64())))).Float64(), got.Float64(), brains[i].Float64())
			}
		})
	}
}

func equalOrNaN(t *testing.T, want, got, of float64) {
	t.Helper()
	if want != got && (want == want || got == got) {
		t.Fatalf("of %v: got %v, want %v", of, got, want)
	}
}
