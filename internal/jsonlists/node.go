package jsonlists

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/elemtext"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// A Node is the JSON object of a tensor, which is read field by field, in any order.
type Node struct {
	DType   string
	Shape   []int             // the shape of a dense tensor, or nil
	Stars   string            // the shape of a ragged tensor, or ""
	Values  *jsonscan.Scanner // reads the lists, once, unless they were read already
	seen    []string
	batch   []int
	levels  int
	feature []int // the features of a ragged tensor
	dims    int   // feature_dims, if given
	lists   *Lists
}

// Once returns an error if a field of this name was read before.
func (n *Node) Once(name string) error {
	if slices.Contains(n.seen, name) {
		return fmt.Errorf("%w: duplicate field %.40q", jsonscan.ErrSyntax, name)
	}
	n.seen = append(n.seen, name)
	return nil
}

// Has reports whether a field was read.
func (n *Node) Has(name string) bool { return slices.Contains(n.seen, name) }

// Want returns an error unless all these fields were read.
func (n *Node) Want(names ...string) error {
	for _, name := range names {
		if !n.Has(name) {
			return fmt.Errorf("%w: got no field %q", jsonscan.ErrSyntax, name)
		}
	}
	return nil
}

// Only returns an error if a field other than these was read.
func (n *Node) Only(names ...string) error {
	for _, name := range n.seen {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%w: unknown field %.40q beside %q", jsonscan.ErrSyntax, name, names[0])
		}
	}
	return nil
}

// Field reads the value of a field, after a call of Once. It returns an error for a field that a
// tensor does not have.
func (n *Node) Field(s *jsonscan.Scanner, name string) (err error) {
	switch name {
	case "dtype":
		n.DType, err = text(s)
		if err == nil && elemtext.Of(n.DType) == nil {
			err = fmt.Errorf("%w: got unknown dtype %.40q", jsonscan.ErrSyntax, n.DType)
		}
		return err
	case "shape":
		return n.readShape(s)
	case "feature_dims":
		dims, err := s.Int()
		n.dims = int(dims)
		return err
	case "values":
		return n.readValues(s)
	case "preview", "first":
		return fmt.Errorf("%w: this is a preview, which leaves elements out: marshal the original", jsonscan.ErrSyntax)
	}
	return fmt.Errorf("%w: unknown field %.40q", jsonscan.ErrSyntax, name)
}

func text(s *jsonscan.Scanner) (string, error) {
	b, err := s.Text()
	return string(b), err
}

// readShape reads a list of sizes, or the text of a ragged shape.
func (n *Node) readShape(s *jsonscan.Scanner) (err error) {
	if s.Next() != '"' {
		n.Shape, err = ReadSizes(s)
		return err
	}
	if n.Stars, err = text(s); err != nil {
		return err
	}
	return n.parseStars()
}

// parseStars splits "[3 * * 2]" into batch, levels and features.
func (n *Node) parseStars() error {
	inner, open := strings.CutPrefix(n.Stars, "[")
	inner, shut := strings.CutSuffix(inner, "]")
	if !open || !shut {
		return n.badStars()
	}
	for part := range strings.FieldsSeq(inner) {
		size, err := strconv.Atoi(part)
		switch {
		case part == "*" && len(n.feature) == 0:
			n.levels++
		case err != nil || size < 0:
			return n.badStars()
		case n.levels == 0:
			n.batch = append(n.batch, size)
		default:
			n.feature = append(n.feature, size)
		}
	}
	return nil
}

func (n *Node) badStars() error {
	return fmt.Errorf(`%w: got shape %.40q, want a shape such as "[3 * * 2]"`, jsonscan.ErrSyntax, n.Stars)
}

// readValues reads the lists, or keeps their position if the fields that describe them have not
// been read yet.
func (n *Node) readValues(s *jsonscan.Scanner) (err error) {
	dense, ragged := n.Shape != nil, n.levels > 0
	if n.DType == "" || !dense && !ragged {
		n.Values, err = s.Later()
		return err
	}
	n.lists, err = n.read(s)
	return err
}

func (n *Node) read(s *jsonscan.Scanner) (*Lists, error) {
	if n.Stars == "" {
		return Read(s, n.DType, n.Shape, 0, nil)
	}
	return Read(s, n.DType, n.batch, n.levels, n.feature)
}

// Lists returns the lists, after all fields were read.
func (n *Node) Lists() (*Lists, error) {
	if err := n.Want("dtype", "shape", "values"); err != nil {
		return nil, err
	}
	if n.Has("feature_dims") {
		if err := n.split(); err != nil {
			return nil, err
		}
	}
	if n.lists != nil {
		return n.lists, nil
	}
	return n.read(n.Values)
}

// split moves the last batch dims of a ragged shape of depth 0 to the features.
func (n *Node) split() error {
	if n.Stars == "" || n.levels > 0 || n.dims < 1 || n.dims > len(n.batch) {
		return fmt.Errorf("%w: got feature_dims %d, want from 1 up to the dims of a ragged shape without stars", jsonscan.ErrSyntax, n.dims)
	}
	at := len(n.batch) - n.dims
	n.batch, n.feature = n.batch[:at:at], n.batch[at:]
	return nil
}

// ReadNode reads the object of a tensor. It returns nil for null.
func ReadNode(s *jsonscan.Scanner) (*Node, error) {
	if s.Next() == 'n' {
		return nil, s.Null()
	}
	n := new(Node)
	err := s.Object(func(name []byte) error {
		field := string(name)
		if err := n.Once(field); err != nil {
			return err
		}
		return n.Field(s, field)
	})
	return n, err
}
