package tensor

import "fmt"

// DiffBits implements plan.BitDiffer.
func (v *ops) DiffBits(u *Tensor) (string, error) {
	t := (*Tensor)(v)
	if u == nil {
		return "", errNil
	}
	if t.dtype != u.dtype || !t.view.Shape.Equal(u.view.Shape) {
		return t.Diff(u)
	}
	a, b := narrowed(t, u)
	at, err := firstFound(&search{bits: true}, a, b)
	if at < 0 || err != nil {
		return "", err
	}
	pos := a.view.Shape.Position(at)
	mine, err := t.at(pos).itemText()
	if err != nil {
		return "", err
	}
	theirs, err := u.at(pos).itemText()
	if mine == theirs {
		theirs += " with other bits"
	}
	return fmt.Sprintf("element %v is %s, other %s", pos, mine, theirs), err
}
