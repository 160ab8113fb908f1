package tdc

import (
	"fmt"
	"hash/crc32"

	"github.com/go-tensordict/tensordict/internal/fileformat"
)

// The JSON of a file has a native fact "text": the CRC-32C of the JSON, in eight hexadecimal
// digits, with noSum in their place.
const noSum = "00000000"

// textSum returns the checksum of text, whose digits are at i.
func textSum(text []byte, i int) string {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Checksum(text[:i], table), table, []byte(noSum))
	sum = crc32.Update(sum, table, text[i+len(noSum):])
	return fmt.Sprintf("%08x", sum)
}

// textSum reads the checksum of the JSON, and notes where it is.
func (p *parser) textSum() error {
	text, err := p.Text()
	if err == nil && len(text) != len(noSum) {
		err = fileformat.Corrupt("got the checksum %s of the metadata, want 8 digits", quote(string(text)))
	}
	p.sum, p.sumAt = string(text), p.Pos()-len(`"`)-len(noSum)
	return err
}

// checkText returns ErrCorrupt if the JSON has a checksum, and is damaged.
func (p *parser) checkText(text []byte) error {
	if p.sum == "" {
		return nil
	}
	if want := textSum(text, p.sumAt); p.sum != want {
		return fileformat.Corrupt("got the checksum %s of the metadata, want %s: it is damaged", quote(p.sum), want)
	}
	return nil
}
