package arith

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/tensor"
)

// A lap is a reduction and the plain loop, on one core, that makes the same.
type lap struct {
	name  string
	over  Over
	x     *tensor.Tensor
	plain func(dst, x []float32)
	verb  func(x *tensor.Tensor, over Over) (*tensor.Tensor, error)
}

// BenchmarkReduce has beside each operation a plain loop that adds in the same order on one core,
// and reports how many times as fast the operation is: ratio.
func BenchmarkReduce(b *testing.B) {
	for _, l := range laps() {
		b.Run(l.name, func(b *testing.B) {
			to, x := make([]float32, tensor.Must(l.verb(l.x, l.over)).Size()), tensor.Must(tensor.Of[float32](l.x))
			b.SetBytes(int64(l.x.ByteSize()))
			var plain time.Duration
			for b.Loop() {
				b.StopTimer()
				start := time.Now()
				l.plain(to, x)
				plain += time.Since(start)
				b.StartTimer()
				if _, err := l.verb(l.x, l.over); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(plain)/float64(b.Elapsed()), "ratio")
		})
	}
}

// BenchmarkReduceBools has beside each operation one look at each byte on one core: ratio.
func BenchmarkReduceBools(b *testing.B) {
	bits := make([]byte, 64<<20)
	for i := range bits {
		bits[i] = 1
	}
	x := tensor.Must(tensor.FromBytes(tensor.Bool, bits, len(bits)))
	floats := tensor.Must(tensor.New(tensor.Float32, 1, 16<<20))
	mask := tensor.Must(x.Narrow(0, 0, floats.Size()))
	for name, op := range map[string]func() (*tensor.Tensor, error){
		"op=all/line":           func() (*tensor.Tensor, error) { return All(x, Whole) },
		"op=any/rows":           func() (*tensor.Tensor, error) { return Any(tensor.Must(x.Reshape(-1, 1024)), Dims(0)) },
		"op=all/lines":          func() (*tensor.Tensor, error) { return All(tensor.Must(x.Reshape(-1, 1024)), Dims(1)) },
		"op=sum/line":           func() (*tensor.Tensor, error) { return Sum(x, Whole) },
		"op=max/line/mask=each": func() (*tensor.Tensor, error) { return Max(floats, Dims(1).Where(tensor.Must(mask.Reshape(1, -1)))) },
		"op=sum/rows/mask=each": func() (*tensor.Tensor, error) {
			return Sum(tensor.Must(floats.Reshape(-1, 1024)), Dims(1).Where(tensor.Must(mask.Reshape(-1, 1024))))
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(bits)))
			var plain time.Duration
			for b.Loop() {
				b.StopTimer()
				start := time.Now()
				if err := tensor.CheckBools(bits); err != nil {
					b.Fatal(err)
				}
				plain += time.Since(start)
				b.StartTimer()
				if _, err := op(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(plain)/float64(b.Elapsed()), "ratio")
		})
	}
}

// plainLines adds up the lines of a width, block by block.
func plainLines(width int, mask []bool) func(dst, x []float32) {
	return func(dst, x []float32) {
		var tree plainTree
		for l := range dst {
			tree.blocks = 0
			for from := l * width; from < (l+1)*width; from += 64 {
				block, sum := x[from:min(from+64, (l+1)*width)], float32(0)
				for i, v := range block {
					if mask == nil || mask[from+i] {
						sum += v
					}
				}
				tree.push(sum)
			}
			dst[l] = tree.total()
		}
	}
}

// A plainTree adds up blocks pairwise.
type plainTree struct {
	sums   [40]float32
	blocks int
}

func (t *plainTree) push(sum float32) {
	level := 0
	for b := t.blocks; b&1 == 1; b >>= 1 {
		sum = t.sums[level] + sum
		level++
	}
	t.sums[level] = sum
	t.blocks++
}

func (t *plainTree) total() (sum float32) {
	first := true
	for level := 0; t.blocks>>level > 0; level++ {
		switch {
		case t.blocks>>level&1 == 0:
		case first:
			sum, first = t.sums[level], false
		default:
			sum = t.sums[level] + sum
		}
	}
	return sum
}

// plainRows adds up rows into dst, in blocks of 64 rows. A mask has a bit for each row, or for each
// element.
func plainRows(mask []bool, each bool) func(dst, x []float32) {
	return func(dst, x []float32) {
		w, rows := len(dst), len(x)/len(dst)
		part, trees := make([]float32, w), make([]plainTree, w)
		for r := range rows {
			if row := x[r*w : (r+1)*w]; each || mask == nil || mask[r] {
				for c, v := range row {
					if !each || mask[r*w+c] {
						part[c] += v
					}
				}
			}
			if r%64 == 63 || r == rows-1 {
				for c := range part {
					trees[c].push(part[c])
					part[c] = 0
				}
			}
		}
		for c := range dst {
			dst[c] = trees[c].total()
		}
	}
}

func plainMax(dst, x []float32) {
	m := x[0]
	for _, v := range x {
		m = max(m, v)
	}
	dst[0] = m
}

func plainMaxRows(dst, x []float32) {
	copy(dst, x)
	for len(x) > 0 {
		for c, v := range x[:len(dst)] {
			dst[c] = max(dst[c], v)
		}
		x = x[len(dst):]
	}
}

func plainGroups(splits []int64) func(dst, x []float32) {
	return func(dst, x []float32) {
		for g := range dst {
			sum := float32(0)
			for _, v := range x[splits[g]:splits[g+1]] {
				sum += v
			}
			dst[g] = sum
		}
	}
}

func laps() (all []lap) {
	const size = 16 << 20
	data, bits := random[float32](size), make([]bool, size)
	for i, v := range randomIDs(size, 2) {
		bits[i] = v == 1
	}
	of := func(width int) *tensor.Tensor {
		return tensor.Must(tensor.From(data[:size/width*width], size/width, width))
	}
	maskOf := func(shape ...int) *tensor.Tensor {
		n := 1
		for _, s := range shape {
			n *= s
		}
		return tensor.Must(tensor.From(bits[:n], shape...))
	}
	sum, mean := Sum[*tensor.Tensor], Mean[*tensor.Tensor]
	for _, w := range []int{8, 100, 1024, 65536} {
		x, rows := of(w), size/w
		add := func(name string, over Over, plain func(dst, x []float32)) {
			all = append(all, lap{fmt.Sprintf("op=sum/width=%d/%s", w, name), over, x, plain, sum})
			if w == 1024 {
				all = append(all, lap{fmt.Sprintf("op=mean/width=%d/%s", w, name), over, x, plain, mean})
			}
		}
		add("dim=1", Dims(1), plainLines(w, nil))
		add("dim=0", Dims(0), plainRows(nil, false))
		add("dim=0/mask=rows", Dims(0).Where(maskOf(rows)), plainRows(bits, false))
		add("dim=1/mask=each", Dims(1).Where(maskOf(rows, w)), plainLines(w, bits))
		add("dim=0/mask=each", Dims(0).Where(maskOf(rows, w)), plainRows(bits, true))
	}
	line := tensor.Vector(data...)
	pairs := make([]int64, 1<<20+1)
	for i := range pairs {
		pairs[i] = int64(2 * i)
	}
	x2 := tensor.Vector(data[:2<<20]...)
	return append(all,
		lap{"op=sum/line", Whole, line, plainLines(size, nil), sum},
		lap{"op=sum/line/mask=each", Whole.Where(maskOf(size)), line, plainLines(size, bits), sum},
		lap{"op=sum/groups=pairs", BySplits(tensor.Vector(pairs...)), x2, plainGroups(pairs), sum},
		lap{"op=max/line", Whole, line, plainMax, Max[*tensor.Tensor]},
		lap{"op=max/width=1024/dim=0", Dims(0), of(1024), plainMaxRows, Max[*tensor.Tensor]},
	)
}
