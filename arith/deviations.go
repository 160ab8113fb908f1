package arith

import "math"

// spreadOf returns the reduction to variances, or to standard deviations if root is true.
func spreadOf(name string, opt VarOptions, root bool) *reduction {
	finish := func(sums []float64, count int) error {
		for i, sum := range sums {
			if sums[i] = math.NaN(); count > 0 && count > opt.Correction {
				sums[i] = sum / float64(count-opt.Correction)
			}
		}
		return nil
	}
	rooted := func(checked bool) recipe[float64, float64] {
		return deviationsTo(func(sums []float64, count int) error {
			_ = finish(sums, count) // cannot fail
			return roots(checked)(sums, count)
		})
	}
	out := &reduction{name: name, makes: realDType, wants: "real numbers"}
	if out.of = inFloat64.with(deviationsTo(finish)); root {
		out.of = inRange(inFloat64, inFloat64, rooted(true), rooted(false))
	}
	return out
}

// deviationsTo returns the recipe of sums of squared deviations from the means, which finish turns
// into results.
func deviationsTo(finish func(sums []float64, count int) error) recipe[float64, float64] {
	return recipe[float64, float64]{
		first: func() fold[float64, float64] { return float64Means.fold(nil) }, joins: true,
		fold: func(means []float64) fold[float64, float64] {
			return &wideFold[float64, float64, float64]{
				fold: &floatSum[float64]{finish: finish},
				widen: func(dst, src []float64, line, per int) {
					if per == 1 {
						means := means[line:][:len(src)]
						for i, v := range src {
							dst[i] = (v - means[i]) * (v - means[i])
						}
						return
					}
					for ; len(src) > 0; dst, src, line = dst[per:], src[per:], line+1 {
						mean := means[line]
						for i, v := range src[:per] {
							dst[i] = (v - mean) * (v - mean)
						}
					}
				},
			}
		},
	}
}
