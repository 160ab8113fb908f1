package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// Infer proposes a schema for the first n rows of r, or for all rows if n is 0. For each field it
// chooses the first of the types below that fits all these rows, and a Doc of one line that
// describes them. Check the result, and correct it where you know more:
//
//   - true and false are Bool
//   - integers are Int64, or Uint64 if necessary
//   - other numbers are Float64
//   - strings are text; if there are also numbers, or nothing else, "NaN", "+Inf" and "-Inf" are
//     numbers
//   - lists whose length is the same in all rows are dims; lists of other lengths are levels of a
//     ragged tensor, down to the last level at which lengths differ, and the dims below are
//     features
//   - lists that are always empty are ragged and Float64
//   - objects are nested keys; a field whose objects are always empty is KindDict
//   - a field that is null or missing in a row is Optional
//   - anything else is text, which Read accepts with [ReadOptions.Raw]: values of different
//     types, integers that no dtype holds, integers beside other numbers if Float64 would change a
//     digit, numbers that Float64 rounds to infinity or to 0, lists that contain objects, lists of
//     different lengths that contain strings or null, and fields that are always null
//
// Read with that option accepts all rows that Infer has read. Infer returns the errors of [Read],
// and tdict.ErrSchema if a field has the name of another field's mask. It may read beyond the n
// rows, and takes memory in proportion to the number of different fields.
func Infer(r io.Reader, n int) (tdict.Schema, error) {
	var in Inferrer
	if err := in.Add(r, n); err != nil {
		return nil, err
	}
	return in.Schema()
}

// An Inferrer proposes one schema for several files, as [Infer] does for one. The zero Inferrer is
// ready for use. Not safe for concurrent use.
type Inferrer struct{ rows inferrer }

// Add reads the first n rows of a file, or all rows if n is 0. It returns the errors of Infer.
// After an error the Inferrer must not be used.
func (x *Inferrer) Add(r io.Reader, n int) error {
	if n <= 0 {
		n = math.MaxInt
	}
	in := &x.rows
	var text []byte
	s := table.NewSplitter(r, lines{}, maxRecord)
	for range n {
		var err error
		if text, in.line, err = s.One(text); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		in.line += bytes.Count(bytes.TrimRight(text, "\n"), []byte{'\n'}) // blank lines before the row
		if err := in.add(text); err != nil {
			return &ParseError{Line: in.line, Err: err}
		}
	}
	return nil
}

// Schema proposes a schema for all rows. It returns tdict.ErrSchema if a table cannot have it.
func (x *Inferrer) Schema() (tdict.Schema, error) {
	s := x.rows.root.schema(nil, nil, x.rows.row)
	if _, err := table.New(s, table.Options{}); err != nil {
		return nil, err
	}
	return s, nil
}

// Notes returns a line for each field that Schema makes text though it has other values, with the
// reason. Call it after Schema.
func (x *Inferrer) Notes() []string { return x.rows.root.notes(nil, nil) }

// notes appends the notes of the fields of s, nested in outer unless it is nil.
func (s *seen) notes(outer *nestedkey.Key, all []string) []string {
	for _, f := range s.fields {
		key := nestedkey.Of(f.name)
		if outer != nil {
			key = nestedkey.Join(*outer, key)
		}
		if f.mixed != "" {
			all = append(all, fmt.Sprintf("%s becomes text: %s", errtext.Quote(string(key)), f.mixed))
		}
		all = f.notes(&key, all)
	}
	return all
}

// An inferrer reads rows for an Inferrer.
type inferrer struct {
	scan jsonscan.Scanner
	row  int
	line int // of the row
	root seen
}

// add adds a row.
func (in *inferrer) add(line []byte) error {
	in.row++
	in.scan.Reset(line, maxDepth)
	err := in.object(&in.root)
	if err == nil {
		err = in.scan.End()
	}
	return explained(line, err)
}

// explained adds to a syntax error that a file is JSON, but not JSON lines.
func explained(line []byte, err error) error {
	if !errors.Is(err, ErrSyntax) {
		return err
	}
	switch text := bytes.TrimSpace(line); {
	case bytes.HasPrefix(text, []byte{'['}):
		return fmt.Errorf("%w: the file is a JSON array, want an object on each line, as jq -c '.[]' writes them", err)
	case string(text) == "{":
		return fmt.Errorf("%w: the object has several lines, want one line for each, as jq -c . writes them", err)
	}
	return err
}

// A seen counts the values of one field by their types.
type seen struct {
	name   string
	row    int     // the last row with the field
	fields []*seen // of objects, in the order in which they first appear
	named  map[string]*seen

	table.Counts // of scalars, also in lists

	values, nulls, objects, lists int      // not in lists; values are not null
	listed                        int      // objects in lists
	inside                        bool     // nulls are in lists
	mixed                         string   // why the field is text, or ""
	shallow, deep                 int      // least and largest number of lists around a value
	lengths                       [][2]int // least and largest length of lists, by depth
}

// field returns the seen of a field of s.
func (s *seen) field(name []byte) *seen {
	if f := s.named[string(name)]; f != nil {
		return f
	}
	if s.named == nil {
		s.named = map[string]*seen{}
	}
	f := &seen{name: string(name), shallow: math.MaxInt, deep: -1}
	s.named[f.name], s.fields = f, append(s.fields, f)
	return f
}

// object adds an object.
func (in *inferrer) object(s *seen) error {
	return in.scan.Object(func(name []byte) error {
		f := s.field(name)
		if f.row == in.row {
			return duplicate(f.name)
		}
		if f.row = in.row; in.scan.Next() == 'n' {
			f.nulls++
		} else {
			f.values++
		}
		return in.value(f, 0)
	})
}

// value adds a value that is inside depth lists.
func (in *inferrer) value(s *seen, depth int) error {
	switch c := in.scan.Next(); {
	case c == 'n':
		s.inside = s.inside || depth > 0
		return in.scan.Null()
	case c == '{' && depth > 0:
		s.around(depth)
		s.listed++
		return in.scan.Skip()
	case c == '{':
		s.objects++
		return in.object(s)
	case c == '[':
		if depth == 0 {
			s.lists++
		}
		return in.list(s, depth)
	}
	s.around(depth)
	return in.scalar(s)
}

// around records the number of lists around a value.
func (s *seen) around(depth int) { s.shallow, s.deep = min(s.shallow, depth), max(s.deep, depth) }

// list adds a list that is inside depth others.
func (in *inferrer) list(s *seen, depth int) error {
	n := 0
	err := in.scan.Array(func(int) error {
		n++
		return in.value(s, depth+1)
	})
	s.length(depth, n)
	return err
}

// length records the length of a list.
func (s *seen) length(depth, n int) {
	for len(s.lengths) <= depth {
		s.lengths = append(s.lengths, [2]int{math.MaxInt, -1})
	}
	l := &s.lengths[depth]
	l[0], l[1] = min(l[0], n), max(l[1], n)
}

// scalar adds true, false, a number or a string.
func (in *inferrer) scalar(s *seen) error {
	switch in.scan.Next() {
	case 't', 'f':
		s.Bools++
		_, err := in.scan.Bool()
		return err
	case '"':
		text, err := in.scan.Text()
		if jsonscan.IsWord(text) {
			s.Word(text, in.line, table.IsWord(text))
		} else {
			s.Text(text, in.line)
		}
		return err
	}
	text, err := in.scan.Digits()
	if err == nil {
		s.Number(text, in.line)
	}
	return err
}
