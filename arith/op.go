package arith

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/vector"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// An op is an operation on each element by itself.
type op uint8

const (
	opAdd op = iota
	opSub
	opMul
	opDiv
	opFloorDiv
	opMod
	opPow
	opMinimum
	opMaximum

	opNeg
	opAbs
	opSign
	opRelu
	opFloor
	opCeil
	opRound
	opTrunc

	opSqrt
	opExp
	opLog
	opTanh
	opSigmoid

	opClamp
	opLerp
	opAddCMul

	opEqual
	opNotEqual
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opIsNaN
	opIsFinite

	opAnd
	opOr
	opXor
	opNot
)

// A family is the ops that one function computes on slices of a type.
type family uint8

// The families.
const (
	ofPairs       family = iota // of package vector, of two numbers
	ofQuotients                 // and powers
	ofOne                       // of one number, in package vector but for opSign
	ofFunctions                 // in float64
	ofThree                     // of three numbers
	ofComparisons               // of two numbers
	ofClasses                   // of one number
	ofBits                      // of integers and bools
)

// ops has, for each op, its name and the names of its operands in errors, its dtypes, its family
// and its number in package vector.
var ops = [...]struct {
	name    string
	others  []string
	takes   kinds
	makes   tensor.DType // dtype of the result; 0 means the dtype of the operands
	instead string       // advice in the error for integers and bools
	family  family
	vector  vector.Op
}{
	opAdd:      {"add", y, numbers, 0, "", ofPairs, vector.Add},
	opSub:      {"sub", y, numbers, 0, "", ofPairs, vector.Sub},
	opMul:      {"mul", y, numbers, 0, "", ofPairs, vector.Mul},
	opDiv:      {"div", y, fractions | complexes, 0, ": Cast first, or call FloorDiv", ofPairs, vector.Div},
	opFloorDiv: {"floor div", y, reals, 0, "", ofQuotients, 0},
	opMod:      {"mod", y, reals, 0, "", ofQuotients, 0},
	opPow:      {"pow", y, reals, 0, "", ofQuotients, 0},
	opMinimum:  {"minimum", y, reals, 0, "", ofPairs, vector.Minimum},
	opMaximum:  {"maximum", y, reals, 0, "", ofPairs, vector.Maximum},

	opNeg:   {"neg", nil, numbers, 0, "", ofOne, vector.Neg},
	opAbs:   {"abs", nil, reals, 0, "", ofOne, vector.Abs},
	opSign:  {"sign", nil, reals, 0, "", ofOne, 0},
	opRelu:  {"relu", nil, reals, 0, "", ofOne, vector.Relu},
	opFloor: {"floor", nil, reals, 0, "", ofOne, vector.Floor},
	opCeil:  {"ceil", nil, reals, 0, "", ofOne, vector.Ceil},
	opRound: {"round", nil, reals, 0, "", ofOne, vector.Round},
	opTrunc: {"trunc", nil, reals, 0, "", ofOne, vector.Trunc},

	opSqrt:    {"sqrt", nil, fractions, 0, castFirst, ofOne, vector.Sqrt},
	opExp:     {"exp", nil, fractions, 0, castFirst, ofFunctions, 0},
	opLog:     {"log", nil, fractions, 0, castFirst, ofFunctions, 0},
	opTanh:    {"tanh", nil, fractions, 0, castFirst, ofFunctions, 0},
	opSigmoid: {"sigmoid", nil, fractions, 0, castFirst, ofFunctions, 0},

	opClamp:   {"clamp", []string{"low", "high"}, reals, 0, "", ofThree, 0},
	opLerp:    {"lerp", []string{"end", "weight"}, fractions, 0, castFirst, ofThree, 0},
	opAddCMul: {"add c mul", []string{"a", "b"}, numbers, 0, "", ofThree, 0},

	opEqual:        {"equal", y, numbers | bools, tensor.Bool, "", ofComparisons, vector.Equal},
	opNotEqual:     {"not equal", y, numbers | bools, tensor.Bool, "", ofComparisons, vector.NotEqual},
	opLess:         {"less", y, reals, tensor.Bool, "", ofComparisons, vector.Less},
	opLessEqual:    {"less equal", y, reals, tensor.Bool, "", ofComparisons, vector.LessEqual},
	opGreater:      {"greater", y, reals, tensor.Bool, "", ofComparisons, vector.Greater},
	opGreaterEqual: {"greater equal", y, reals, tensor.Bool, "", ofComparisons, vector.GreaterEqual},
	opIsNaN:        {"is nan", nil, numbers | bools, tensor.Bool, "", ofClasses, vector.IsNaN},
	opIsFinite:     {"is finite", nil, numbers | bools, tensor.Bool, "", ofClasses, vector.IsFinite},

	opAnd: {"and", y, bools | wholes, 0, "", ofBits, 0},
	opOr:  {"or", y, bools | wholes, 0, "", ofBits, 0},
	opXor: {"xor", y, bools | wholes, 0, "", ofBits, 0},
	opNot: {"not", nil, bools | wholes, 0, "", ofBits, 0},
}

const castFirst = ": Cast first"

// y names the second operand.
var y = []string{"y"}

// kinds is a set of kinds of dtype.
type kinds uint8

const (
	bools kinds = 1 << iota
	wholes
	fractions
	complexes

	reals   = wholes | fractions
	numbers = reals | complexes
)

// kindOf returns the kind of a dtype.
func kindOf(d tensor.DType) kinds {
	switch {
	case d.IsInteger():
		return wholes
	case d.IsFloat():
		return fractions
	case d.IsComplex():
		return complexes
	case d == tensor.Bool:
		return bools
	}
	return 0
}

// String names the kinds for errors.
func (k kinds) String() string {
	switch k {
	case reals:
		return "real numbers"
	case fractions:
		return "floating-point numbers"
	case numbers:
		return "numbers"
	case fractions | complexes:
		return "floating-point or complex"
	case bools | wholes:
		return "bool or integers"
	case bools:
		return "bool"
	case wholes:
		return "integers"
	}
	return "bool or numbers"
}

// kernels has the kernel of each op.
var kernels = func() (all [len(ops)]*tensor.Kernel) {
	for i := range all {
		o, weight := op(i), 1
		if o == opPow || ops[o].family == ofFunctions {
			weight = 8 // the cost relative to a copy
		}
		all[o] = &tensor.Kernel{
			Op: ops[o].name, Others: ops[o].others, Weight: weight,
			Check:    func(xs []*tensor.Tensor, _ int) (tensor.DType, shapeops.Shape, error) { return o.check(xs) },
			Elements: func(b *tensor.Block) error { return runners[b.Src[0].DType](b, o) },
			Fails: func(xs []*tensor.Tensor) bool { // because of a sum out of range, or an invalid bool
				switch kindOf(xs[0].DType()) {
				case bools:
					return ops[o].family != ofClasses
				case wholes:
					return ops[o].family == ofQuotients || slices.Contains([]op{opAdd, opSub, opMul, opNeg, opAbs, opAddCMul}, o)
				}
				return false
			},
		}
	}
	return all
}()

// check checks the operands, and returns the dtype and shape of the result.
func (o op) check(xs []*tensor.Tensor) (tensor.DType, shapeops.Shape, error) {
	d := xs[0].DType()
	if kindOf(d)&ops[o].takes == 0 {
		instead := ""
		if d.IsInteger() || d == tensor.Bool {
			instead = ops[o].instead
		}
		return 0, nil, fmt.Errorf("%w: got %v, want %v%s", tensor.ErrDType, d, ops[o].takes, instead)
	}
	for i, x := range xs[1:] {
		if x.DType() != d {
			return 0, nil, fmt.Errorf("%s: %w: got %v, want %v", ops[o].others[i], tensor.ErrDType, x.DType(), d)
		}
	}
	if ops[o].makes != 0 {
		return ops[o].makes, xs[0].Shape(), nil
	}
	return d, xs[0].Shape(), nil
}

// apply returns the result of an op on x and others.
func apply[T Elementwise[T]](o op, x T, others ...any) (T, error) {
	var none T
	if x == none {
		return none, fmt.Errorf("%s: %w", ops[o].name, errNilX)
	}
	return x.Ops().Leafwise(kernels[o], others...)
}

// applyInto sets dst to the result of an op on x and others.
func applyInto[T Elementwise[T]](o op, dst, x T, others ...any) error {
	var none T
	if x == none {
		return fmt.Errorf("%s: %w", ops[o].name, errNilX)
	}
	if dst == none {
		return fmt.Errorf("%s: destination: %w: got nil", ops[o].name, tensor.ErrKind)
	}
	return x.Ops().LeafwiseInto(dst, kernels[o], others...)
}
