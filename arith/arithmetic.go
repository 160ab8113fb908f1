package arith

// Add returns x + y.
func Add[T Elementwise[T]](x T, y any) (T, error) { return apply(opAdd, x, y) }

// AddInto is [Add] into dst.
func AddInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opAdd, dst, x, y) }

// Sub returns x - y. (Python: 1 - x is Add of Neg(x) and 1.)
func Sub[T Elementwise[T]](x T, y any) (T, error) { return apply(opSub, x, y) }

// SubInto is [Sub] into dst.
func SubInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opSub, dst, x, y) }

// Mul returns x * y.
func Mul[T Elementwise[T]](x T, y any) (T, error) { return apply(opMul, x, y) }

// MulInto is [Mul] into dst.
func MulInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opMul, dst, x, y) }

// Div returns x / y. For integers it returns tensor.ErrDType: Cast first, or call [FloorDiv].
func Div[T Elementwise[T]](x T, y any) (T, error) { return apply(opDiv, x, y) }

// DivInto is [Div] into dst.
func DivInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opDiv, dst, x, y) }

// FloorDiv returns the floor of x / y: x equals y * FloorDiv(x, y) + Mod(x, y). It returns
// [ErrDivide] if x and y are integers and y has a zero. (Python: x // y.)
func FloorDiv[T Elementwise[T]](x T, y any) (T, error) { return apply(opFloorDiv, x, y) }

// FloorDivInto is [FloorDiv] into dst.
func FloorDivInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opFloorDiv, dst, x, y) }

// Mod returns the remainder of [FloorDiv], which has the sign of y: Mod(-7, 3) is 2. It returns
// [ErrDivide] if x and y are integers and y has a zero. For a floating-point zero the result is
// NaN. (Python: x % y, torch.remainder.)
func Mod[T Elementwise[T]](x T, y any) (T, error) { return apply(opMod, x, y) }

// ModInto is [Mod] into dst.
func ModInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opMod, dst, x, y) }

// Pow returns x to the power of y. For integers it returns tensor.ErrDType if an exponent is
// negative or the dtype does not hold a result. Powers of float64 are computed by math.Pow, which
// squares repeatedly: its last digits are wrong for exponents in the thousands and beyond. 1.0001
// to the power of 1e6 is wrong by about 1e5 units in the last place. Powers of float32 and 16-bit
// floats are computed in float64 and rounded.
func Pow[T Elementwise[T]](x T, y any) (T, error) { return apply(opPow, x, y) }

// PowInto is [Pow] into dst.
func PowInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opPow, dst, x, y) }

// Minimum returns the smaller of x and y, or NaN if either is NaN.
func Minimum[T Elementwise[T]](x T, y any) (T, error) { return apply(opMinimum, x, y) }

// MinimumInto is [Minimum] into dst.
func MinimumInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opMinimum, dst, x, y) }

// Maximum returns the greater of x and y, or NaN if either is NaN.
func Maximum[T Elementwise[T]](x T, y any) (T, error) { return apply(opMaximum, x, y) }

// MaximumInto is [Maximum] into dst.
func MaximumInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opMaximum, dst, x, y) }

// Clamp returns x limited to the range from low to high. NaN stays NaN. Where low is above high,
// the result is high. For one bound alone call [Maximum] or [Minimum].
func Clamp[T Elementwise[T]](x T, low, high any) (T, error) { return apply(opClamp, x, low, high) }

// ClampInto is [Clamp] into dst.
func ClampInto[T Elementwise[T]](dst, x T, low, high any) error {
	return applyInto(opClamp, dst, x, low, high)
}

// Lerp interpolates linearly from x to end. It computes
//
//	x                         for a weight of 0, even if end is infinite or NaN
//	end                       for a weight of 1, even if x is infinite or NaN
//	x + weight*(end-x)        for other weights below 0.5
//	end - (end-x)*(1-weight)  for all others
//
// and rounds each difference and product. (torch.lerp has the last two formulas, the first of them
// for weights between -0.5 and 0.5.)
func Lerp[T Elementwise[T]](x T, end, weight any) (T, error) { return apply(opLerp, x, end, weight) }

// LerpInto is [Lerp] into dst.
func LerpInto[T Elementwise[T]](dst, x T, end, weight any) error {
	return applyInto(opLerp, dst, x, end, weight)
}

// AddCMul returns x + a * b. The product of real numbers is rounded before it is added. For
// integers the dtype must hold both the product and the sum.
func AddCMul[T Elementwise[T]](x T, a, b any) (T, error) { return apply(opAddCMul, x, a, b) }

// AddCMulInto is [AddCMul] into dst.
func AddCMulInto[T Elementwise[T]](dst, x T, a, b any) error {
	return applyInto(opAddCMul, dst, x, a, b)
}
