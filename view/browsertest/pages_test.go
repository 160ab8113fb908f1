package browsertest

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view"
)

// Each payload sets harmed if a page takes it for a script or for markup.
var payloads = []string{
	`<script>window.harmed=1</script>`, `"><img src=x onerror=window.harmed=1>`, `' onfocus=harmed=1 autofocus x='`, `javascript:window.harmed=1`,
	`</title></style></textarea><svg onload=harmed=1>`, `{{.}}${harmed=1}`, `style="background:url(//evil.example/x)"`, `<link rel=stylesheet href=//evil.example>`,
	"\u202egnp.exe", "\u200f\u05e9\u05dc\u05d5\u05dd", "x\x00y\n\x1b[31m", "\u2028", "👩‍👩‍👧", "\xff\xfe\xc3", "", " ", "..", "a/b", "%2e%2e%2f", "&amp;<b>",
}

// hostile returns a dictionary whose keys and texts are payloads, of three rows.
func hostile(t testing.TB) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(3)
	for i, payload := range payloads {
		texts := []string{payload, strings.Repeat(payload, 3), payloads[len(payloads)-1-i]}
		value := tdict.Value(tensor.Must(ragged.FromStrings(texts)))
		if i%2 == 1 {
			value = tensor.Must(tensor.From([]float64{math.NaN(), math.Inf(i - 4), float64(i)}, 3))
		}
		if err := td.Set(nestedkey.Of("in", payload), value); err != nil {
			require.ErrorIs(t, err, nestedkey.ErrKey, "%q", payload)
		}
		_ = td.Set(nestedkey.Of(payload), value) // not all are keys
	}
	set(t, td, "large", tensor.Must(ragged.FromStrings([]string{strings.Repeat("<b>large</b> ", 10<<20/13), "\u202e", ""})))
	require.NoError(t, td.Set(nestedkey.Of(strings.Repeat("k", 5000)), tensor.Must(tensor.Arange(0, int64(3), 1))))
	set(t, td, "json", tensor.Must(tdict.DataFrom([]any{
		map[string]any{payloads[0]: []any{payloads[1], nil, true, 1.5}}, payloads[0], []any{payloads[7]}}, 3)))
	return td
}

// everyDataset serves one dataset of each kind.
func everyDataset(t *testing.T) (base string) {
	t.Helper()
	if browser == nil {
		t.Skip(noBrowser)
	}
	cut := save(t, "cut", visits(t))
	require.NoError(t, os.Truncate(filepath.Join(cut, "age.memmap"), 8192))
	sources := []view.Source{
		{Path: save(t, "digits", digits(t))}, {Path: save(t, "digits-ink", digitsInk(t))}, {Path: save(t, "patients", patients(t))},
		{Path: save(t, "visits", visits(t))}, {Path: grow(t, "growing", 1334).path}, {Path: grow(t, "events", 0).path},
		{Name: `<b onclick=harmed=1>`, Dict: hostile(t), Form: payloads[0], Metadata: map[string]string{payloads[0]: payloads[1]}}, {Path: cut},
	}
	return serveSources(t, sources)
}

// A place is the address of a page and the status of its answer.
type place struct {
	address string
	status  int
}

// everyPage is a page of each kind.
var everyPage = []place{
	{"", 200}, {"keys", 200},
	{"?d=visits", 200}, {"?d=visits&as=list", 200}, {"leaf?d=visits&k=chol&index=[0,1,-1]", 200}, {"leaf?d=visits&k=age&index=5:x", 200},
	{"leaf?d=visits&k=sex", 200}, {"leaf?d=visits&k=stage", 200}, {"leaf?d=visits&k=chol_mask", 200}, {"leaf?d=visits&k=none", 404},
	{"rows?d=visits", 200}, {"rows?d=visits&from=1900", 200}, {"rows?d=visits&from=20&row=31", 200}, {"rows?d=visits&row=9999", 404}, {"rows?d=visits&from=x", 400},
	{"search?d=visits&q=al", 200}, {"search?d=visits&q=xyzzy", 200},
	{"?d=digits", 200}, {"?d=digits&k=meta", 200}, {"?d=digits&k=meta&as=list", 200}, {"leaf?d=digits&k=image&index=0,+2:5", 200},
	{"pictures?d=digits&k=image", 200}, {"pictures?d=digits&k=image&size=l&from=96", 200},
	{"?d=digits-ink", 200}, {"rows?d=digits-ink&from=20&row=31", 200}, {"leaf?d=digits-ink&k=ink", 200}, {"leaf?d=digits-ink&k=name", 200},
	{"?d=patients", 200}, {"leaf?d=patients&k=outcome", 200}, {"leaf?d=patients&k=bili", 200}, {"lines?d=patients&k=bili&x=day&row=23&from=16", 200},
	{"?d=growing", 200}, {"rows?d=growing&from=1300", 200}, {"?d=events", 200}, {"rows?d=events", 200}, {"?d=cut", 500},
	{"nowhere", 404}, {"?d=none", 404},
}

// hostilePages are pages of the hostile dataset.
func hostilePages() (all []place) {
	d := url.QueryEscape(`<b onclick=harmed=1>`)
	all = []place{{"?d=" + d, 200}, {"?as=list&d=" + d, 200}, {"?k=in&d=" + d, 200}, {"rows?d=" + d, 200}, {"rows?row=0&d=" + d, 200}, {"rows?row=2&d=" + d, 200}, {"leaf?k=large&d=" + d, 200}, {"leaf?k=json&d=" + d, 200}}
	for _, payload := range payloads[:9] {
		word := url.QueryEscape(payload)
		all = append(all, place{"search?q=" + word + "&d=" + d, 200}, place{"leaf?k=" + word + "none&d=" + d, 404},
			place{"leaf?k=" + url.QueryEscape(string(nestedkey.Of("in", payload))) + "&d=" + d + "&index=" + word, 200})
	}
	return all
}

// see opens a page, and checks its status and that it has one h1.
func (b *tab) see(p place) {
	b.t.Helper()
	b.expect(fmt.Sprintf("status of %d", p.status))
	b.open(p.address)
	if got := eval[int](b, `performance.getEntriesByType("navigation")[0].responseStatus`); got != p.status {
		b.t.Errorf("%s: got the status %d, want %d", p.address, got, p.status)
	}
	if n := len(b.texts("h1")); n != 1 {
		b.t.Errorf("%s: got %d h1, want 1", p.address, n)
	}
}

// TestHostile looks at all pages of keys and texts with markup. A tab fails if one has an effect.
func TestHostile(t *testing.T) {
	b := newTab(t, everyDataset(t))
	for _, p := range hostilePages() {
		b.see(p)
		eval[bool](b, `document.querySelectorAll("details").forEach(d => { d.open = true }), true`)
		for _, at := range eval[[]string](b, `[...document.querySelectorAll("main *, .tree *, .bar *")].flatMap(x => [...x.attributes].filter(a => /^on|^style$/.test(a.name) || /^(href|src|action|xlink:href)$/.test(a.name) && /^(javascript|data):/i.test(a.value)).map(a => x.tagName + " " + a.name + "=" + a.value)).slice(0, 3)`) {
			t.Errorf("%s: %s", p.address, at)
		}
		if n := eval[int](b, `document.querySelectorAll("main script, main iframe, main link, main style, bdi *:not(b), title *").length`); n > 0 {
			t.Errorf("%s: %d elements of the data", p.address, n)
		}
		if found := eval[[]string](b, `(document.title + document.documentElement.innerText).match(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u2028\u0000]/g) || []`); len(found) > 0 {
			t.Errorf("%s: characters that turn the text: %+q", p.address, found)
		}
		if n := eval[int](b, `document.documentElement.outerHTML.length`); n > 300_000 {
			t.Errorf("%s: a page of %d bytes", p.address, n)
		}
	}
}
