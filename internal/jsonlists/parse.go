package jsonlists

import "github.com/go-tensordict/tensordict/internal/jsonscan"

// A Reader becomes what lists say. On an error it has not changed.
type Reader interface{ Read(l *Lists) error }

// Parse reads a text that is the object of a leaf, and the lists in it, or returns nil for null.
func Parse(text []byte) (*Node, *Lists, error) {
	s := jsonscan.New(text)
	node, err := ReadNode(s)
	if err == nil {
		err = s.End()
	}
	if node == nil || err != nil {
		return nil, nil, err
	}
	l, err := node.Lists()
	return node, l, err
}
