// Package tabletest helps the tests of packages that read and write tables. Its own tests are the
// rules that these packages share: each runs on csv and on jsonl.
package tabletest

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Texts are texts that a format may confuse with something else.
var Texts = []string{"", "plain", "é😀\u2028", "\"\\\x00\x1f\n", "NaN", "null", "NA", "+Inf", "a\rb\r\nc\n", "\r", " a ", ",;\t", `"`, "1.0", "true", "#"}

// Bits returns a line of JSON for each leaf, sorted: the same for equal elements, NaN of any
// payload.
func Bits(td *tdict.TensorDict) string {
	var lines []string
	for key, v := range td.Leaves() {
		lines = append(lines, string(key)+" "+string(tensor.Must(json.Marshal(v))))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Clones returns clones of the chunks before an error, and the error.
func Clones(chunks iter.Seq2[*tdict.TensorDict, error]) (clones []*tdict.TensorDict, err error) {
	for chunk, err := range chunks {
		if err != nil {
			return clones, err
		}
		clones = append(clones, tensor.Must(chunk.Clone()))
	}
	return clones, nil
}
