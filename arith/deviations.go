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
		return &reduction{name: name, makes: realDType, wants: "real numbers", of: inFloat64.with(deviationsTo(finish))}
	}
	rooted := func(roots func(sums []float64, count int) error) recipe[float64, float64] {
		return deviationsTo(func(sums []float64, count int) error {
			_ = finish(sums, count) // cannot fail
			return roots(sums, count)
		})
	}
	return &reduction{name: name, makes: realDType, wants: "real numbers", of: inRange(inFloat64, inFloat64, rooted(checkedRoots), rooted(roots))}
}

// deviationsTo returns the recipe of sums of squared deviations, which finish turns into results.
func deviationsTo(finish func(sums []float64, count int) error) recipe[float64, float64] {
	return recipe[float64, float64]{
		first: func() fold[float64, float64] { return float64Means.fold(nil) }, joins: true,
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

func (d *deviations) line(at int, x []float64, bits []byte) {
	mean := d.mean[0]
	for from := 0; from < len(x); from += wideChunk {
		n := min(len(x)-from, wideChunk)
		d.room = grown(d.room, n)
		for i, v := range x[from : from+n] {
			d.room[i] = (v - mean) * (v - mean)
		}
		d.sums.line(at+from, d.room[:n], partOf(bits, from, n))
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
		part.offs = d.list
		d.sums.rows(d.room, part)
	}
}

func (d *deviations) end(dst []float64) error { return d.sums.end(dst) }

func (d *deviations) join(other fold[float64, float64], at int) {
	d.sums.join(&other.(*deviations).sums, at)
}
