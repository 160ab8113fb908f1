package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// serveMetrics serves the metrics of a cache. The lookout looks at the cache for each request. If
// the server ends by itself, served gets its error.
func serveMetrics(s *session, l *lookout, address string, served chan<- error) (stop func(), err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, s.usage("--metrics: %v", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	at, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(s.errs, "tdict: cache status: metrics on http://%s/metrics\n", at.Addr())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		v := l.look(r.Context(), view{})
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_ = v.metrics(w) // whoever asked has gone
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(at); !errors.Is(err, http.ErrServerClosed) {
			served <- err
		}
	}()
	return func() { _ = server.Close() }, nil // nothing is lost
}

// A metric is a line of the text: its labels and its value.
type metric struct {
	labels string
	value  float64
}

// metrics returns the view in the text format of Prometheus.
func (v *view) metrics(w io.Writer) error {
	var b bytes.Buffer
	add := func(name, kind, help string, list ...metric) {
		name = "tdict_cache_" + name
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
		for _, m := range list {
			fmt.Fprintf(&b, "%s%s %v\n", name, m.labels, m.value)
		}
	}
	gauge := func(name, help string, list ...metric) { add(name, "gauge", help, list...) }
	counter := func(name, help string, list ...metric) { add(name+"_total", "counter", help, list...) }
	gauge("up", "1 if the cache could be looked at.", yes(v.err == nil))
	if v.err == nil {
		v.addCache(gauge, counter)
		v.addMembers(gauge, counter)
		v.addWaits(gauge)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// An adder adds a metric to the text.
type adder func(name, help string, list ...metric)

// addCache adds the metrics of the whole cache.
func (v *view) addCache(gauge, counter adder) {
	st := &v.stats
	puts := float64(st.Latest)*float64(st.Samples) + float64(st.Committed)
	counter("puts_acked", "Samples that were ever committed.", num(puts))
	counter("bytes", "Bytes of these samples.", num(puts*float64(st.Bytes)))
	counter("swaps", "Generations that were ever published.", num(float64(st.Swaps)))
	gauge("generation", "The generation published last.", num(float64(st.Latest)))
	gauge("fill", "Part of the next generation that is committed, 0 to 1.", num(float64(st.Committed)/float64(max(st.Samples, 1))))
	gauge("swap_cap", "Samples of a generation.", num(float64(st.Samples)))
	gauge("in_flight", "Slots that are reserved and not committed.", num(float64(st.Reserved)))
	gauge("swap_seconds", "How long the last publication took.", num(st.SwapTook.Seconds()))
	if !st.LastSwap.IsZero() {
		gauge("swap_timestamp_seconds", "When the last generation was published, since 1970.", num(float64(st.LastSwap.UnixNano())/1e9))
	}
	gauge("held", "Old generations that are kept only because they are read.", num(float64(len(st.Held))))
	longest := time.Duration(0)
	for _, one := range st.Slots {
		longest = max(longest, one.For)
	}
	gauge("slot_seconds", "How long the slot that is reserved longest has been reserved.", num(longest.Seconds()))
}

// addMembers adds the metrics of members, producers and groups.
func (v *view) addMembers(gauge, counter adder) {
	hosts, order := map[string]float64{}, []string{}
	for _, m := range v.stats.Members {
		if hosts[m.Host]++; hosts[m.Host] == 1 {
			order = append(order, m.Host)
		}
	}
	var members, committed, there, ranks, world, taken, current []metric
	for _, host := range order {
		members = append(members, num(hosts[host], "host", host))
	}
	for _, p := range v.stats.Producers {
		committed = append(committed, num(float64(p.Window.Floor)+float64(bits.OnesCount64(p.Window.Above)), "producer", p.Name))
		there = append(there, yes(p.PID != 0, "producer", p.Name, "host", p.Host))
	}
	for _, g := range v.stats.Groups {
		ranks = append(ranks, num(float64(g.Members), "group", g.Name))
		world = append(world, num(float64(g.World), "group", g.Name))
		taken = append(taken, num(float64(g.Taken), "group", g.Name))
		current = append(current, num(float64(g.Current), "group", g.Name))
	}
	gauge("members", "Sessions.", members...)
	counter("producer_puts_acked", "Numbers of a producer that are committed.", committed...)
	gauge("producer_up", "1 if the producer is a member.", there...)
	gauge("group_members", "Members of a group.", ranks...)
	gauge("group_world", "Ranks of a group.", world...)
	gauge("group_rows", "Rows that a group has taken, as limits count them; a group that joins anew starts anew.", taken...)
	gauge("group_generation_rows", "Rows that a group has taken of the generation published last.", current...)
}

// addWaits adds a metric for each kind of wait.
func (v *view) addWaits(gauge adder) {
	waits := v.waits()
	var list []metric
	for _, kind := range engine.WaitKinds() {
		list = append(list, yes(slices.ContainsFunc(waits, func(w engine.Wait) bool { return w.For == kind }), "for", kind))
	}
	gauge("waits", "1 if somebody waits for this.", list...)
}

// num returns a metric. labels are names and values, one after the other.
func num(value float64, labels ...string) metric {
	var list []string
	for pair := range slices.Chunk(labels, 2) {
		list = append(list, fmt.Sprintf(`%s="%s"`, pair[0], escaper.Replace(pair[1])))
	}
	if len(list) == 0 {
		return metric{value: value}
	}
	return metric{"{" + strings.Join(list, ",") + "}", value}
}

// yes returns 1 for true.
func yes(is bool, labels ...string) metric {
	if is {
		return num(1, labels...)
	}
	return num(0, labels...)
}

var escaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
