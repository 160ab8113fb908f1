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
		"odd.jsonl":    "{\"o\":[{\"b\":1}]}\n{\"o\":1}\n",
		"sexes.csv":    "sex,n\nf,1\nm,2\n",
		"days.csv":     "day\n2020-01-02\n",
		"seconds.csv":  "day\n2020-01-02T00:00:00Z\n",
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
		{"head m k", 0, "k\n0\nNA\n5\n", ""},
		{"head m k -n 1", 0, "int64 [1]\n[0]\n", ""},
		{"tail m k -n 2 --as npy", 3, "", `tdict: tail: m: "k" has missing values in these rows, which npy cannot hold: print it --as csv or jsonl` + "\n"},
		{"convert masks.csv u", 0, "", ""},
		{"head u --as csv", 0, "a,a_mask,b\n1,true,x\n2,false,y\n", ""},
		{"slice u two.csv --where a==2", 0, "", ""},
		{"head two.csv --as csv", 0, "a,a_mask,b\n2,false,y\n", ""},
		{"convert speed.csv s", 0, "", ""},
		{"head s --as jsonl", 0, "{\"km/h\":1,\"x\":2}\n", ""},
		{"convert speed.csv s2 --nested /", 0, "", ""},
		{"head s2 --as jsonl", 0, "{\"km\":{\"h\":1},\"x\":2}\n", ""},
		{"head ids.csv --as csv", 0, "id\n135217135789158401\n1352171357E+5\n", `tdict: head: note: ids.csv: column "id" becomes text: float64 would round 135217135789158401 in line 2, and 1352171357E+5 in line 3 is not an integer` + "\n"},
		{"head ids.jsonl --as csv", 0, "id\n100000000000000000001\n100000000000000000002\n", `tdict: head: note: ids.jsonl: "id" becomes text: 2 integers, no dtype holds 100000000000000000001 in line 1` + "\n"},
		{"head lists.jsonl --as jsonl", 0, "{\"e\":[0.5,1.5]}\n{\"e\":null}\n", ""},
		{"convert odd.jsonl o", 0, "", `tdict: convert: note: odd.jsonl: "o" becomes text: 1 integers, 1 lists, 1 objects`},
		{"split groups.csv g --count 1,1,1,1 --by p", 0, "", ""},
		{"split groups.csv g3 --count 1,1,1 --by p", 3, "", "want 4"},
		{"split groups.csv e --sizes 0.95,0.05 --by p --names train,test", 0, "", `tdict: split: note: part "test" has no rows` + "\n"},
		{"slice reserved.csv r --index :1", 0, "", `tdict: slice: note: reserved.csv: "device" becomes the entry "device_": no entry of a directory can have that name` + "\n"},
		{"head r --as csv", 0, "device,x\n1,2\n", ""},
		{"convert r r2 --rename device_=shape", 3, "", `tdict: convert: save r: key cannot be saved: "shape": the format has a field of that name: give it another key with --rename, or leave it out with --drop` + "\n"},
		{"convert r r3.csv --rename device_=shape", 0, "", ""},
		{"head r3.csv --as csv", 0, "shape,x\n1,2\n", `"shape" becomes the entry "shape_"`},
		{"convert sexes.csv both --categories sex", 0, "", ""},
		{"stats both --by sex", 0, "sex  rows  key  count  missing  NaN  mean\n\"f\"  1     n    1      0        0    1\n\"m\"  1     n    1      0        0    2\n", ""},
		{"join days.csv seconds.csv out --on day", 3, "", `tdict: join: days.csv: match "day": schema mismatch: got times that count d, and times that count s in the other: they cannot be compared` + "\n"},
		{"diff days.csv seconds.csv", 1, "\"day\": unit d, time 2006-01-02, other unit s, time 2006-01-02T15:04:05Z\n\"day\": 1 element differs: [0] is 18263, other 1577923200\n", ""},
		{"convert both out --rename n=sex", 3, "", `tdict: convert: open both: rename "n": key exists: "sex"; --drop leaves it out first` + "\n"},
		{"sort both out --by z", 3, "", `tdict: sort: both: order "z": get "z": missing key: have "sex", "n"` + "\n"},
		{"stats big.csv", 0, "9000000000000001  9000000000000002  9000000000000002  9000000000000002  9000000000000003  9000000000000002  1\n", ""},
		{"show empty.csv", 0, "  \"\": int64 [1], 8 B, mapped\n", ""},
		{"show u16.csv", 0, "id: int64 [1], 8 B, mapped\n", ""},
		{"show t.csv.gz --from csv", 3, "", "gzip"},
		{"show t.csv.gz", 3, "", "gzip data end after 0 bytes of text: the file is cut, get it again"},
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
