package feed

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tdict"
)

const (
	protocolVersion = 1
	maxRequest      = 64 << 10 // bytes of a request
	maxHello        = 16 << 20 // bytes of a hello
	maxText         = 64 << 10 // bytes of the text of a message
	messageSize     = 24
)

// Messages with these numbers instead of a slot.
const (
	endMessage   = 0xFFFFFFFF // there are no more batches
	errorMessage = 0xFFFFFFFE // rows bytes of text follow
	stateMessage = 0xFFFFFFFD // rows bytes of JSON follow
	epochMessage = 0xFFFFFFFC // the epoch has ended
	firstMessage = 0xFFFFFFF0 // the least such number
)

// A request is the first line of a consumer.
type request struct {
	Version int           `json:"version"`
	Rank    *int          `json:"rank"`  // nil: the lowest free one
	State   *loader.State `json:"state"` // nil: from the beginning
}

// A hello is the first line of the feed.
type hello struct {
	Version int          `json:"version"`
	Rank    int          `json:"rank"`
	World   int          `json:"world"`
	Rows    int          `json:"rows"`
	Epochs  uint64       `json:"epochs"`
	Slots   []string     `json:"slots"`
	Schema  tdict.Schema `json:"schema"`
	State   loader.State `json:"state"`
}

// A message announces a batch in a slot. If slot is firstMessage or above, it is another message.
type message struct {
	slot, rows   uint32
	epoch, batch uint64
	text         []byte // rows bytes, of an errorMessage or a stateMessage
}

// textMessage returns a message with a text.
func textMessage(slot uint32, text []byte) message {
	return message{slot: slot, rows: uint32(len(text)), text: text}
}

// errorOf returns the message of an error, whose text is cut to maxText bytes.
func errorOf(err error) message {
	text := err.Error()
	return textMessage(errorMessage, []byte(strings.ToValidUTF8(text[:min(len(text), maxText)], "")))
}

// appendTo appends the encoding of m to b.
func (m message) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, m.slot)
	b = binary.LittleEndian.AppendUint32(b, m.rows)
	b = binary.LittleEndian.AppendUint64(b, m.epoch)
	b = binary.LittleEndian.AppendUint64(b, m.batch)
	return append(b, m.text...)
}

// readMessage reads a message. The buffer of r must have room for the longest. After an error of
// the connection, such as a deadline, no byte of the message has been consumed.
func readMessage(r *bufio.Reader) (m message, err error) {
	b, err := r.Peek(messageSize)
	if err != nil {
		return m, err
	}
	m.slot, m.rows = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	m.epoch, m.batch = binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	size := messageSize
	if m.slot == errorMessage || m.slot == stateMessage {
		if m.rows > maxText {
			return m, fmt.Errorf("%w: got a text of %d bytes, want at most %d", ErrProtocol, m.rows, maxText)
		}
		size += int(m.rows)
		if b, err = r.Peek(size); err != nil {
			return m, err
		}
		m.text = append(m.text, b[messageSize:]...)
	}
	_, err = r.Discard(size)
	return m, err
}

// readLine reads a line of at most most bytes, its end included, and returns it without its end.
func readLine(r *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > most, len(line) == most && err != nil:
			return nil, fmt.Errorf("%w: got a line of more than %d bytes", ErrProtocol, most)
		case err == nil:
			return line[:len(line)-1], nil
		case err == io.EOF && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// lineOf returns a value as a line of JSON of at most most bytes, its end included.
func lineOf(v any, most int) ([]byte, error) {
	line, err := json.Marshal(v)
	if err == nil && len(line) >= most {
		err = fmt.Errorf("%w: got a line of %d bytes, want at most %d", ErrProtocol, len(line)+1, most)
	}
	return append(line, '\n'), err
}

// readRequest reads the request of a consumer.
func readRequest(r *bufio.Reader) (q request, err error) {
	line, err := readLine(r, maxRequest)
	if err != nil {
		return q, err
	}
	if err := json.Unmarshal(line, &q); err != nil {
		return q, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return q, checkVersion(q.Version)
}

// checkVersion returns an error unless the other side has this version of the protocol.
func checkVersion(got int) error {
	if got != protocolVersion {
		return fmt.Errorf("%w: got version %d of the protocol, want %d", ErrProtocol, got, protocolVersion)
	}
	return nil
}

// readHello reads the answer to a request. If it is an error message, readHello returns that as a
// [RemoteError].
func readHello(r *bufio.Reader) (h hello, err error) {
	first, err := r.Peek(1)
	if err != nil {
		return h, err
	}
	if first[0] != '{' {
		m, err := readMessage(r)
		if err == nil && m.slot != errorMessage {
			err = fmt.Errorf("%w: got message %#x, want hello", ErrProtocol, m.slot)
		}
		if err == nil {
			err = &RemoteError{string(m.text)}
		}
		return h, err
	}
	line, err := readLine(r, maxHello)
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, fmt.Errorf("%w: hello: %w", ErrProtocol, err)
	}
	return h, h.check()
}

// check returns an error if a number is out of bounds.
func (h *hello) check() error {
	if err := checkVersion(h.Version); err != nil {
		return err
	}
	for _, field := range []struct {
		name             string
		got, least, most int
	}{
		{"rank", h.Rank, 0, maxConsumers - 1}, {"world", h.World, 1, maxConsumers}, {"rows", h.Rows, 1, maxRows},
		{"slots", len(h.Slots), 1, maxSlots}, {"batch", h.State.Batch, 0, maxBatch},
	} {
		if field.got < field.least || field.got > field.most {
			return fmt.Errorf("%w: hello: got %s %d, want %d to %d", ErrProtocol, field.name, field.got, field.least, field.most)
		}
	}
	return nil
}
