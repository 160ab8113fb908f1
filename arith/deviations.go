package arith

import "math"

// spreadOf returns the reduction to variances, or to standard deviations if root is true.
func spreadOf(name string, opt VarOptions, root bool) *reduction {
	finish := func(sums []float64, count int) error {
		for i := range sums {
			sums[i] = variance(sums[i], count, opt.Correction)
		}
		return nil
	}
	if !root {
		return &reduction{name, realDType, "real numbers", inFloat64.run(deviationsTo(finish)), true}
	}
	rooted := func(roots func(sums []float64, count int) error) recipe[float64, float64] {
		return deviationsTo(func(sums []float64, count int) error {
			_ = finish(sums, count) // cannot fail
			return roots(sums, count)
		})
	}
	return &reduction{name, realDType, "real numbers", inFloat64.inRange(rooted(checkedRoots), rooted(roots)), true}
}

// deviationsTo returns the recipe of sums of squared deviations, which finish turns into results.
func deviationsTo(finish func(sums []float64, count int) error) recipe[float64, float64] {
	means := evenly(summing(mean[float64]))
	return recipe[float64, float64]{
		first: func() fold[float64, float64] { return means.fold(nil) }, joins: true,
		fold: func(first []float64) fold[float64, float64] {
			return &deviations{sums: floatSum[float64]{finish: finish}, means: first}
		},
	}
}

// variance divides a sum of squares of count elements.
func variance(sum float64, count, correction int) float64 {
	if count == 0 || count <= correction {
		return math.NaN()
	}
	return sum / float64(count-correction)
}

// A deviations is a fold that adds the squared deviations from the means.
type deviations struct {
	sums  floatSum[float64]
	means []float64
	mean  []float64 // of the current lines
	room  []float64
	list  []int
}

func (d *deviations) begin(at, lines int) {
	d.sums.begin(at, lines)
	d.mean = d.means[at : at+lines]
}

func (d *deviations) line(at int, x []float64) {
	for len(x) > 0 {
		n, mean := min(len(x), wideChunk), d.mean[0]
		d.room = grown(d.room, n)
		for i, v := range x[:n] {
			d.room[i] = (v - mean) * (v - mean)
		}
		d.sums.line(at, d.room[:n])
		x = x[n:]
	}
}

func (d *deviations) rows(x []float64, r rowList) {
	d.room = grown(d.room, max(len(d.mean), min(wideChunk, len(d.mean)*len(r.offs))))
	for n := len(d.mean); len(r.offs) > 0; {
		part := r.first(min(len(r.offs), len(d.room)/n))
		d.list = d.list[:0]
		for k, off := range part.offs {
			row, mean := d.room[k*n:(k+1)*n], d.mean
			for i, v := range x[off:][:n] {
				row[i] = (v - mean[i]) * (v - mean[i])
			}
			d.list = append(d.list, k*n)
		}
		d.sums.rows(d.room, rowList{d.list, part.at})
	}
}

func (d *deviations) end(dst []float64) error { return d.sums.end(dst) }

func (d *deviations) join(other fold[float64, float64]) { d.sums.join(&other.(*deviations).sums) }
