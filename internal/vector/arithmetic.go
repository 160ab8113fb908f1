package vector

// An Op is an operation on each number by itself.
type Op uint8

// The operations of two numbers a and b, the operations of a alone, and comparisons, which set
// bytes:
// 1 where the comparison holds, otherwise 0.
const (
	Add Op = iota
	Sub
	Mul
	Div
	Minimum // NaN if either is NaN; -0 is less than 0
	Maximum // NaN if either is NaN; 0 is greater than -0

	Neg
	Abs
	Relu // a where it is above 0 or NaN, otherwise 0
	Sqrt
	Floor
	Ceil
	Round // to the nearest whole number, ties to even
	Trunc

	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	IsNaN    // of a alone
	IsFinite // of a alone

	numOps
)

// alone reports whether o takes one number.
func (o Op) alone() bool { return Neg <= o && o <= Trunc || o >= IsNaN }

// Do sets dst to the results of an operation of numbers. b is nil for an operation of a alone.
func Do[T Float](o Op, dst, a, b []T) {
	if !o.alone() {
		b = upTo(b, len(dst))
	}
	n := on(of[T](kernels.slices[o]), dst, a, b, 0, 0)
	if dst, a = dst[n:], a[n:]; o.alone() {
		changed(o, dst, a)
		return
	}
	combined(o, dst, a, b[n:])
}

// DoNumber is [Do] with a single number b.
func DoNumber[T Float](o Op, dst, a []T, b T) {
	n := on(of[T](kernels.number[o]), dst, a, nil, bits(b), 0)
	combinedWith(o, dst[n:], a[n:], b)
}

// Mark sets dst to the results of a comparison. b is nil for a comparison of a alone.
func Mark[T Float](o Op, dst []uint8, a, b []T) {
	if !o.alone() {
		b = upTo(b, len(dst))
	}
	switch o { // there are no kernels for the opposites
	case Greater:
		o, a, b = Less, b, upTo(a, len(dst))
	case GreaterEqual:
		o, a, b = LessEqual, b, upTo(a, len(dst))
	}
	n := on(of[T](kernels.slices[o]), dst, a, b, 0, 0)
	if dst, a = dst[n:], a[n:]; o.alone() {
		classified(o, dst, a)
		return
	}
	compared(o, dst, a, b[n:])
}

// MarkNumber is [Mark] with a single number b.
func MarkNumber[T Float](o Op, dst []uint8, a []T, b T) {
	n := on(of[T](kernels.number[o]), dst, a, nil, bits(b), 0)
	comparedWith(o, dst[n:], a[n:], b)
}

// Clamp sets dst to min(max(a, low), high), or NaN if any of the three is NaN.
func Clamp[T Float](dst, a []T, low, high T) {
	n := on(of[T](kernels.clamp), dst, a, nil, bits(low), bits(high))
	clamp(dst[n:], a[n:], low, high)
}
