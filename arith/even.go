package arith

// An evenFold is a fold to means that returns the number itself for a line of equal numbers, where
// a rounded sum could give another one. It compares until two numbers differ.
type evenFold[T floats] struct {
	fold[T, T]
	count int   // rows so far
	first []T   // the first number of each line
	even  []int // the lines whose numbers all equal the first
}

// evenly returns the recipe r with evenFolds around its folds.
func evenly[T floats](r recipe[T, T]) recipe[T, T] {
	plain := r.fold
	r.fold = func(first []T) fold[T, T] { return &evenFold[T]{fold: plain(first)} }
	return r
}

// mean returns the mean of equal numbers; it is 0 for -0, as the sum is.
func (f *evenFold[T]) mean(v T) T { return v + 0 }

func (f *evenFold[T]) begin(at, lines int) {
	f.fold.begin(at, lines)
	f.count, f.even = 0, f.even[:0]
	f.first = grown(f.first, lines)
	for i := range lines {
		f.even = append(f.even, i)
	}
}

func (f *evenFold[T]) line(at int, x []T) {
	f.fold.line(at, x)
	if len(x) == 0 || len(f.even) == 0 {
		return
	}
	if f.count == 0 {
		f.first[0] = x[0]
	}
	f.count += len(x)
	if !allEqual(x, f.first[0]) {
		f.even = f.even[:0]
	}
}

func (f *evenFold[T]) rows(x []T, r rowList) {
	f.fold.rows(x, r)
	for _, off := range r.offs {
		if len(f.even) == 0 {
			return
		}
		if f.count++; f.count == 1 {
			copy(f.first[:len(f.even)], x[off:])
			continue
		}
		f.keep(func(line int) bool { return x[off+line] == f.first[line] })
	}
}

// keep keeps the even lines for which is returns true.
func (f *evenFold[T]) keep(is func(line int) bool) {
	kept := f.even[:0]
	for _, line := range f.even {
		if is(line) {
			kept = append(kept, line)
		}
	}
	f.even = kept
}

func (f *evenFold[T]) end(dst []T) error {
	err := f.fold.end(dst)
	if f.count > 0 {
		for _, line := range f.even {
			if v := f.first[line]; v == v {
				dst[line] = f.mean(v)
			}
		}
	}
	return err
}

func (f *evenFold[T]) lines(at int, dst, x []T, n int) error {
	err := foldLines(f.fold, at, dst, x, n)
	second := min(1, n-1) // most lines differ there
	if n == 0 {
		return err
	}
	for i := range dst {
		if x[0] == x[second] && allEqual(x[:n], x[0]) {
			dst[i] = f.mean(x[0])
		}
		x = x[n:]
	}
	return err
}

func (f *evenFold[T]) groups(at int, dst, x []T, splits []int64) error {
	err := foldGroups(f.fold, at, dst, x, splits)
	for i := range dst {
		if s := x[splits[i]-splits[0] : splits[i+1]-splits[0]]; len(s) > 0 && allEqual(s, s[0]) {
			dst[i] = f.mean(s[0])
		}
	}
	return err
}

func (f *evenFold[T]) join(next fold[T, T]) {
	other := next.(*evenFold[T])
	f.fold.(joiner[T, T]).join(other.fold)
	switch {
	case other.count == 0 && len(other.even) > 0: // it has got nothing
	case f.count == 0 && len(f.even) > 0:
		f.count, f.first, f.even = other.count, append(f.first[:0], other.first...), append(f.even[:0], other.even...)
	default:
		same := other.even
		f.keep(func(line int) bool {
			for len(same) > 0 && same[0] < line {
				same = same[1:]
			}
			return len(same) > 0 && same[0] == line && other.first[line] == f.first[line]
		})
	}
}

// allEqual reports whether all numbers of x equal v.
func allEqual[T floats](x []T, v T) bool {
	for _, w := range x {
		if w != v {
			return false
		}
	}
	return true
}
