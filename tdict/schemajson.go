package tdict

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// schemaVersion is the version of the JSON form of a schema.
const schemaVersion = 1

// MarshalJSON returns s as JSON, which [Schema.UnmarshalJSON] reads and docs/schema.md describes:
//
//	{"version":1,"entries":[{"key":"x","kind":"tensor","dtype":"float32","shape":[3,null]}]}
//
// It returns [ErrSchema] if s is invalid.
func (s Schema) MarshalJSON() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	b := append([]byte(`{"version":`), strconv.Itoa(schemaVersion)...)
	b = append(b, `,"entries":[`...)
	for i := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = s[i].appendJSON(b)
	}
	return append(b, "]}"...), nil
}

// appendJSON appends the object of s. Fields that are zero are left out.
func (s *Spec) appendJSON(b []byte) []byte {
	b = jsonlists.AppendText(append(b, `{"key":`...), string(s.Key))
	b = jsonlists.AppendText(append(b, `,"kind":`...), s.Kind.String())
	if s.DType != 0 {
		b = jsonlists.AppendText(append(b, `,"dtype":`...), s.DType.String())
	}
	b = appendSizes(b, `,"batch":[`, s.Batch)
	if s.Depth != 0 {
		b = strconv.AppendInt(append(b, `,"depth":`...), int64(s.Depth), 10)
	}
	b = appendSizes(b, `,"shape":[`, s.Shape)
	if s.Optional {
		b = append(b, `,"optional":true`...)
	}
	for _, f := range []struct{ open, text string }{{`,"mask":`, string(s.Mask)}, {`,"unit":`, s.Unit}, {`,"time":`, s.Time}, {`,"doc":`, s.Doc}} {
		if f.text != "" {
			b = jsonlists.AppendText(append(b, f.open...), f.text)
		}
	}
	if s.Bare {
		b = append(b, `,"bare":true`...)
	}
	b = appendTexts(b, `,"columns":[`, s.Columns)
	b = appendTexts(b, `,"categories":[`, s.Categories)
	return append(b, '}')
}

// appendTexts appends a list of texts that begins with open. It appends nothing for nil.
func appendTexts(b []byte, open string, texts []string) []byte {
	if texts == nil {
		return b
	}
	b = append(b, open...)
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonlists.AppendText(b, text)
	}
	return append(b, ']')
}

// appendSizes appends a list of sizes that begins with open. It appends nothing for no sizes.
func appendSizes(b []byte, open string, sizes shapeops.Shape) []byte {
	if len(sizes) == 0 {
		return b
	}
	b = append(b, open...)
	for i, n := range sizes {
		if i > 0 {
			b = append(b, ',')
		}
		if n == Any {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendInt(b, int64(n), 10)
		}
	}
	return append(b, ']')
}

// UnmarshalJSON replaces s by the schema in JSON from [Schema.MarshalJSON]. Fields can be in any
// order. null leaves s as it is. It returns tensor.ErrJSON, with the byte offset or the entry, if
// the JSON is not a schema of version 1, has an unknown field, or has a field twice, and
// [ErrSchema] if the schema is invalid. On an error s has not changed. The memory that it takes is
// proportional to the length of the JSON.
func (s *Schema) UnmarshalJSON(text []byte) error {
	scan := jsonscan.New(text)
	if scan.Next() == 'n' {
		return orEnd(scan, scan.Null())
	}
	read, version := Schema{}, int64(0)
	err := readFields(scan, []string{"version", "entries"}, func(field string) (err error) {
		if field == "version" {
			version, err = scan.Int()
			return err
		}
		return scan.Array(func(i int) error {
			var spec Spec
			if err := readFields(scan, specFields, func(field string) error { return spec.read(scan, field) }); err != nil {
				return fmt.Errorf("entry %d: %w", i, err)
			}
			read = append(read, spec)
			return nil
		})
	})
	if err == nil && version != schemaVersion {
		err = fmt.Errorf("%w: got version %d of a schema, want %d", tensor.ErrJSON, version, schemaVersion)
	}
	if err := orEnd(scan, err); err != nil {
		return failed("unmarshal", err)
	}
	if err := read.Validate(); err != nil {
		return err
	}
	*s = read
	return nil
}

// readFields reads an object whose fields are among names. The first two of names are required.
func readFields(scan *jsonscan.Scanner, names []string, read func(field string) error) error {
	var seen jsonlists.Node
	err := scan.Object(func(name []byte) error {
		field := string(name)
		if !slices.Contains(names, field) {
			return fmt.Errorf("%w: got the unknown field %.40q", tensor.ErrJSON, field)
		}
		if err := seen.Once(field); err != nil {
			return err
		}
		return read(field)
	})
	if err != nil {
		return err
	}
	return seen.Want(names[:2]...)
}

// read reads the field of s that has the given name.
func (s *Spec) read(scan *jsonscan.Scanner, field string) (err error) {
	switch field {
	case "batch":
		s.Batch, err = readSizes(scan)
		return err
	case "depth":
		s.Depth, err = readSize(scan)
		return err
	case "shape":
		s.Shape, err = readSizes(scan)
		return err
	case "optional":
		s.Optional, err = scan.Bool()
		return err
	case "bare":
		s.Bare, err = scan.Bool()
		return err
	case "columns":
		s.Columns, err = readTexts(scan)
		return err
	case "categories":
		s.Categories, err = readTexts(scan)
		return err
	}
	text, err := scan.Text()
	if err != nil {
		return err
	}
	switch field {
	case "key":
		s.Key = nestedkey.Key(text)
	case "kind":
		i := slices.Index(kindNames[:], string(text))
		if i < 0 {
			return fmt.Errorf("%w: got the unknown kind %.40q", tensor.ErrJSON, text)
		}
		s.Kind = Kind(i)
	case "dtype":
		if s.DType, err = tensor.ParseDType(string(text)); err != nil {
			return fmt.Errorf("%w: got the unknown dtype %.40q", tensor.ErrJSON, text)
		}
	case "mask":
		s.Mask = nestedkey.Key(text)
	case "unit":
		s.Unit = string(text)
	case "time":
		s.Time = string(text)
	case "doc":
		s.Doc = string(text)
	}
	return nil
}

var specFields = []string{"key", "kind", "dtype", "batch", "depth", "shape", "optional", "mask", "unit", "time", "doc", "bare", "columns", "categories"}

// readTexts reads a list of texts. It never returns nil.
func readTexts(scan *jsonscan.Scanner) ([]string, error) {
	texts := []string{}
	err := scan.Array(func(int) error {
		text, err := scan.Text()
		texts = append(texts, string(text))
		return err
	})
	return texts, err
}

// readSizes reads a list of sizes, in which null means any size.
func readSizes(scan *jsonscan.Scanner) (sizes shapeops.Shape, err error) {
	err = scan.Array(func(int) error {
		if scan.Next() == 'n' {
			sizes = append(sizes, Any)
			return scan.Null()
		}
		n, err := readSize(scan)
		sizes = append(sizes, n)
		return err
	})
	return sizes, err
}

// readSize reads a number that is not negative and fits an int.
func readSize(scan *jsonscan.Scanner) (int, error) {
	n, err := scan.Int()
	if err == nil && (n < 0 || int64(int(n)) != n) {
		err = fmt.Errorf("%w: got the size %d", tensor.ErrJSON, n)
	}
	return int(n), err
}
