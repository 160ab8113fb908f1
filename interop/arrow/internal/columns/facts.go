package columns

import "slices"

// Facts has the nulls and the dictionaries of all batches of a file. It does not read the other
// values. path is the number of a column of the schema, then of a field of its type, which is 0 for
// a list, and so on.
type Facts interface {
	// Nulls reports whether a field has nulls in any batch.
	Nulls(path ...int) bool
	// Texts returns the texts of the dictionary of a field, in any batch, each once; nil for none.
	Texts(path ...int) []string
}

// Learn does the work of [Inferrer.Add] for all batches of a file, from its facts. The null values
// in a struct that is null count too.
func (x *Inferrer) Learn(f Facts) {
	x.seen = true
	for _, c := range x.roots {
		c.learn(f, []int{c.field})
	}
}

// learn learns about a column and those in it.
func (c *column) learn(f Facts, path []int) {
	for _, p := range c.places() {
		if p.never { // a byte of binary data
			break
		}
		p.nulls = p.nulls || f.Nulls(path...)
		if p != &c.leaf {
			path = append(path, 0)
		}
	}
	if c.leaf.form.layout == codes {
		if texts := f.Texts(path...); texts != nil {
			c.texts = make(map[string]int32, len(texts))
			for i, text := range texts {
				c.texts[text] = int32(i)
			}
		}
	}
	for _, inner := range c.inner {
		inner.learn(f, append(slices.Clone(path), inner.field))
	}
}

// Columns returns the numbers of the columns of the schema that the entries need. [Reader.Dict]
// looks at no others.
func (r *Reader) Columns() []int {
	var needed []int
	for _, c := range r.roots {
		if c.spec != nil {
			needed = append(needed, c.field)
		}
	}
	slices.Sort(needed)
	return needed
}
