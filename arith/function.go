package arith

// Neg returns -x. For unsigned integers other than 0 it returns tensor.ErrDType.
func Neg[T Elementwise[T]](x T) (T, error) { return apply(opNeg, x) }

// NegInto is [Neg] into dst.
func NegInto[T Elementwise[T]](dst, x T) error { return applyInto(opNeg, dst, x) }

// Abs returns the absolute value of x.
func Abs[T Elementwise[T]](x T) (T, error) { return apply(opAbs, x) }

// AbsInto is [Abs] into dst.
func AbsInto[T Elementwise[T]](dst, x T) error { return applyInto(opAbs, dst, x) }

// Sign returns -1, 0 or 1. It keeps -0 and NaN of floating-point numbers.
func Sign[T Elementwise[T]](x T) (T, error) { return apply(opSign, x) }

// SignInto is [Sign] into dst.
func SignInto[T Elementwise[T]](dst, x T) error { return applyInto(opSign, dst, x) }

// Relu returns x where it is positive, otherwise 0. NaN stays NaN.
func Relu[T Elementwise[T]](x T) (T, error) { return apply(opRelu, x) }

// ReluInto is [Relu] into dst.
func ReluInto[T Elementwise[T]](dst, x T) error { return applyInto(opRelu, dst, x) }

// Floor returns the greatest whole number not above x. Integers stay as they are.
func Floor[T Elementwise[T]](x T) (T, error) { return apply(opFloor, x) }

// FloorInto is [Floor] into dst.
func FloorInto[T Elementwise[T]](dst, x T) error { return applyInto(opFloor, dst, x) }

// Ceil returns the least whole number not below x. Integers stay as they are.
func Ceil[T Elementwise[T]](x T) (T, error) { return apply(opCeil, x) }

// CeilInto is [Ceil] into dst.
func CeilInto[T Elementwise[T]](dst, x T) error { return applyInto(opCeil, dst, x) }

// Round returns the nearest whole number, ties to even. Integers stay as they are.
func Round[T Elementwise[T]](x T) (T, error) { return apply(opRound, x) }

// RoundInto is [Round] into dst.
func RoundInto[T Elementwise[T]](dst, x T) error { return applyInto(opRound, dst, x) }

// Trunc returns x without its fraction. Integers stay as they are.
func Trunc[T Elementwise[T]](x T) (T, error) { return apply(opTrunc, x) }

// TruncInto is [Trunc] into dst.
func TruncInto[T Elementwise[T]](dst, x T) error { return applyInto(opTrunc, dst, x) }

// Sqrt returns the square root of x. It is NaN below 0.
func Sqrt[T Elementwise[T]](x T) (T, error) { return apply(opSqrt, x) }

// SqrtInto is [Sqrt] into dst.
func SqrtInto[T Elementwise[T]](dst, x T) error { return applyInto(opSqrt, dst, x) }

// Exp returns e to the power of x.
func Exp[T Elementwise[T]](x T) (T, error) { return apply(opExp, x) }

// ExpInto is [Exp] into dst.
func ExpInto[T Elementwise[T]](dst, x T) error { return applyInto(opExp, dst, x) }

// Log returns the natural logarithm of x. It is -Inf at 0 and NaN below 0.
func Log[T Elementwise[T]](x T) (T, error) { return apply(opLog, x) }

// LogInto is [Log] into dst.
func LogInto[T Elementwise[T]](dst, x T) error { return applyInto(opLog, dst, x) }

// Tanh returns the hyperbolic tangent of x.
func Tanh[T Elementwise[T]](x T) (T, error) { return apply(opTanh, x) }

// TanhInto is [Tanh] into dst.
func TanhInto[T Elementwise[T]](dst, x T) error { return applyInto(opTanh, dst, x) }

// Sigmoid returns 1 / (1 + exp(-x)).
func Sigmoid[T Elementwise[T]](x T) (T, error) { return apply(opSigmoid, x) }

// SigmoidInto is [Sigmoid] into dst.
func SigmoidInto[T Elementwise[T]](dst, x T) error { return applyInto(opSigmoid, dst, x) }
