package memmap

import (
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A rowsFact describes a ragged tensor in the parent's meta.json: all that determines the sizes of
// its files.
type rowsFact struct {
	dtype    tensor.DType
	batch    shapeops.Shape
	features shapeops.Shape
	levels   []levelFact
	more     []byte // fields of a later version

	among *siblings // the entries of its dictionary, set while they are read
}

// A levelFact describes one level of a ragged tensor.
type levelFact struct {
	rows int      // number of all rows
	of   []string // path, below the dictionary, of the leaf that has the offsets; nil for the tensor itself
	sums []uint32 // of the offsets of the tensor itself; nil for none
	more []byte   // fields of a later version
}

// later reports whether unknown fields, of a later version, were kept.
func (f *rowsFact) later() bool {
	return f != nil && (f.more != nil || slices.ContainsFunc(f.levels, func(l levelFact) bool { return l.more != nil }))
}

// own reports whether the tensor itself has the offsets of a level, from 1.
func (f *rowsFact) own(level int) bool { return len(f.levels[level-1].of) == 0 }

// shared returns the number of levels, from the first, whose offsets another leaf has.
func (f *rowsFact) shared() int {
	n := 0
	for n < len(f.levels) && !f.own(n+1) {
		n++
	}
	return n
}

// refersTo reports whether a leaf of the dictionary at path has offsets of the tensor.
func (f *rowsFact) refersTo(path []string) bool {
	return slices.ContainsFunc(f.levels, func(l levelFact) bool {
		return len(l.of) > len(path) && slices.Equal(l.of[:len(path)], path)
	})
}

// rowsAt returns the number of rows of a level; level 0 is the batch.
func (f *rowsFact) rowsAt(level int) int {
	if level == 0 {
		return f.batch.Size()
	}
	return f.levels[level-1].rows
}

// values returns the shape of the values.
func (f *rowsFact) values() shapeops.Shape {
	return append(shapeops.Shape{f.rowsAt(len(f.levels))}, f.features...)
}

// check returns an error if the shape of the tensor is invalid.
func (f *rowsFact) check() error {
	if err := checkRank(f.batch, len(f.levels), f.features); err != nil {
		return err
	}
	return f.values().Check()
}

// checkRank returns an error if a ragged tensor has more dims than the format's readers take.
func checkRank(batch shapeops.Shape, depth int, features shapeops.Shape) error {
	return checkShape(slices.Concat(batch, slices.Repeat(shapeops.Shape{1}, depth), features))
}

// text returns the data that Python sees, "ragged int64 [3 * * 2]". For a tensor that grows, the
// batch dims are stars too, so that the text does not change.
func (f *rowsFact) text(grows bool) string {
	b := append([]byte("ragged "+f.dtype.String()), " ["...)
	add := func(text string) {
		if b[len(b)-1] != '[' {
			b = append(b, ' ')
		}
		b = append(b, text...)
	}
	for _, n := range f.batch {
		if grows {
			add("*")
		} else {
			add(strconv.Itoa(n))
		}
	}
	for range f.levels {
		add("*")
	}
	for _, n := range f.features {
		add(strconv.Itoa(n))
	}
	return string(append(b, ']'))
}

// rows reads the description of a ragged tensor.
func (r *factReader) rows() (*rowsFact, error) {
	f := &rowsFact{}
	err := r.Object(func(name []byte) (err error) {
		switch string(name) {
		case "dtype":
			f.dtype, err = r.dtype()
		case "batch":
			f.batch, err = r.shape()
		case "features":
			f.features, err = r.shape()
		case "levels":
			f.levels, err = r.levels()
		default:
			err = r.unknown(string(name), &f.more)
		}
		return err
	})
	if err == nil && f.dtype == 0 {
		err = corrupt("a ragged tensor without a dtype")
	}
	return f, err
}

func (r *factReader) dtype() (tensor.DType, error) {
	text, err := r.Text()
	if err != nil {
		return 0, err
	}
	dtype, err := tensor.ParseDType(string(text))
	if err != nil {
		return 0, corrupt("there is no dtype %s", quote(string(text)))
	}
	return dtype, nil
}

func (r *factReader) levels() ([]levelFact, error) {
	var levels []levelFact
	err := r.Array(func(i int) error {
		if i == maxDims {
			return corrupt("a ragged tensor of more than %d levels", maxDims)
		}
		l, err := r.level()
		levels = append(levels, l)
		return err
	})
	return levels, err
}

func (r *factReader) level() (l levelFact, err error) {
	err = r.Object(func(name []byte) (err error) {
		switch string(name) {
		case "rows":
			var n int64
			if n, err = r.Int(); err == nil && n < 0 {
				err = corrupt("got %d rows, want at least 0", n)
			}
			l.rows = int(n)
		case "offsets":
			l.of, err = r.texts()
		case "sums":
			l.sums, err = r.sums()
		default:
			err = r.unknown(string(name), &l.more)
		}
		return err
	})
	return l, err
}

// sizes reads the description of a nested tensor.
func (r *factReader) sizes() (sums []uint32, err error) {
	err = r.Object(func(name []byte) (err error) {
		if string(name) != "sums" {
			return r.Skip()
		}
		sums, err = r.sums()
		return err
	})
	return sums, err
}

// appendTo appends the value of the field.
func (f *rowsFact) appendTo(b []byte) []byte {
	b = append(append(append(b, `{"dtype":"`...), f.dtype.String()...), '"')
	b = appendShape(append(b, `,"batch":`...), f.batch)
	b = appendShape(append(b, `,"features":`...), f.features)
	b = append(b, `,"levels":[`...)
	for i := range f.levels {
		if i > 0 {
			b = append(b, ',')
		}
		b = f.levels[i].appendTo(b)
	}
	return append(append(append(b, ']'), f.more...), '}')
}

func (l *levelFact) appendTo(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"rows":`...), int64(l.rows), 10)
	if len(l.of) > 0 {
		b = appendTexts(append(b, `,"offsets":`...), l.of)
	}
	if l.sums != nil {
		b = appendSums(append(b, `,"sums":`...), l.sums)
	}
	return append(append(b, l.more...), '}')
}

// rowsFactOf describes t, without the rows and offsets of its levels.
func rowsFactOf(t *ragged.Tensor) *rowsFact {
	return &rowsFact{
		dtype: t.DType(), batch: t.Shape().Clone(), features: t.Features().Clone(),
		levels: make([]levelFact, t.Depth()),
	}
}
