package command

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/cmd/internal/doctor"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
)

// listed is how many entries of a list are printed.
const listed = 10

// A table is text in rows, each with a name.
type table struct{ strings.Builder }

func (t *table) row(name, format string, args ...any) {
	fmt.Fprintf(t, "%-11s %s\n", name, fmt.Sprintf(format, args...))
}

// list adds a row for each of the first texts. The first row has the name.
func (t *table) list(name string, texts []string) {
	for _, text := range firstFew(texts) {
		t.row(name, "%s", text)
		name = ""
	}
	if n := len(texts) - listed; n > 0 {
		t.row("", "and %d more: --json has them", n)
	}
}

// text returns the view as lines.
func (v *view) text() string {
	var t table
	t.row("cache", "%s", errtext.Line(v.name))
	if v.err != nil {
		t.row("away", "%s", errtext.Line(v.err.Error()))
		return t.String()
	}
	if v.mirrors != "" {
		t.row("mirror", "of the cache %s on servers, where its status says who waits", errtext.Quote(v.mirrors))
	}
	st := &v.stats
	t.row("generation", "%s", v.published())
	t.row("filling", "generation %d: %d of %d samples, slots reserved: %d", st.Filling, st.Committed, st.Samples, st.Reserved)
	t.row("room", "%s a sample, %s a generation, kept besides the latest: %d", doctor.Size(st.Bytes), doctor.Size(st.Bytes*int64(st.Samples)), max(v.config.Retain, 0))
	t.list("held", v.held())
	if v.snap.PollInterval > 0 {
		t.row("rates", "%.4g samples/s, %.4g generations/s, %s/s", v.snap.SamplesPerS, v.snap.SwapsPerS, doctor.Size(int64(v.snap.SamplesPerS*float64(st.Bytes))))
	}
	t.row("members", "%s", membersText(st.Members))
	var producers, groups, waits []string
	byName := func(a, b samplecache.ProducerStats) int { return strings.Compare(a.Name, b.Name) }
	for _, p := range slices.SortedFunc(slices.Values(st.Producers), byName) {
		producers = append(producers, fmt.Sprintf("%s: %s, %s", errtext.Quote(p.Name), windowText(p.Window), processText(p.PID, p.Host)))
	}
	for _, g := range st.Groups {
		groups = append(groups, fmt.Sprintf("%s: %d of %d ranks, %.1f passes over generation %d, %d rows in all",
			errtext.Quote(g.Name), g.Members, g.World, float64(g.Current)/float64(max(st.Samples, 1)), st.Latest, g.Taken))
	}
	for _, sentence := range v.sentences() {
		waits = append(waits, errtext.Line(sentence))
	}
	t.list("producers", producers)
	t.list("groups", groups)
	t.list("waits", waits)
	return t.String()
}

// sentences returns a sentence for each thing that waits.
func (v *view) sentences() (sentences []string) {
	for _, w := range v.waits() {
		sentences = append(sentences, w.Text)
	}
	return sentences
}

// published describes the generation published last.
func (v *view) published() string {
	st := &v.stats
	if st.Latest == 0 {
		return "none yet"
	}
	text := fmt.Sprint(st.Latest)
	if !st.LastSwap.IsZero() {
		text += fmt.Sprintf(", published %v ago", short3(v.at.Sub(st.LastSwap)))
	}
	if st.SwapTook > 0 {
		text += fmt.Sprintf(" in %v", short3(st.SwapTook))
	}
	return text
}

// held describes the generations that are kept only because they are read.
func (v *view) held() (texts []string) {
	for _, id := range v.stats.Held {
		var by []string
		for _, h := range v.stats.Holders {
			if h.Generation == id {
				by = append(by, processText(h.PID, h.Host))
			}
		}
		texts = append(texts, fmt.Sprintf("generation %d by %s", id, cmp.Or(shorten(by), "readers that are not known")))
	}
	return texts
}

// firstFew returns the first entries of list.
func firstFew(list []string) []string { return list[:min(len(list), listed)] }

// shorten joins the first texts, and says how many there are more.
func shorten(texts []string) string {
	text := strings.Join(firstFew(texts), ", ")
	if n := len(texts) - listed; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// membersText describes sessions by their hosts.
func membersText(list []samplecache.MemberStats) string {
	if len(list) == 0 {
		return "none"
	}
	pids := map[string][]string{}
	for _, m := range list {
		pids[m.Host] = append(pids[m.Host], fmt.Sprint(m.PID))
	}
	var hosts []string
	for _, host := range slices.Sorted(maps.Keys(pids)) {
		one := fmt.Sprintf("%d: pid %s", len(pids[host]), shorten(pids[host]))
		if host != "" {
			one = errtext.Line(host) + " " + one
		}
		hosts = append(hosts, one)
	}
	if n := len(hosts) - listed; n > 0 {
		hosts = append(firstFew(hosts), fmt.Sprintf("and %d hosts more", n))
	}
	return strings.Join(hosts, "; ")
}

// windowText describes the numbers of a producer.
func windowText(w samplecache.Window) string {
	text := fmt.Sprintf("numbers below %d are committed", w.Floor)
	if n := bits.OnesCount64(w.Above); n > 0 {
		text += fmt.Sprintf(", and %d above", n)
	}
	return text
}

// processText describes the process that has something.
func processText(pid int, host string) string {
	switch {
	case pid == 0:
		return "not a member"
	case host == "":
		return fmt.Sprintf("pid %d", pid)
	}
	return fmt.Sprintf("pid %d on %s", pid, errtext.Line(host))
}

// short3 returns a duration with about three digits.
func short3(d time.Duration) time.Duration {
	d = max(d, 0)
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= 10*unit {
			return d.Round(unit)
		}
	}
	return d.Round(time.Microsecond / 10)
}

// A statusLine is a line of --json: the snapshot of wirehead's logger, and more. Durations are in
// seconds.
type statusLine struct {
	mongowire.Snapshot
	Generation  uint64                      `json:"generation"`
	Filling     uint64                      `json:"filling"`
	SampleBytes int64                       `json:"sample_bytes"`
	Publishing  float64                     `json:"publish_duration"` // of the last publication
	Held        []uint64                    `json:"held"`
	Holders     []samplecache.HolderStats   `json:"holders"`
	Members     []timed                     `json:"members"`
	Slots       []timed                     `json:"slots"`
	Producers   []samplecache.ProducerStats `json:"producers"`
	Groups      []samplecache.GroupStats    `json:"groups"`
	Waits       []string                    `json:"waits"`
}

// timed is a session or a reserved slot.
type timed struct {
	Slot *int    `json:"slot,omitempty"`
	PID  int     `json:"pid"`
	Host string  `json:"host,omitempty"`
	For  float64 `json:"for"`
}

// line returns the object of a line of --json.
func (v *view) line() any {
	if v.err != nil {
		return struct {
			DBName    string  `json:"db_name"`
			Timestamp float64 `json:"timestamp"`
			Error     string  `json:"error"`
		}{v.name, float64(v.at.UnixNano()) / 1e9, v.err.Error()}
	}
	st := &v.stats
	line := statusLine{
		Snapshot: v.snap, Generation: st.Latest, Filling: st.Filling, SampleBytes: st.Bytes, Publishing: st.SwapTook.Seconds(),
		Held: orEmpty(st.Held), Holders: orEmpty(st.Holders), Members: []timed{}, Slots: []timed{},
		Producers: orEmpty(st.Producers), Groups: orEmpty(st.Groups), Waits: orEmpty(v.sentences()),
	}
	for _, m := range st.Members {
		line.Members = append(line.Members, timed{PID: m.PID, Host: m.Host, For: m.For.Seconds()})
	}
	for _, one := range st.Slots {
		line.Slots = append(line.Slots, timed{Slot: &one.Slot, PID: one.PID, Host: one.Host, For: one.For.Seconds()})
	}
	return line
}

// orEmpty returns an empty list for nil, which JSON writes as [].
func orEmpty[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
