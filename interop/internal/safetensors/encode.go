package safetensors

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/jsonlists"
)

// text returns the beginning of the file: the length of the header and the header.
func (h *Header) text() []byte {
	b := append(make([]byte, lengthBytes, 64+128*len(h.Entries)), '{')
	if h.Metadata != nil {
		b = appendMetadata(jsonlists.AppendText(b, metadataName), h.Metadata)
	}
	for i := range h.Entries {
		b = h.Entries[i].appendTo(comma(b))
	}
	b = append(b, '}')
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	binary.LittleEndian.PutUint64(b, uint64(len(b)-lengthBytes))
	return b
}

// comma appends a comma unless b ends with the brace that opens an object.
func comma(b []byte) []byte {
	if b[len(b)-1] == '{' {
		return b
	}
	return append(b, ',')
}

// appendMetadata appends a colon and an object of strings, sorted by name.
func appendMetadata(b []byte, metadata map[string]string) []byte {
	b = append(b, ':', '{')
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		b = append(jsonlists.AppendText(comma(b), name), ':')
		b = jsonlists.AppendText(b, metadata[name])
	}
	return append(b, '}')
}

// appendTo appends e as a field.
func (e *Entry) appendTo(b []byte) []byte {
	b = append(jsonlists.AppendText(b, e.Name), `:{"dtype":"`...)
	b = append(append(b, e.DType...), `","shape":`...)
	b = jsonlists.AppendInts(b, e.Shape)
	b = strconv.AppendInt(append(b, `,"data_offsets":[`...), e.Begin, 10)
	b = strconv.AppendInt(append(b, ','), e.End, 10)
	return append(b, `]}`...)
}
