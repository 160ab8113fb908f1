package transform

import (
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/tdict"
)

// Compose returns a transform that applies ts in order: each gets the result of the previous one.
// Without ts it returns a copy that shares all leaves. A Compose among ts counts as its steps:
// Compose(p) equals p, and in Compose(p, t) the steps of p draw the same numbers as in p.
//
// An error has the number of the step that failed, from 0, and the step. A panic of a step becomes
// an error; if the panic value is an error, it is wrapped. A step that is nil, or that returns a
// nil dictionary, is tdict.ErrKind.
func Compose(ts ...Transform) Transform {
	c := make(compose, 0, len(ts))
	for _, t := range ts {
		if inner, ok := t.(compose); ok {
			c = append(c, inner...)
		} else {
			c = append(c, t)
		}
	}
	return c
}

type compose []Transform

func (c compose) String() string {
	var b strings.Builder
	b.WriteString("compose")
	for _, t := range c {
		b.WriteString("\n  " + strings.ReplaceAll(textOf(t), "\n", "\n  "))
	}
	return b.String()
}

func (c compose) Apply(td *tdict.TensorDict, d Draw) (*tdict.TensorDict, error) {
	if td == nil {
		return nil, fmt.Errorf("compose: %w: got a nil dictionary", tdict.ErrKind)
	}
	if len(c) == 0 {
		return td.Copy(), nil
	}
	for i, t := range c {
		var err error
		if td, err = step(t, td, d.Step(i)); err != nil {
			return nil, fmt.Errorf("step %d (%s): %w", i, titleOf(t), err)
		}
	}
	return td, nil
}

// step applies a step. A panic becomes an error.
func step(t Transform, td *tdict.TensorDict, d Draw) (out *tdict.TensorDict, err error) {
	if t == nil {
		return nil, fmt.Errorf("%w: got a nil transform", tdict.ErrKind)
	}
	err = workers.Call(func() (err error) {
		out, err = t.Apply(td, d)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case out == nil:
		return nil, fmt.Errorf("%w: got a nil dictionary from it", tdict.ErrKind)
	}
	return out, nil
}

// textOf returns the String of a transform, or "nil".
func textOf(t Transform) string {
	if t == nil {
		return "nil"
	}
	return t.String()
}

// titleOf returns the first line of the String of a transform.
func titleOf(t Transform) string {
	title, _, _ := strings.Cut(textOf(t), "\n")
	return title
}
