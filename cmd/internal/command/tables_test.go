package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

// TestTables runs commands on tables, in the order of a user. Each line of wants is what the
// command prints, on standard output and standard error.
func TestTables(t *testing.T) {
	dir := testkit.TempDir(t)
	for name, text := range map[string]string{
		"cr.csv":       "a,b\r1,2\r3,4\r",
		"missing.csv":  "k,s\n0,a\nNA,NA\n5,\"NA\"\n",
		"masks.csv":    "a,a_mask,b\n1,true,x\n2,false,y\n",
		"speed.csv":    "km/h,x\n1,2\n",
		"ids.csv":      "id\n135217135789158401\n1352171357E+5\n",
		"ids.jsonl":    "{\"id\":100000000000000000001}\n{\"id\":100000000000000000002}\n",
		"lists.jsonl":  "{\"e\":[0.5,1.5]}\n{\"e\":null}\n",
		"odd.jsonl":    "{\"o\":[{\"b\":1}]}\n",
		"groups.csv":   "p,x\n1,1\n2,2\n,3\n1,4\n,5\n0,7\n",
		"reserved.csv": "device,x\n1,2\n",
		"big.csv":      "id\n9000000000000001\n9000000000000003\n",
		"empty.csv":    ",b\n1,2\n",
		"u16.csv":      "\xff\xfei\x00d\x00\n\x001\x00\n\x00",
		"t.csv.gz":     "\x1f\x8b\x08\x00",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	for _, tt := range []struct {
		args string
		code int
		out  string // on standard output, if not ""
		err  string // on standard error, if not ""
	}{
		{"head cr.csv --as csv", 0, "a,b\n1,2\n3,4\n", ""},
		{"convert missing.csv m", 0, "", ""},
		{"head m --as csv", 0, "k,s\n0,a\nNA,NA\n5,\"NA\"\n", ""},
		{"head m k --as jsonl", 0, "{\"k\":0}\n{\"k\":null}\n{\"k\":5}\n", ""},
		{"head m k", 0, "k  k_mask\n0  true\n0  false\n5  true\n", ""},
		{"head m k -n 1", 0, "int64 [1]\n[0]\n", ""},
		{"tail m k -n 2 --as npy", 3, "", `tdict: tail: m: "k" has missing values in these rows, which npy cannot hold: print it --as csv or jsonl` + "\n"},
		{"convert masks.csv u", 0, "", ""},
		{"head u --as csv", 0, "a,a_mask,b\n1,true,x\n2,false,y\n", ""},
		{"slice u two.csv --where a==2", 0, "", ""},
		{"head two.csv --as csv", 0, "a,a_mask,b\n2,false,y\n", ""},
		{"convert speed.csv s", 0, "", `tdict: convert: note: speed.csv: column "km/h" becomes the entry "h" in a dictionary "km": give --nested with a text that no header has to keep the name` + "\n"},
		{"convert speed.csv s2 --nested |", 0, "", ""},
		{"head s2 --as jsonl", 0, "{\"km/h\":1,\"x\":2}\n", ""},
		{"head ids.csv --as csv", 0, "id\n135217135789158401\n1352171357E+5\n", `tdict: head: note: ids.csv: column "id" becomes text: float64 would round 135217135789158401 in line 2, and 1352171357E+5 in line 3 is not an integer` + "\n"},
		{"head ids.jsonl --as csv", 0, "id\n100000000000000000001\n100000000000000000002\n", `tdict: head: note: ids.jsonl: "id" becomes text: 2 integers, no dtype holds 100000000000000000001 in line 1` + "\n"},
		{"head lists.jsonl --as jsonl", 0, "{\"e\":[0.5,1.5]}\n{\"e\":null}\n", ""},
		{"convert odd.jsonl o", 0, "", `tdict: convert: note: odd.jsonl: "o" becomes text: 1 lists, 1 objects` + "\n"},
		{"split groups.csv g --count 1,1,1,1 --by p", 0, "", ""},
		{"split groups.csv g3 --count 1,1,1 --by p", 3, "", "want 4"},
		{"split groups.csv e --sizes 0.95,0.05 --by p --names train,test", 0, "", `tdict: split: note: part "test" has no rows` + "\n"},
		{"slice reserved.csv r --index :1", 3, "", `tdict: slice: save reserved.csv: key cannot be saved: "device": the format has a field of that name: rename it in the input, or leave it out: use slice --drop` + "\n"},
		{"slice reserved.csv r --drop device", 0, "", ""},
		{"stats big.csv", 0, "9000000000000001  9000000000000002  9000000000000002  9000000000000002  9000000000000003  9000000000000002  1\n", ""},
		{"show empty.csv", 0, "  \"\": int64 [1], 8 B, mapped\n", ""},
		{"show u16.csv", 3, "", "UTF-16"},
		{"show t.csv.gz --from csv", 3, "", "gzip"},
		{"show t.csv.gz", 3, "", "run gunzip first"},
		{"slice lists.jsonl m.jsonl --where missing(e)", 0, "", ""},
		{"head m.jsonl", 0, "e\n", ""},
	} {
		t.Run(tt.args, func(t *testing.T) {
			got := command(t, dir, strings.Fields(tt.args)...)
			require.Equal(t, tt.code, got.code, "%+v", got)
			require.Contains(t, got.stdout, tt.out)
			require.Contains(t, got.stderr, tt.err)
			if tt.err == "" {
				require.Empty(t, got.stderr)
			}
		})
	}
}
