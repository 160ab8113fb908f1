package safetensors

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// text returns what a file begins with: the length of the header and the header.
func (h *Header) text() []byte {
	b := append(make([]byte, lengthBytes, 64+128*len(h.Entries)), '{')
	if h.Metadata != nil {
		b = appendMetadata(appendString(b, metadataName), h.Metadata)
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

// appendMetadata appends a colon and strings by name, sorted.
func appendMetadata(b []byte, metadata map[string]string) []byte {
	b = append(b, ':', '{')
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		b = append(appendString(comma(b), name), ':')
		b = appendString(b, metadata[name])
	}
	return append(b, '}')
}

// appendTo appends the field of e.
func (e *Entry) appendTo(b []byte) []byte {
	b = append(appendString(b, e.Name), `:{"dtype":"`...)
	b = append(append(b, e.DType...), `","shape":[`...)
	for i, d := range e.Shape {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(d), 10)
	}
	b = strconv.AppendInt(append(b, `],"data_offsets":[`...), e.Begin, 10)
	b = strconv.AppendInt(append(b, ','), e.End, 10)
	return append(b, `]}`...)
}

// appendString appends a string as the original spells it, with no escapes but those that JSON
// needs.
func appendString(b []byte, text string) []byte {
	const escaped, letters = "\"\\\b\f\n\r\t", `"\bfnrt`
	b = append(b, '"')
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			b = append(b, c)
		} else if at := strings.IndexByte(escaped, c); at >= 0 {
			b = append(b, '\\', letters[at])
		} else {
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	return append(b, '"')
}
