package vector

// Add sets dst to a + b.
func Add[T Float](dst, a, b []T) {
	n := onPairs(of[T](kernels.add), dst, a, b)
	add(dst[n:], a[n:], b[n:])
}

// Sub sets dst to a - b.
func Sub[T Float](dst, a, b []T) {
	n := onPairs(of[T](kernels.sub), dst, a, b)
	sub(dst[n:], a[n:], b[n:])
}

// Mul sets dst to a * b.
func Mul[T Float](dst, a, b []T) {
	n := onPairs(of[T](kernels.mul), dst, a, b)
	mul(dst[n:], a[n:], b[n:])
}

// Div sets dst to a / b.
func Div[T Float](dst, a, b []T) {
	n := onPairs(of[T](kernels.div), dst, a, b)
	div(dst[n:], a[n:], b[n:])
}

// Minimum sets dst to the lesser of a and b, or NaN if either is NaN. -0 is less than 0.
func Minimum[T Float](dst, a, b []T) {
	n := onPairs(of[T](kernels.minimum), dst, a, b)
	minimum(dst[n:], a[n:], b[n:])
}

// Maximum sets dst to the greater of a and b, or NaN if either is NaN. 0 is greater than -0.
func Maximum[T Float](dst, a, b []T) {
	n := onPairs(of[T](kernels.maximum), dst, a, b)
	maximum(dst[n:], a[n:], b[n:])
}

// AddNumber is [Add] with a single number b.
func AddNumber[T Float](dst, a []T, b T) {
	n := on(of[T](kernels.addNumber), dst, a, nil, bits(b), 0)
	addNumber(dst[n:], a[n:], b)
}

// SubNumber is [Sub] with a single number b.
func SubNumber[T Float](dst, a []T, b T) {
	n := on(of[T](kernels.subNumber), dst, a, nil, bits(b), 0)
	subNumber(dst[n:], a[n:], b)
}

// MulNumber is [Mul] with a single number b.
func MulNumber[T Float](dst, a []T, b T) {
	n := on(of[T](kernels.mulNumber), dst, a, nil, bits(b), 0)
	mulNumber(dst[n:], a[n:], b)
}

// DivNumber is [Div] with a single number b.
func DivNumber[T Float](dst, a []T, b T) {
	n := on(of[T](kernels.divNumber), dst, a, nil, bits(b), 0)
	divNumber(dst[n:], a[n:], b)
}

// MinimumNumber is [Minimum] with a single number b.
func MinimumNumber[T Float](dst, a []T, b T) {
	n := on(of[T](kernels.minimumNumber), dst, a, nil, bits(b), 0)
	minimumNumber(dst[n:], a[n:], b)
}

// MaximumNumber is [Maximum] with a single number b.
func MaximumNumber[T Float](dst, a []T, b T) {
	n := on(of[T](kernels.maximumNumber), dst, a, nil, bits(b), 0)
	maximumNumber(dst[n:], a[n:], b)
}

// Clamp sets dst to min(max(a, low), high), or NaN if any of the three is NaN.
func Clamp[T Float](dst, a []T, low, high T) {
	n := on(of[T](kernels.clamp), dst, a, nil, bits(low), bits(high))
	clamp(dst[n:], a[n:], low, high)
}

// Neg sets dst to -a.
func Neg[T Float](dst, a []T) {
	n := on(of[T](kernels.neg), dst, a, nil, 0, 0)
	neg(dst[n:], a[n:])
}

// Abs sets dst to a without its sign.
func Abs[T Float](dst, a []T) {
	n := on(of[T](kernels.abs), dst, a, nil, 0, 0)
	abs(dst[n:], a[n:])
}

// Relu sets dst to a where a is above 0 or NaN, otherwise to 0.
func Relu[T Float](dst, a []T) {
	n := on(of[T](kernels.relu), dst, a, nil, 0, 0)
	relu(dst[n:], a[n:])
}

// Sqrt sets dst to the square root of a.
func Sqrt[T Float](dst, a []T) {
	n := on(of[T](kernels.sqrt), dst, a, nil, 0, 0)
	sqrt(dst[n:], a[n:])
}

// Floor sets dst to the greatest whole numbers not above a.
func Floor[T Float](dst, a []T) {
	n := on(of[T](kernels.floor), dst, a, nil, 0, 0)
	floor(dst[n:], a[n:])
}

// Ceil sets dst to the least whole numbers not below a.
func Ceil[T Float](dst, a []T) {
	n := on(of[T](kernels.ceil), dst, a, nil, 0, 0)
	ceil(dst[n:], a[n:])
}

// Round sets dst to the nearest whole numbers, ties to even.
func Round[T Float](dst, a []T) {
	n := on(of[T](kernels.round), dst, a, nil, 0, 0)
	round(dst[n:], a[n:])
}

// Trunc sets dst to a without its fraction.
func Trunc[T Float](dst, a []T) {
	n := on(of[T](kernels.trunc), dst, a, nil, 0, 0)
	trunc(dst[n:], a[n:])
}
