package memmap

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/internal/datajson"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// sameData returns tdict.ErrDiffers unless each value of got is saved like the one value of want.
// NaN equals itself.
func sameData(got, want *tdict.Data) error {
	shared, _ := want.Uniform()
	text := datajson.Append(nil, shared)
	if v, ok := got.Uniform(); ok && bytes.Equal(datajson.Append(nil, v), text) {
		return nil
	}
	row := 0
	for v := range got.All() {
		if other := datajson.Append(nil, v); !bytes.Equal(other, text) {
			at := commonLen(other, text)
			return fmt.Errorf("%w: row %d: got %s, want %s, the value of all rows", tdict.ErrDiffers, row, excerpt(other, at), excerpt(text, at))
		}
		row++
	}
	return nil
}

// sameBytes returns tdict.ErrDiffers unless both tensors have the same bytes.
func sameBytes(got, want *tensor.Tensor) error {
	if got == want {
		return nil
	}
	text, err := got.Ops().(plan.BitDiffer[*tensor.Tensor]).DiffBits(want)
	if err == nil && text != "" {
		err = fmt.Errorf("%w: %s: an unbatched tensor must be the same in all rows", tdict.ErrDiffers, text)
	}
	return err
}

// commonLen returns the length of the longest common prefix of a and b.
func commonLen(a, b []byte) int {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return at
}

// excerpt returns text, or the part of a long text around the position at.
func excerpt(text []byte, at int) string {
	const before, most = 20, 60
	start := max(at-before, 0)
	end := min(start+most, len(text))
	s := strings.ToValidUTF8(string(text[start:end]), "")
	if start > 0 {
		s = "..." + s
	}
	if end < len(text) {
		s += "..."
	}
	return s
}
