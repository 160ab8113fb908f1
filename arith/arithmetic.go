package arith

// Add returns x + y.
func Add[T Operand[T]](x T, y any) (T, error) { return apply(opAdd, x, y) }

// AddInto is [Add] into dst.
func AddInto[T Operand[T]](dst, x T, y any) error { return applyInto(opAdd, dst, x, y) }

// AddInPlace is [Add] of x itself.
func AddInPlace[T Operand[T]](x T, y any) error { return applyInto(opAdd, x, x, y) }

// Sub returns x - y. (Python: 1 - x is Add of Neg(x) and 1.)
func Sub[T Operand[T]](x T, y any) (T, error) { return apply(opSub, x, y) }

// SubInto is [Sub] into dst.
func SubInto[T Operand[T]](dst, x T, y any) error { return applyInto(opSub, dst, x, y) }

// SubInPlace is [Sub] of x itself.
func SubInPlace[T Operand[T]](x T, y any) error { return applyInto(opSub, x, x, y) }

// Mul returns x * y.
func Mul[T Operand[T]](x T, y any) (T, error) { return apply(opMul, x, y) }

// MulInto is [Mul] into dst.
func MulInto[T Operand[T]](dst, x T, y any) error { return applyInto(opMul, dst, x, y) }

// MulInPlace is [Mul] of x itself.
func MulInPlace[T Operand[T]](x T, y any) error { return applyInto(opMul, x, x, y) }

// Div returns x / y. Of integers that would not be integers: it returns tensor.ErrDType, and says
// what to do.
func Div[T Operand[T]](x T, y any) (T, error) { return apply(opDiv, x, y) }

// DivInto is [Div] into dst.
func DivInto[T Operand[T]](dst, x T, y any) error { return applyInto(opDiv, dst, x, y) }

// DivInPlace is [Div] of x itself.
func DivInPlace[T Operand[T]](x T, y any) error { return applyInto(opDiv, x, x, y) }

// FloorDiv returns the floor of x / y, so that x is y * FloorDiv(x, y) + Mod(x, y). An integer
// zero in y is [ErrDivide]. (Python: x // y.)
func FloorDiv[T Operand[T]](x T, y any) (T, error) { return apply(opFloorDiv, x, y) }

// FloorDivInto is [FloorDiv] into dst.
func FloorDivInto[T Operand[T]](dst, x T, y any) error { return applyInto(opFloorDiv, dst, x, y) }

// FloorDivInPlace is [FloorDiv] of x itself.
func FloorDivInPlace[T Operand[T]](x T, y any) error { return applyInto(opFloorDiv, x, x, y) }

// Mod returns what remains of x after [FloorDiv], which has the sign of y: Mod(-7, 3) is 2. An
// integer zero in y is [ErrDivide], a floating-point one makes NaN. (Python: x % y,
// torch.remainder.)
func Mod[T Operand[T]](x T, y any) (T, error) { return apply(opMod, x, y) }

// ModInto is [Mod] into dst.
func ModInto[T Operand[T]](dst, x T, y any) error { return applyInto(opMod, dst, x, y) }

// ModInPlace is [Mod] of x itself.
func ModInPlace[T Operand[T]](x T, y any) error { return applyInto(opMod, x, x, y) }

// Pow returns x to the power of y. Integers have no powers below 0: those are tensor.ErrDType. A
// float64 is that of math.Pow, which squares repeatedly: for powers in the thousands and beyond its
// last digits are not right, some 1e5 of the last place at 1.0001 to the power of 1e6. float32 and
// 16-bit floats are computed in float64 and rounded.
func Pow[T Operand[T]](x T, y any) (T, error) { return apply(opPow, x, y) }

// PowInto is [Pow] into dst.
func PowInto[T Operand[T]](dst, x T, y any) error { return applyInto(opPow, dst, x, y) }

// PowInPlace is [Pow] of x itself.
func PowInPlace[T Operand[T]](x T, y any) error { return applyInto(opPow, x, x, y) }

// Minimum returns the smaller of x and y, NaN if one of them is NaN.
func Minimum[T Operand[T]](x T, y any) (T, error) { return apply(opMinimum, x, y) }

// MinimumInto is [Minimum] into dst.
func MinimumInto[T Operand[T]](dst, x T, y any) error { return applyInto(opMinimum, dst, x, y) }

// MinimumInPlace is [Minimum] of x itself.
func MinimumInPlace[T Operand[T]](x T, y any) error { return applyInto(opMinimum, x, x, y) }

// Maximum returns the greater of x and y, NaN if one of them is NaN.
func Maximum[T Operand[T]](x T, y any) (T, error) { return apply(opMaximum, x, y) }

// MaximumInto is [Maximum] into dst.
func MaximumInto[T Operand[T]](dst, x T, y any) error { return applyInto(opMaximum, dst, x, y) }

// MaximumInPlace is [Maximum] of x itself.
func MaximumInPlace[T Operand[T]](x T, y any) error { return applyInto(opMaximum, x, x, y) }

// Clamp returns x, but low where it is less, and high where it is more; NaN stays. Where low is
// above high, the result is high. One bound alone is [Maximum] or [Minimum].
func Clamp[T Operand[T]](x T, low, high any) (T, error) { return apply(opClamp, x, low, high) }

// ClampInto is [Clamp] into dst.
func ClampInto[T Operand[T]](dst, x T, low, high any) error {
	return applyInto(opClamp, dst, x, low, high)
}

// ClampInPlace is [Clamp] of x itself.
func ClampInPlace[T Operand[T]](x T, low, high any) error { return applyInto(opClamp, x, x, low, high) }

// Lerp returns the number that lies weight of the way from x to end. It computes
//
//	x                         for a weight of 0, even if end is infinite or NaN
//	end                       for a weight of 1, even if x is
//	x + weight*(end-x)        for other weights below 0.5
//	end - (end-x)*(1-weight)  for others
//
// and rounds each difference and product. (torch.lerp has the last two formulas, the first of them
// for weights between -0.5 and 0.5.)
func Lerp[T Operand[T]](x T, end, weight any) (T, error) { return apply(opLerp, x, end, weight) }

// LerpInto is [Lerp] into dst.
func LerpInto[T Operand[T]](dst, x T, end, weight any) error {
	return applyInto(opLerp, dst, x, end, weight)
}

// LerpInPlace is [Lerp] of x itself.
func LerpInPlace[T Operand[T]](x T, end, weight any) error {
	return applyInto(opLerp, x, x, end, weight)
}

// AddCMul returns x + a * b, the product of real numbers rounded before it is added. Of integers
// the product, too, must be one that the dtype holds.
func AddCMul[T Operand[T]](x T, a, b any) (T, error) { return apply(opAddCMul, x, a, b) }

// AddCMulInto is [AddCMul] into dst.
func AddCMulInto[T Operand[T]](dst, x T, a, b any) error { return applyInto(opAddCMul, dst, x, a, b) }

// AddCMulInPlace is [AddCMul] of x itself.
func AddCMulInPlace[T Operand[T]](x T, a, b any) error { return applyInto(opAddCMul, x, x, a, b) }
