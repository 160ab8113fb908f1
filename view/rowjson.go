package view

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

const jsonBytes = 1 << 20 // bytes of a row as JSON

// rowSize returns the bytes of a row with its keys. If a row is larger than jsonBytes or the
// dataset has many leaves, the result is more than jsonBytes. It reads no element.
func (v *visit) rowSize(row int) (size int64) {
	if v.version.Index.Root().Leaves > wallLeaves {
		return jsonBytes + 1
	}
	one, err := v.version.Dict.Index(ix.At(row))
	if err != nil {
		return jsonBytes + 1 // its leaves say why
	}
	for key, value := range one.Leaves() {
		if size += int64(len(key)) + valueSize(value); size > jsonBytes {
			break
		}
	}
	return size
}

// valueSize returns the bytes of the elements of a leaf, or of the texts in it.
func valueSize(value tdict.Value) (size int64) {
	switch x := value.(type) {
	case *tensor.Tensor:
		return int64(x.ByteSize())
	case *tdict.Unbatched:
		return int64(x.Tensor().ByteSize())
	case *ragged.Tensor:
		return int64(x.NumValues() * x.Features().Size() * x.DType().Size())
	case *tdict.Stacked:
		for i := 0; i < x.Len() && size <= jsonBytes; i++ {
			if member, err := x.Member(i); err == nil {
				size += valueSize(member)
			}
		}
	case *tdict.Data:
		for value := range x.All() {
			if size += dataSize(value); size > jsonBytes {
				break
			}
		}
	}
	return size
}

// dataSize returns about how many bytes of JSON a value of Data takes.
func dataSize(value any) (size int64) {
	switch x := value.(type) {
	case string:
		return int64(len(x)) + 2
	case []any:
		for _, inner := range x {
			if size += dataSize(inner) + 1; size > jsonBytes {
				break
			}
		}
		return size + 2
	case *tdict.Object:
		for name, inner := range x.All() {
			if size += int64(len(name)) + dataSize(inner) + 4; size > jsonBytes {
				break
			}
		}
		return size + 2
	}
	return 8
}

// rowJSON answers with a row as JSON, to be copied. A row of more than 1 MiB is an error, and a
// leaf that cannot be read.
func (v *visit) rowJSON() error {
	if err := v.open(); err != nil {
		return err
	}
	row, err := v.rowNumber()
	if err != nil {
		return err
	}
	if row < 0 {
		return fail(http.StatusBadRequest, "Which row?", "row: got nothing, want a number")
	}
	if size := v.rowSize(row); size > jsonBytes {
		return fail(http.StatusRequestEntityTooLarge, "The row is too large to copy",
			fmt.Sprintf("it has %s, want at most %s: use tdict head %s --index %d --as jsonl", text.Bytes(size), text.Bytes(jsonBytes), v.given(), row))
	}
	td, err := v.version.Dict.Index(ix.At(row))
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(td.Preview(math.MaxInt))
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.deadline()
	_, err = v.w.Write(append(encoded, '\n'))
	return err
}
