package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// FuzzApply applies messages, one a line, to a ledger that has some of everything. They get their
// checksums here. A message that is refused changes nothing, and one that is not leads to a state
// within its bounds, which a ledger made from a snapshot comes to, too.
func FuzzApply(f *testing.F) {
	c := rich(f)
	all := []Event{{Kind: Process, Host: "h", PID: -1}, {Kind: Tick}, {Kind: Join}, {Kind: Claim, Of: 1, Name: "m"}, {Kind: Claim, Of: 1},
		{Kind: Forget, Of: 1, Name: "n"}, {Kind: Reserve, Of: 3, Number: 6}, committed(12), {Kind: End, Of: 12}, {Kind: End, Of: 3}, {Kind: Gone, Name: "b"}}
	theirs := []Event{{Kind: Hold, Of: 2, Generation: 2}, {Kind: Enter, Of: 2, Name: "g", World: 2}, {Kind: Begin, Of: 9, Epoch: 5, Generation: 1, OrLatest: true},
		{Kind: Take, Of: 10, Count: 9}, {Kind: End, Of: 10}, {Kind: End, Of: 9}, {Kind: End, Of: 6}, {Kind: End, Of: 2}, {Kind: Gone, Name: "b", Number: 1}}
	texts := func(process string, events []Event) (lines [][]byte) {
		for i := range events {
			text, err := json.Marshal(Message{process, c.numbers[process] + 1 + uint64(i), events[i : i+1]})
			require.NoError(f, err)
			lines = append(lines, text)
		}
		return lines
	}
	f.Add(bytes.Join(texts("a", all), []byte("\n")))
	f.Add(bytes.Join(texts("b", theirs), []byte("\n")))
	f.Add(bytes.Join(append(texts("b", theirs), texts("a", all)...), []byte("\n")))
	for _, event := range []string{
		`{"do":"take","of":10,"count":-9223372036854775808}`, `{"do":"take","of":10,"count":9223372036854775807}`, `{"do":"take","of":10,"count":1e3}`,
		`{"do":"enter","of":2,"name":"h","world":-1}`, `{"do":"enter","of":2,"name":"h","world":1000000000000}`, `{"do":"enter","of":2,"name":"\ud800\u0000","world":1}`,
		`{"do":"begin","of":9,"epoch":18446744073709551615}`, `{"do":"begin","of":9,"epoch":0,"generation":18446744073709551615,"or_latest":true}`,
		`{"do":"hold","of":2,"generation":-1}`, `{"do":"hold","of":2,"generation":18446744073709551616}`, `{"do":"end","of":null}`, `{"do":null}`, `null`, `{}`, `[]`, `"x"`,
		`{"do":"fold","of":[1]}`, `{"do":"commit","of":12,"sums":[4294967296]}`, `{"do":"commit","of":12,"sums":null,"at":[]}`, `{"do":"gone","name":"b","number":18446744073709551615}`,
	} {
		f.Add(fmt.Appendf(nil, `{"process":"b","number":100,"events":[%s]}`, event))
	}
	f.Add([]byte("null\n{}\n[]\n\n" + `{"process":null,"number":1,"events":[{"do":"process"}]}` + "\n" + `{"number":2,"events":null}`))
	f.Add([]byte(`{"process":"b","number":100,"events":[{"do":"tick"}],"events":[{"of":1},{"do":"tick"}],"EVENTS":[{"do":"end"}]}`))
	good, err := c.Encode()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Decode(good)
		require.NoError(t, err)
		c := &cache{t: t, Ledger: l, at: start}
		var twin *Ledger
		for i, text := range bytes.Split(data, []byte("\n")) {
			if i == 20 {
				break
			}
			before := *c
			was, err := c.Encode()
			require.NoError(t, err)
			if twin == nil || i%5 == 0 {
				twin = c.again()
			}
			message := summed(string(text))
			c.at = c.at.Add(time.Duration(len(text)) * time.Minute)
			s, err := c.Apply(c.Seq+1, c.at, message)
			again, failed := twin.Apply(twin.Seq+1, c.at, message)
			require.Equal(t, fmt.Sprint(err), fmt.Sprint(failed))
			require.ErrorIs(t, err, wanted(text))
			if err != nil {
				is, err := c.Encode()
				require.NoError(t, err)
				require.Equal(t, string(was), string(is), "a refused message changes something")
				require.Equal(t, before.Ledger.index.reserved, c.index.reserved)
				continue
			}
			for i := range s.Outcomes {
				require.Equal(t, fmt.Sprint(s.Outcomes[i].Err), fmt.Sprint(again.Outcomes[i].Err))
				s.Outcomes[i].Err, again.Outcomes[i].Err = nil, nil
			}
			require.Equal(t, s, again)
			require.NoError(t, c.Ledger.check())
			c.bounds()
		}
	})
}

// wanted returns the error of a message with a checksum.
func wanted(text []byte) error {
	var m struct {
		Process string
		Number  uint64
		Events  []struct {
			Kind                          string `json:"do"`
			Of, Number, Generation, Epoch uint64
			World, Count, PID             int
			OrLatest                      bool `json:"or_latest"`
			Name, Host                    string
			Sums                          []uint32
			At                            []uint64
		}
	}
	if json.Unmarshal(text, &m) != nil {
		return engine.ErrCorrupt
	}
	all := []string{"process", "gone", "join", "claim", "forget", "reserve", "commit", "hold", "enter", "begin", "take", "end", "tick"}
	for _, e := range m.Events {
		if !slices.Contains(all, e.Kind) {
			return ErrVersion
		}
	}
	return nil
}

// FuzzDecode decodes anything. What it accepts goes on.
func FuzzDecode(f *testing.F) {
	good, err := rich(f).Encode()
	require.NoError(f, err)
	f.Add(good)
	empty, err := New(newCharter(f, two)).Encode()
	require.NoError(f, err)
	f.Add(empty)
	f.Add(good[:len(good)/2])
	for _, alter := range [][2]string{
		{`"latest":2`, `"latest":18446744073709551615`}, {`"id":3`, `"id":0`}, {`"seq":`, `"seq":1844674407370955161`}, {`"last":`, `"last":184467440737095516`},
		{`"retired":`, `"retired":-`}, {`"samples":2`, `"samples":1048576`}, {`"holder":1`, `"holder":2`}, {`"world":2`, `"world":-2`},
		{`"epochs":[`, `"epochs":[{},{},{},{},{},{},{},{},{},`}, {`"members":[1]`, `"members":[1,1,1]`}, {`"taken":`, `"taken":922337203685477580`}, {`"above":`, `"above":1`},
		{`"max_hold":`, `"max_hold":922337`}, {`"per_insert":1`, `"per_insert":1e308`}, {`"version":1`, `"version":9`}, {`"chunks":1`, `"chunks":-1`},
	} {
		f.Add(bytes.ReplaceAll(good, []byte(alter[0]), []byte(alter[1])))
	}
	f.Fuzz(func(t *testing.T, data []byte) { goesOn(t, data) })
}
