package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// ErrVersion says that a log was written by a newer version of this package.
var ErrVersion = errors.New("written by a newer version")

// A Kind says what an event does.
type Kind string

// The kinds. Of is the thing that the event is about.
const (
	Process Kind = "process" // a process begins: Host, PID. The first event of its first message
	Gone    Kind = "gone"    // the process Name has ended. All that it has ends
	Join    Kind = "join"    // a session begins
	Claim   Kind = "claim"   // session Of claims Name
	Forget  Kind = "forget"  // session Of forgets Name
	Reserve Kind = "reserve" // claim Of reserves room for the sample Number
	Commit  Kind = "commit"  // row Of has its chunks At, with Sums
	Hold    Kind = "hold"    // session Of holds Generation
	Enter   Kind = "enter"   // session Of enters the group Name of World ranks
	Begin   Kind = "begin"   // seat Of begins a pass in Epoch; Generation for a new one, 0 for the latest
	Take    Kind = "take"    // pass Of takes Count rows
	End     Kind = "end"     // thing Of ends. A row is aborted
	Tick    Kind = "tick"    // nothing, but time has passed
)

// An Event is a change that a process asks for.
type Event struct {
	Kind       Kind     `json:"do"`
	Of         uint64   `json:"of,omitempty"`
	Name       string   `json:"name,omitempty"`
	Number     uint64   `json:"number,omitempty"`
	World      int      `json:"world,omitempty"`
	Epoch      uint64   `json:"epoch,omitempty"`
	Generation uint64   `json:"generation,omitempty"`
	OrLatest   bool     `json:"or_latest,omitempty"` // the latest, if Generation is gone
	Count      int      `json:"count,omitempty"`
	Sums       []uint32 `json:"sums,omitempty"` // CRC-32 of each leaf
	At         []uint64 `json:"at,omitempty"`   // sequence numbers of the chunks
	Host       string   `json:"host,omitempty"`
	PID        int      `json:"pid,omitempty"`
}

// A Message is what a process appends to the log: some events, which are applied one after the
// other. Process names the process. Number is one more than in the process's message before; a
// message that is there twice counts once.
type Message struct {
	Process string  `json:"process"`
	Number  uint64  `json:"number"`
	Events  []Event `json:"events"`
}

// sumLength is the length of the checksum before a message.
const sumLength = 9

// Encode returns the bytes of a message: the CRC-32 of the rest as eight hexadecimal digits, a
// space, and JSON.
func (m *Message) Encode() ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, "%08x ", crc32.ChecksumIEEE(text)), text...), nil
}

// decode is the reverse of Encode.
func decode(data []byte) (m Message, err error) {
	if len(data) < sumLength || !bytes.Equal(data[:sumLength], fmt.Appendf(nil, "%08x ", crc32.ChecksumIEEE(data[sumLength:]))) {
		return m, fmt.Errorf("%w: its checksum differs", engine.ErrCorrupt)
	}
	if err := json.Unmarshal(data[sumLength:], &m); err != nil {
		return m, fmt.Errorf("%w: %w", engine.ErrCorrupt, err)
	}
	return m, nil
}
