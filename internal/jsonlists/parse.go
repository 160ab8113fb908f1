package jsonlists

import "github.com/go-tensordict/tensordict/internal/jsonscan"

// A Reader sets itself from lists. On an error nothing has changed.
type Reader interface{ Read(l *Lists) error }

// Parse reads the object of a leaf, and its lists. It returns nil for null.
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
