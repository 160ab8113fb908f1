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

// Div returns x / y. Of integers that would not be integers: it returns tensor.ErrDType, and says
// what to do.
func Div[T Elementwise[T]](x T, y any) (T, error) { return apply(opDiv, x, y) }

// DivInto is [Div] into dst.
func DivInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opDiv, dst, x, y) }

// FloorDiv returns the floor of x / y, so that x is y * FloorDiv(x, y) + Mod(x, y). An integer
// zero in y is [ErrDivide]. (Python: x // y.)
func FloorDiv[T Elementwise[T]](x T, y any) (T, error) { return apply(opFloorDiv, x, y) }

// FloorDivInto is [FloorDiv] into dst.
func FloorDivInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opFloorDiv, dst, x, y) }

// Mod returns what remains of x after [FloorDiv], which has the sign of y: Mod(-7, 3) is 2. An
// integer zero in y is [ErrDivide], a floating-point one makes NaN. (Python: x % y,
// torch.remainder.)
func Mod[T Elementwise[T]](x T, y any) (T, error) { return apply(opMod, x, y) }

// ModInto is [Mod] into dst.
func ModInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opMod, dst, x, y) }

// Pow returns x to the power of y. Integers have no powers below 0: those are tensor.ErrDType. A
// float64 is that of math.Pow, which squares repeatedly: for powers in the thousands and beyond its
// last digits are not right, some 1e5 of the last place at 1.0001 to the power of 1e6. float32 and
// 16-bit floats are computed in float64 and rounded.
func Pow[T Elementwise[T]](x T, y any) (T, error) { return apply(opPow, x, y) }

// PowInto is [Pow] into dst.
func PowInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opPow, dst, x, y) }

// Minimum returns the smaller of x and y, NaN if one of them is NaN.
func Minimum[T Elementwise[T]](x T, y any) (T, error) { return apply(opMinimum, x, y) }

// MinimumInto is [Minimum] into dst.
func MinimumInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opMinimum, dst, x, y) }

// Maximum returns the greater of x and y, NaN if one of them is NaN.
func Maximum[T Elementwise[T]](x T, y any) (T, error) { return apply(opMaximum, x, y) }

// MaximumInto is [Maximum] into dst.
func MaximumInto[T Elementwise[T]](dst, x T, y any) error { return applyInto(opMaximum, dst, x, y) }

// Clamp returns x, but low where it is less, and high where it is more; NaN stays. Where low is
// above high, the result is high. One bound alone is [Maximum] or [Minimum].
func Clamp[T Elementwise[T]](x T, low, high any) (T, error) { return apply(opClamp, x, low, high) }

// ClampInto is [Clamp] into dst.
func ClampInto[T Elementwise[T]](dst, x T, low, high any) error {
	return applyInto(opClamp, dst, x, low, high)
}

// Lerp returns the number that lies weight of the way from x to end. It computes
//
//	x                         for a weight of 0, even if end is infinite or NaN
//	end                       for a weight of 1, even if x is
//	x + weight*(end-x)        for other weights below 0.5
//	end - (end-x)*(1-weight)  for others
//
// and rounds each difference and product. (torch.lerp has the last two formulas, the first of them
// for weights between -0.5 and 0.5.)
func Lerp[T Elementwise[T]](x T, end, weight any) (T, error) { return apply(opLerp, x, end, weight) }

// LerpInto is [Lerp] into dst.
func LerpInto[T Elementwise[T]](dst, x T, end, weight any) error {
	return applyInto(opLerp, dst, x, end, weight)
}

// AddCMul returns x + a * b, the product of real numbers rounded before it is added. Of integers
// the product, too, must be one that the dtype holds.
func AddCMul[T Elementwise[T]](x T, a, b any) (T, error) { return apply(opAddCMul, x, a, b) }

// AddCMulInto is [AddCMul] into dst.
func AddCMulInto[T Elementwise[T]](dst, x T, a, b any) error {
	return applyInto(opAddCMul, dst, x, a, b)
}
