//go:build unix

package drivertest

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	own "github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// canned is a server that does no work: it reads a message and replies what another server has
// replied to the first message like it. It shows what the driver costs by itself.
type canned struct {
	backend string
	mu      sync.Mutex
	replies map[string][]byte
}

// serveCanned returns the address of a canned server.
func serveCanned(b *testing.B, backend string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	b.Cleanup(func() { _ = l.Close() })
	c := &canned{backend: backend, replies: map[string][]byte{}}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(nc)
		}
	}()
	return l.Addr().String()
}

// serve answers the messages of a connection. The first of each kind goes to the other server.
func (c *canned) serve(nc net.Conn) {
	defer nc.Close()
	other, err := net.Dial("tcp", c.backend)
	if err != nil {
		return
	}
	defer other.Close()
	batch := 0 // of a find
	for buf := []byte(nil); ; {
		if buf, err = readMessage(nc, buf); err != nil {
			return
		}
		kind := commandOf(buf)
		if batch++; kind == "getMore" {
			kind = fmt.Sprint("getMore ", batch)
		} else {
			batch = 0
		}
		reply, err := c.reply(kind, other, buf)
		if err != nil {
			return
		}
		head := [16]byte(reply)
		copy(head[8:12], buf[4:8]) // the message that it answers
		if _, err := (&net.Buffers{head[:], reply[16:]}).WriteTo(nc); err != nil {
			return
		}
	}
}

func (c *canned) reply(kind string, other net.Conn, message []byte) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.replies[kind]; known != nil {
		return known, nil
	}
	if _, err := other.Write(message); err != nil {
		return nil, err
	}
	reply, err := readMessage(other, nil)
	c.replies[kind] = reply
	return reply, err
}

// readMessage reads a message into buf, or into a new buffer if that is too small.
func readMessage(r io.Reader, buf []byte) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(size[:]))
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	copy(buf, size[:])
	_, err := io.ReadFull(r, buf[4:])
	return buf, err
}

// commandOf returns the name of the command of a message; "" for the first hello.
func commandOf(message []byte) string {
	if binary.LittleEndian.Uint32(message[12:]) != 2013 {
		return ""
	}
	doc, _, _ := own.Cut(message[21:])
	name, _ := doc.First()
	return name
}
