package mongowire_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// TestReplay sends what programs of wirehead have sent to MongoDB, message by message, and compares
// the replies with testdata. UPDATE_TEXTS=1 writes them.
func TestReplay(t *testing.T) {
	for _, tt := range []struct {
		version string
		samples int
		side    []int
	}{{"3.11", 5, []int{16, 16, 16}}, {"4.10", 2, []int{8, 8, 8}}} {
		t.Run(tt.version, func(t *testing.T) {
			_, addr := serve(t, memory(t, pair(t, tt.side...), tt.samples), mongowire.Options{AllowDrop: true})
			got := replay(t, addr, "testdata/requests-pymongo-"+tt.version+".jsonl")
			path := "testdata/replies-" + tt.version + ".txt"
			if os.Getenv("UPDATE_TEXTS") != "" {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o666))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			wants := strings.Split(string(want), "\n")
			for i, line := range strings.Split(got, "\n") {
				require.Equal(t, wants[min(i, len(wants)-1)], line, "message %d", i)
			}
		})
	}
}

// replay returns a line for each message.
func replay(t *testing.T, addr, path string) string {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	conns, ticket := map[int]*client{}, 0
	var out strings.Builder
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var record struct {
			Conn    int
			Message string
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &record))
		b, err := hex.DecodeString(record.Message)
		require.NoError(t, err)
		c := conns[record.Conn]
		if c == nil {
			c = dial(t, addr)
			conns[record.Conn] = c
		}
		_, err = c.Write(adapted(b, ticket))
		require.NoError(t, err)
		reply, err := c.receive()
		require.NoError(t, err)
		if value, ok := reply.Get("value").Doc(); ok {
			if id, _ := value.Get("_id").Text(); id == "started" {
				n, _ := value.Get("sequence_value").Int()
				ticket = int(n)
			}
		}
		fmt.Fprintf(&out, "%d %s: %s\n", record.Conn, nameOf(b), masked(reply))
	}
	require.NoError(t, lines.Err())
	return out.String()
}

// adapted returns a message with what the server has told before: the number of a ticket as id of
// an insert, since those of MongoDB counted on, and an _id of status that is older than all.
func adapted(b []byte, ticket int) []byte {
	b = bytes.Clone(b)
	switch nameOf(b) {
	case "insert":
		each(b, "\x10id\x00", func(value []byte) { le.PutUint32(value, uint32(ticket)) })
	case "find":
		each(b, "\x07$gt\x00", func(value []byte) { clear(value[:12]) })
	}
	return b
}

// each calls do with what follows each place of a text.
func each(b []byte, text string, do func(b []byte)) {
	for at := bytes.Index(b, []byte(text)); at >= 0; at = bytes.Index(b, []byte(text)) {
		b = b[at+len(text):]
		do(b)
	}
}

// nameOf returns the name of the command of a message.
func nameOf(b []byte) string {
	at := 21
	if le.Uint32(b[12:]) == 2004 {
		at = 20 + len("admin.$cmd") + 1 + 8
	}
	doc, _, _ := bson.Cut(b[at:])
	name, _ := doc.First()
	return name
}

var volatile = regexp.MustCompile(`connectionId: \d+|(, )?_id: [0-9a-f]{24}, swapped: kind 0x08, true|swap_timestamp: kind 0x01, true`)

// masked returns the text of a reply without what differs from run to run.
func masked(doc bson.Doc) string { return volatile.ReplaceAllString(show(doc), "*") }
