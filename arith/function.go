package arith

// Neg returns -x. Of unsigned integers only 0 has one.
func Neg[T Operand[T]](x T) (T, error) { return apply(opNeg, x) }

// NegInto is [Neg] into dst.
func NegInto[T Operand[T]](dst, x T) error { return applyInto(opNeg, dst, x) }

// NegInPlace is [Neg] of x itself.
func NegInPlace[T Operand[T]](x T) error { return applyInto(opNeg, x, x) }

// Abs returns the absolute value of x.
func Abs[T Operand[T]](x T) (T, error) { return apply(opAbs, x) }

// AbsInto is [Abs] into dst.
func AbsInto[T Operand[T]](dst, x T) error { return applyInto(opAbs, dst, x) }

// AbsInPlace is [Abs] of x itself.
func AbsInPlace[T Operand[T]](x T) error { return applyInto(opAbs, x, x) }

// Sign returns -1, 0 or 1, and of floating-point numbers -0 and NaN as they are.
func Sign[T Operand[T]](x T) (T, error) { return apply(opSign, x) }

// SignInto is [Sign] into dst.
func SignInto[T Operand[T]](dst, x T) error { return applyInto(opSign, dst, x) }

// SignInPlace is [Sign] of x itself.
func SignInPlace[T Operand[T]](x T) error { return applyInto(opSign, x, x) }

// Relu returns x where it is positive, else 0; NaN stays.
func Relu[T Operand[T]](x T) (T, error) { return apply(opRelu, x) }

// ReluInto is [Relu] into dst.
func ReluInto[T Operand[T]](dst, x T) error { return applyInto(opRelu, dst, x) }

// ReluInPlace is [Relu] of x itself.
func ReluInPlace[T Operand[T]](x T) error { return applyInto(opRelu, x, x) }

// Floor returns the greatest whole number that is not above x; integers stay.
func Floor[T Operand[T]](x T) (T, error) { return apply(opFloor, x) }

// FloorInto is [Floor] into dst.
func FloorInto[T Operand[T]](dst, x T) error { return applyInto(opFloor, dst, x) }

// FloorInPlace is [Floor] of x itself.
func FloorInPlace[T Operand[T]](x T) error { return applyInto(opFloor, x, x) }

// Ceil returns the least whole number that is not below x; integers stay.
func Ceil[T Operand[T]](x T) (T, error) { return apply(opCeil, x) }

// CeilInto is [Ceil] into dst.
func CeilInto[T Operand[T]](dst, x T) error { return applyInto(opCeil, dst, x) }

// CeilInPlace is [Ceil] of x itself.
func CeilInPlace[T Operand[T]](x T) error { return applyInto(opCeil, x, x) }

// Round returns the nearest whole number, of two the even one; integers stay.
func Round[T Operand[T]](x T) (T, error) { return apply(opRound, x) }

// RoundInto is [Round] into dst.
func RoundInto[T Operand[T]](dst, x T) error { return applyInto(opRound, dst, x) }

// RoundInPlace is [Round] of x itself.
func RoundInPlace[T Operand[T]](x T) error { return applyInto(opRound, x, x) }

// Trunc returns x without its fraction; integers stay.
func Trunc[T Operand[T]](x T) (T, error) { return apply(opTrunc, x) }

// TruncInto is [Trunc] into dst.
func TruncInto[T Operand[T]](dst, x T) error { return applyInto(opTrunc, dst, x) }

// TruncInPlace is [Trunc] of x itself.
func TruncInPlace[T Operand[T]](x T) error { return applyInto(opTrunc, x, x) }

// Sqrt returns the square root of x, NaN below 0.
func Sqrt[T Operand[T]](x T) (T, error) { return apply(opSqrt, x) }

// SqrtInto is [Sqrt] into dst.
func SqrtInto[T Operand[T]](dst, x T) error { return applyInto(opSqrt, dst, x) }

// SqrtInPlace is [Sqrt] of x itself.
func SqrtInPlace[T Operand[T]](x T) error { return applyInto(opSqrt, x, x) }

// Exp returns e to the power of x.
func Exp[T Operand[T]](x T) (T, error) { return apply(opExp, x) }

// ExpInto is [Exp] into dst.
func ExpInto[T Operand[T]](dst, x T) error { return applyInto(opExp, dst, x) }

// ExpInPlace is [Exp] of x itself.
func ExpInPlace[T Operand[T]](x T) error { return applyInto(opExp, x, x) }

// Log returns the natural logarithm of x: -Inf of 0, NaN below 0.
func Log[T Operand[T]](x T) (T, error) { return apply(opLog, x) }

// LogInto is [Log] into dst.
func LogInto[T Operand[T]](dst, x T) error { return applyInto(opLog, dst, x) }

// LogInPlace is [Log] of x itself.
func LogInPlace[T Operand[T]](x T) error { return applyInto(opLog, x, x) }

// Tanh returns the hyperbolic tangent of x.
func Tanh[T Operand[T]](x T) (T, error) { return apply(opTanh, x) }

// TanhInto is [Tanh] into dst.
func TanhInto[T Operand[T]](dst, x T) error { return applyInto(opTanh, dst, x) }

// TanhInPlace is [Tanh] of x itself.
func TanhInPlace[T Operand[T]](x T) error { return applyInto(opTanh, x, x) }

// Sigmoid returns 1 / (1 + exp(-x)).
func Sigmoid[T Operand[T]](x T) (T, error) { return apply(opSigmoid, x) }

// SigmoidInto is [Sigmoid] into dst.
func SigmoidInto[T Operand[T]](dst, x T) error { return applyInto(opSigmoid, dst, x) }

// SigmoidInPlace is [Sigmoid] of x itself.
func SigmoidInPlace[T Operand[T]](x T) error { return applyInto(opSigmoid, x, x) }
