package vector

// Equal sets dst to 1 where a == b, otherwise to 0.
func Equal[T Float](dst []uint8, a, b []T) {
	n := onPairs(of[T](kernels.equal), dst, a, b)
	equal(dst[n:], a[n:], b[n:])
}

// NotEqual sets dst to 1 where a != b, otherwise to 0.
func NotEqual[T Float](dst []uint8, a, b []T) {
	n := onPairs(of[T](kernels.notEqual), dst, a, b)
	notEqual(dst[n:], a[n:], b[n:])
}

// Less sets dst to 1 where a < b, otherwise to 0.
func Less[T Float](dst []uint8, a, b []T) {
	n := onPairs(of[T](kernels.less), dst, a, b)
	less(dst[n:], a[n:], b[n:])
}

// LessEqual sets dst to 1 where a <= b, otherwise to 0.
func LessEqual[T Float](dst []uint8, a, b []T) {
	n := onPairs(of[T](kernels.lessEqual), dst, a, b)
	lessEqual(dst[n:], a[n:], b[n:])
}

// EqualNumber sets dst to 1 where a == b, otherwise to 0.
func EqualNumber[T Float](dst []uint8, a []T, b T) {
	n := on(of[T](kernels.equalNumber), dst, a, nil, bits(b), 0)
	equalNumber(dst[n:], a[n:], b)
}

// NotEqualNumber sets dst to 1 where a != b, otherwise to 0.
func NotEqualNumber[T Float](dst []uint8, a []T, b T) {
	n := on(of[T](kernels.notEqualNumber), dst, a, nil, bits(b), 0)
	notEqualNumber(dst[n:], a[n:], b)
}

// LessNumber sets dst to 1 where a < b, otherwise to 0.
func LessNumber[T Float](dst []uint8, a []T, b T) {
	n := on(of[T](kernels.lessNumber), dst, a, nil, bits(b), 0)
	lessNumber(dst[n:], a[n:], b)
}

// LessEqualNumber sets dst to 1 where a <= b, otherwise to 0.
func LessEqualNumber[T Float](dst []uint8, a []T, b T) {
	n := on(of[T](kernels.lessEqualNumber), dst, a, nil, bits(b), 0)
	lessEqualNumber(dst[n:], a[n:], b)
}

// GreaterNumber sets dst to 1 where a > b, otherwise to 0.
func GreaterNumber[T Float](dst []uint8, a []T, b T) {
	n := on(of[T](kernels.greaterNumber), dst, a, nil, bits(b), 0)
	greaterNumber(dst[n:], a[n:], b)
}

// GreaterEqualNumber sets dst to 1 where a >= b, otherwise to 0.
func GreaterEqualNumber[T Float](dst []uint8, a []T, b T) {
	n := on(of[T](kernels.greaterEqualNumber), dst, a, nil, bits(b), 0)
	greaterEqualNumber(dst[n:], a[n:], b)
}

// IsNaN sets dst to 1 where a is NaN, otherwise to 0.
func IsNaN[T Float](dst []uint8, a []T) {
	n := on(of[T](kernels.isNaN), dst, a, nil, 0, 0)
	isNaN(dst[n:], a[n:])
}

// IsFinite sets dst to 1 where a is neither infinite nor NaN, otherwise to 0.
func IsFinite[T Float](dst []uint8, a []T) {
	n := on(of[T](kernels.isFinite), dst, a, nil, 0, 0)
	isFinite(dst[n:], a[n:])
}
