//go:build amd64 && !noasm && !race

package vector

import "golang.org/x/sys/cpu"

func init() {
	if x86 := cpu.X86; x86.HasAVX2 && x86.HasFMA && x86.HasF16C {
		kernels = assembly
	}
	if size := lastCache(); size > 0 {
		largeBytes = size / 2
	}
}

// lastCache returns the size of the last-level cache in bytes, or 0 if it is unknown. (Source:
// Intel's manual, CPUID leaf 4; AMD has the same in another leaf.)
func lastCache() (size int) {
	const intel, amd, mostCaches = 4, 0x8000001d, 8
	for _, leaf := range []uint32{intel, amd} {
		if last, _, _, _ := cpuid(leaf&(1<<31), 0); last < leaf {
			continue
		}
		for i := range uint32(mostCaches) {
			kind, parts, sets, _ := cpuid(leaf, i)
			if kind&31 == 0 {
				break
			}
			size = max(size, int(parts>>22+1)*int(parts>>12&1023+1)*int(parts&4095+1)*int(sets+1))
		}
	}
	return size
}

var assembly = table{
	slices: [numOps]pair[kernel]{
		Add:       {add32, add64},
		Sub:       {sub32, sub64},
		Mul:       {mul32, mul64},
		Div:       {div32, div64},
		Minimum:   {minimum32, minimum64},
		Maximum:   {maximum32, maximum64},
		Neg:       {neg32, neg64},
		Abs:       {abs32, abs64},
		Relu:      {relu32, relu64},
		Sqrt:      {sqrt32, sqrt64},
		Floor:     {floor32, floor64},
		Ceil:      {ceil32, ceil64},
		Round:     {round32, round64},
		Trunc:     {trunc32, trunc64},
		Equal:     {equal32, equal64},
		NotEqual:  {notEqual32, notEqual64},
		Less:      {less32, less64},
		LessEqual: {lessEqual32, lessEqual64},
		IsNaN:     {isNaN32, isNaN64},
		IsFinite:  {isFinite32, isFinite64},
	},
	number: [numOps]pair[kernel]{
		Add:          {addNumber32, addNumber64},
		Sub:          {subNumber32, subNumber64},
		Mul:          {mulNumber32, mulNumber64},
		Div:          {divNumber32, divNumber64},
		Minimum:      {minimumNumber32, minimumNumber64},
		Maximum:      {maximumNumber32, maximumNumber64},
		Equal:        {equalNumber32, equalNumber64},
		NotEqual:     {notEqualNumber32, notEqualNumber64},
		Less:         {lessNumber32, lessNumber64},
		LessEqual:    {lessEqualNumber32, lessEqualNumber64},
		Greater:      {greaterNumber32, greaterNumber64},
		GreaterEqual: {greaterEqualNumber32, greaterEqualNumber64},
	},
	clamp:         pair[kernel]{clamp32, clamp64},
	least:         pair[kernel]{least32, least64},
	greatest:      pair[kernel]{greatest32, greatest64},
	blend:         pair[kernel]{blend32, blend64},
	sums:          sums32,
	addRows:       pair[rowKernel]{addRows32, addRows64},
	minimumRows:   pair[rowKernel]{minimumRows32, minimumRows64},
	maximumRows:   pair[rowKernel]{maximumRows32, maximumRows64},
	widenF16:      widenF1632,
	widenBF16:     widenBF1632,
	narrowF16:     narrowF1632,
	narrowBF16:    narrowBF1632,
	ofBytes:       ofBytes32,
	toBytes:       toBytes32,
	scale:         scale32,
	scaleBytes:    scaleBytes32,
	keys:          keys32,
	exp:           exp32,
	log:           log32,
	tanh:          tanh32,
	sigmoid:       sigmoid32,
	weightRows:    weightRows32,
	addWeightRows: addWeightRows32,
	transpose:     [5]transposer{1: transpose8, 2: transpose16, 4: transpose32},
}
