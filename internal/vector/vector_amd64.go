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
	add:                pair[kernel]{add32, add64},
	sub:                pair[kernel]{sub32, sub64},
	mul:                pair[kernel]{mul32, mul64},
	div:                pair[kernel]{div32, div64},
	minimum:            pair[kernel]{minimum32, minimum64},
	maximum:            pair[kernel]{maximum32, maximum64},
	addNumber:          pair[kernel]{addNumber32, addNumber64},
	subNumber:          pair[kernel]{subNumber32, subNumber64},
	mulNumber:          pair[kernel]{mulNumber32, mulNumber64},
	divNumber:          pair[kernel]{divNumber32, divNumber64},
	minimumNumber:      pair[kernel]{minimumNumber32, minimumNumber64},
	maximumNumber:      pair[kernel]{maximumNumber32, maximumNumber64},
	clamp:              pair[kernel]{clamp32, clamp64},
	neg:                pair[kernel]{neg32, neg64},
	abs:                pair[kernel]{abs32, abs64},
	relu:               pair[kernel]{relu32, relu64},
	sqrt:               pair[kernel]{sqrt32, sqrt64},
	floor:              pair[kernel]{floor32, floor64},
	ceil:               pair[kernel]{ceil32, ceil64},
	round:              pair[kernel]{round32, round64},
	trunc:              pair[kernel]{trunc32, trunc64},
	equal:              pair[kernel]{equal32, equal64},
	notEqual:           pair[kernel]{notEqual32, notEqual64},
	less:               pair[kernel]{less32, less64},
	lessEqual:          pair[kernel]{lessEqual32, lessEqual64},
	equalNumber:        pair[kernel]{equalNumber32, equalNumber64},
	notEqualNumber:     pair[kernel]{notEqualNumber32, notEqualNumber64},
	lessNumber:         pair[kernel]{lessNumber32, lessNumber64},
	lessEqualNumber:    pair[kernel]{lessEqualNumber32, lessEqualNumber64},
	greaterNumber:      pair[kernel]{greaterNumber32, greaterNumber64},
	greaterEqualNumber: pair[kernel]{greaterEqualNumber32, greaterEqualNumber64},
	isNaN:              pair[kernel]{isNaN32, isNaN64},
	isFinite:           pair[kernel]{isFinite32, isFinite64},
	least:              pair[kernel]{least32, least64},
	greatest:           pair[kernel]{greatest32, greatest64},
	blend:              pair[kernel]{blend32, blend64},
	sums:               sums32,
	addRows:            pair[rowKernel]{addRows32, addRows64},
	minimumRows:        pair[rowKernel]{minimumRows32, minimumRows64},
	maximumRows:        pair[rowKernel]{maximumRows32, maximumRows64},
	widenF16:           widenF1632,
	widenBF16:          widenBF1632,
	narrowF16:          narrowF1632,
	narrowBF16:         narrowBF1632,
	ofBytes:            ofBytes32,
	toBytes:            toBytes32,
	scale:              scale32,
	scaleBytes:         scaleBytes32,
	keys:               keys32,
	exp:                exp32,
	log:                log32,
	tanh:               tanh32,
	sigmoid:            sigmoid32,
	weightRows:         weightRows32,
	addWeightRows:      addWeightRows32,
}
