package memmap

import (
	"bytes"
	"fmt"
	"hash/crc32"

	"github.com/go-tensordict/tensordict/internal/tdc"
)

// The last field of a meta.json that this module writes is the CRC-32C of the bytes before the
// field, so that a reader finds damage. Python ignores the field. What Python adds to a meta.json
// stands after it. Where Python writes all of the text anew, with other spaces, the field is not
// found, and nothing is compared.
const (
	fieldSum = "_crc"
	sumHead  = `,"` + fieldSum + `":"`
	sumBytes = len(sumHead) + 8 + len(`"`)
)

// checkMetaSum returns ErrCorrupt if the sum in a meta.json differs from the sum of the bytes
// before the field. Data may hold anything, also something like that field, but not as the last
// one: only in other texts (anywhere) does it count elsewhere.
func checkMetaSum(text []byte, anywhere bool) error {
	i := bytes.LastIndex(text, []byte(sumHead))
	if i < 0 || len(text) < i+sumBytes || !anywhere && string(text[i+sumBytes:]) != "}" {
		return nil
	}
	if got, want := textSum(text[:i]), text[i+len(sumHead):][:8]; got != string(want) {
		return corrupt("got CRC-32C %s of its first %d bytes, want %s: restore the file or, if it was edited on purpose, remove its field %q", got, i, quote(string(want)), fieldSum)
	}
	return nil
}

// checkData returns ErrCorrupt if data, the node with the text of m, differs from the sum in its
// entry. Python may change data in place, as it changes elements. So data are compared where
// elements are, by Verify and by whatever copies, and not by Open.
func (r *reader) checkData(m *meta, e *metaEntry) error {
	verifies := r.damage != nil && !r.copying
	if !verifies && !r.opt.CheckSums || e == nil || !e.hasDataSum() {
		return nil
	}
	got, want := crc32.Checksum(m.text, tdc.Castagnoli), e.fact.sums[0]
	switch {
	case got == want:
		return nil
	case verifies: // Verify says itself what to do
		return &mismatch{got, want}
	}
	return sealable(&mismatch{got, want})
}

// withMetaSum returns the text of a meta.json that has no sum with its sum.
func withMetaSum(text []byte) []byte {
	end := bytes.LastIndexByte(text, '}')
	out := append(make([]byte, 0, end+sumBytes+1), text[:end]...)
	return append(append(append(out, sumHead...), textSum(out)...), `"}`...)
}

// textSum returns the CRC-32C of a text, in hexadecimal digits.
func textSum(text []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(text, tdc.Castagnoli))
}
