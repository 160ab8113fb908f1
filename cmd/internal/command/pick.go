package command

import (
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/where"
)

// pickFlags say which rows and entries of the inputs to use.
type pickFlags struct {
	Where string          `help:"Use the rows for which this condition is true." placeholder:"CONDITION"`
	Keys  []nestedkey.Key `help:"Use these entries only, and their masks; * stands for any text in a part of a key." placeholder:"KEY"`
	Drop  []nestedkey.Key `help:"Leave out these entries, and their masks." placeholder:"KEY"`
}

// readFlags are the flags of commands that print something about inputs.
type readFlags struct {
	pickFlags
	tableFlags
}

// selection returns the selection of the flags.
func (f *pickFlags) selection(s *session) (sel forms.Selection, err error) {
	sel.Keys, sel.Drop = f.Keys, f.Drop
	if f.Where != "" {
		if sel.Where, err = where.Parse(f.Where); err != nil {
			return sel, s.usage("--where: %w", err)
		}
	}
	return sel, nil
}
