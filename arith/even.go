package arith

// An evenFold is a fold to means that returns the number itself for a line of equal numbers, where
// a rounded sum could give another one. It compares until two numbers differ.
type evenFold[T floats] struct {
	fold[T, T]
	first []T    // the first number of each line
	seen  []bool // whether the line has one
	even  []int  // the lines whose numbers all equal the first; their mean is 0 for -0, as the sum is
}

// evenly returns the recipe r with evenFolds around its folds.
func evenly[T floats](r recipe[T, T]) recipe[T, T] {
	plain := r.fold
	r.fold = func(first []T) fold[T, T] { return &evenFold[T]{fold: plain(first)} }
	return r
}

func (f *evenFold[T]) begin(at, lines int) {
	f.fold.begin(at, lines)
	f.first, f.seen, f.even = grown(f.first, lines), zeros(f.seen, lines), f.even[:0]
	for i := range lines {
		f.even = append(f.even, i)
	}
}

// even returns the first number of x that counts, or v if seen is true, and whether there is one.
// It returns true if all numbers that count equal it.
func even[T floats](x []T, bits []byte, v T, seen bool) (first T, some, all bool) {
	for i, next := range x {
		switch {
		case bits != nil && bits[i] == 0:
		case !seen:
			v, seen = next, true
		case next != v:
			return v, true, false
		}
	}
	return v, seen, true
}

func (f *evenFold[T]) line(at int, x []T, bits []byte) {
	f.fold.line(at, x, bits)
	if len(f.even) > 0 {
		var all bool
		if f.first[0], f.seen[0], all = even(x, bits, f.first[0], f.seen[0]); !all {
			f.even = f.even[:0]
		}
	}
}

func (f *evenFold[T]) rows(x []T, r rowList) {
	f.fold.rows(x, r)
	for i, off := range r.offs {
		if len(f.even) == 0 {
			return
		}
		kept := f.even[:0]
		for _, line := range f.even {
			v := x[off+line]
			switch {
			case !r.counts(i, line):
			case !f.seen[line]:
				f.first[line], f.seen[line] = v, true
			case v != f.first[line]:
				continue
			}
			kept = append(kept, line)
		}
		f.even = kept
	}
}

func (f *evenFold[T]) end(dst []T) error {
	err := f.fold.end(dst)
	for _, line := range f.even {
		if v := f.first[line]; f.seen[line] && v == v {
			dst[line] = v + 0
		}
	}
	return err
}

func (f *evenFold[T]) lines(at int, dst, x []T, n int, bits []byte) error {
	err := foldLines(f.fold, at, dst, x, n, bits)
	for i := range dst {
		f.setEven(dst[i:i+1], x[i*n:(i+1)*n], partOf(bits, i*n, n))
	}
	return err
}

func (f *evenFold[T]) groups(at int, dst, x []T, splits []int64) error {
	err := foldGroups(f.fold, at, dst, x, splits)
	for i := range dst {
		f.setEven(dst[i:i+1], x[splits[i]-splits[0]:splits[i+1]-splits[0]], nil)
	}
	return err
}

// setEven sets dst to the number that all numbers of x that count are, if they are equal.
func (f *evenFold[T]) setEven(dst, x []T, bits []byte) {
	if len(x) > 1 && bits == nil && x[0] != x[1] { // as in most lines
		return
	}
	if v, some, all := even(x, bits, 0, false); some && all && v == v {
		dst[0] = v + 0
	}
}

func (f *evenFold[T]) join(next fold[T, T], at int) {
	other := next.(*evenFold[T])
	f.fold.(joiner[T, T]).join(other.fold, at)
	kept, same := f.even[:0], other.even
	for _, line := range f.even {
		for len(same) > 0 && same[0] < line {
			same = same[1:]
		}
		if len(same) == 0 || same[0] != line || f.seen[line] && other.seen[line] && f.first[line] != other.first[line] {
			continue
		}
		if kept = append(kept, line); other.seen[line] {
			f.first[line], f.seen[line] = other.first[line], true
		}
	}
	f.even = kept
}
