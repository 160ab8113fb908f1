package message

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// dictionaries are the dictionaries that were read so far, by id: the values, then the values that
// later messages appended.
type dictionaries map[int64][]arrow.ArrayData

// get returns the values of a dictionary.
func (d dictionaries) get(id int64) (arrow.ArrayData, error) {
	parts := d[id]
	if len(parts) == 0 {
		return nil, corrupt("dictionary %d is used, but was not read", id)
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	var arrays []arrow.Array
	var joined arrow.Array
	err := Try(func() (err error) {
		for _, part := range parts {
			a := array.MakeFromData(part)
			if err := array.ValidateFull(a); err != nil { // the library trusts what it concatenates
				return corrupt("%w", err)
			}
			arrays = append(arrays, a)
		}
		joined, err = array.Concatenate(arrays, memory.DefaultAllocator)
		return err
	})
	if err != nil {
		return nil, err
	}
	d[id] = []arrow.ArrayData{joined.Data()}
	return joined.Data(), nil
}
