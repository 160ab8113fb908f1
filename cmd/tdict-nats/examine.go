package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/go-tensordict/tensordict/cmd/internal/doctor"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// patience is how long servers may take to answer.
const patience = 10 * time.Second

// examine looks at the servers of a cache. It returns an error only for a name that no cache has.
func examine(ctx context.Context, e natscache.Engine) ([]doctor.Finding, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%v have passed", patience))
	defer cancel()
	h, err := natscache.Examine(ctx, e)
	switch {
	case errors.Is(err, samplecache.ErrConfig):
		return nil, err
	case err != nil:
		return []doctor.Finding{wrong(err)}, nil
	}
	return findings(h, e.Name), nil
}

// findings returns findings for the facts about servers.
func findings(h natscache.Health, name string) (list []doctor.Finding) {
	for _, err := range h.Wrong {
		list = append(list, wrong(err))
	}
	list = append(list, connection(h)...)
	list = append(list, roundTrip(h.RoundTrip))
	if len(h.Wrong) > 0 {
		return list
	}
	if len(h.Streams) == 0 {
		list = append(list, finding(doctor.Fine, "", "there is no cache %s yet", name))
		return append(list, room(h)...)
	}
	return append(list, cache(h, name)...)
}

func finding(severity doctor.Severity, do, format string, args ...any) doctor.Finding {
	return doctor.Finding{Severity: severity, Text: fmt.Sprintf(format, args...), Do: do}
}

// wrong is the finding about an error that keeps a cache from working.
func wrong(err error) doctor.Finding {
	do := "see From one machine to several in docs/samplecache.md"
	switch {
	case errors.Is(err, natscache.ErrServerVersion):
		do = "install a newer nats-server, or run tdict cache nats"
	case errors.Is(err, natscache.ErrVersion):
		do = "use the tdict that made the cache, or a newer one"
	case errors.Is(err, samplecache.ErrConfig) && strings.Contains(err.Error(), "max_payload"):
		do = "set max_payload: 1MB or more in the configuration of the server"
	case errors.Is(err, samplecache.ErrCorrupt), errors.Is(err, fs.ErrNotExist):
		do = "choose another name, or remove the streams of this name: nats stream rm"
	case errors.Is(err, fs.ErrPermission):
		do = "give --password-file or --creds of a user who may publish and subscribe to tdcache.>, $JS.API.> and _INBOX.>"
	case errors.Is(err, samplecache.ErrUnavailable) && strings.Contains(err.Error(), "JetStream"):
		do = "start the server with -js -sd DIR, and enable JetStream for the account"
	case errors.Is(err, samplecache.ErrUnavailable):
		do = "check that the server runs, that HOST and the port are right, and that no firewall is between; with TLS give --ca"
	}
	return finding(doctor.Problem, do, "%v", err)
}

// connection says whom the connection protects.
func connection(h natscache.Health) []doctor.Finding {
	list := []doctor.Finding{finding(doctor.Fine, "", "the server at %s has version %s and max_payload %d", h.Server, h.Version, h.Payload)}
	if h.Loopback {
		return list
	}
	if !h.Encrypted {
		list = append(list, finding(doctor.Warning, "set tls in the configuration of the server, and give --ca",
			"the connection to %s is not encrypted: others on the network can read samples and passwords", h.Server))
	}
	if !h.Users {
		list = append(list, finding(doctor.Warning, "set users in the configuration of the server (or tdict cache nats --password-file), and give --password-file or --creds",
			"the server at %s lets everybody in who reaches the port, and each can remove the cache", h.Server))
	}
	return list
}

// slow is a round trip that makes a sample slow: a Commit takes several.
const slow = 20 * time.Millisecond

func roundTrip(took time.Duration) doctor.Finding {
	text := fmt.Sprintf("a round trip to the server takes %v", took.Round(time.Microsecond))
	if took > slow {
		return finding(doctor.Warning, "use servers nearer to the jobs, and put several samples at a time", "%s, and each sample takes several", text)
	}
	return finding(doctor.Fine, "", "%s", text)
}

// least is the room that the smallest cache reserves.
const least = 128 << 20

// room says whether the account has room for a cache.
func room(h natscache.Health) (list []doctor.Finding) {
	a := h.Account
	disk, memory := left(a.Limits.MaxStore, a.Store, a.ReservedStore), left(a.Limits.MaxMemory, a.Memory, a.ReservedMemory)
	const do = "raise the limits of the account, or remove streams that nobody needs"
	switch {
	case a.Limits.MaxStreams > 0 && a.Limits.MaxStreams-a.Streams < 4:
		list = append(list, finding(doctor.Problem, do, "the account may add %d streams, and a cache is 4", max(a.Limits.MaxStreams-a.Streams, 0)))
	case disk < least && memory < least:
		list = append(list, finding(doctor.Problem, do, "the account has room for %s on disk and %s in memory, and the smallest cache reserves %s",
			doctor.Size(max(disk, 0)), doctor.Size(max(memory, 0)), doctor.Size(least)))
	case disk < least:
		list = append(list, finding(doctor.Warning, do+", or create with --memory", "the account has room for %s on disk, and the smallest cache reserves %s",
			doctor.Size(max(disk, 0)), doctor.Size(least)))
	case a.Limits.MaxStore < 0:
		list = append(list, finding(doctor.Fine, "", "the account has no limit of storage; cache create says if max_file_store of the servers is too small"))
	default:
		list = append(list, finding(doctor.Fine, "", "the account has room for %s on disk", doctor.Size(disk)))
	}
	return list
}

// left returns how many bytes may still be reserved. A limit of -1 means none.
func left(limit int64, used, reserved uint64) int64 {
	if limit < 0 {
		return 1 << 62
	}
	return limit - int64(max(used, reserved))
}

// cache returns findings about the streams of the cache.
func cache(h natscache.Health, name string) []doctor.Finding {
	var used, reserved int64
	var list []doctor.Finding
	for _, one := range h.Streams {
		used, reserved = used+int64(one.State.Bytes), reserved+max(one.Config.MaxBytes, 0)
		list = append(list, replicas(one)...)
	}
	copies := "one copy"
	if n := h.Streams[0].Config.Replicas; n > 1 {
		copies = fmt.Sprintf("%d copies", n)
	}
	return append([]doctor.Finding{finding(doctor.Fine, "", "%s is a cache with %s: it has reserved %s and uses %s", name, copies, doctor.Size(reserved), doctor.Size(used))}, list...)
}

// replicas finds servers that do not have all of a stream. The leader has all of it.
func replicas(info *jetstream.StreamInfo) []doctor.Finding {
	want, current, behind := info.Config.Replicas, 0, []string(nil)
	if want <= 1 {
		return nil
	}
	cluster := cmp.Or(info.Cluster, &jetstream.ClusterInfo{})
	if cluster.Leader != "" {
		current++
	}
	for _, peer := range cluster.Replicas {
		if peer.Current && !peer.Offline {
			current++
		} else {
			behind = append(behind, peer.Name)
		}
	}
	text := fmt.Sprintf("stream %s is current on %d of %d servers", info.Config.Name, current, want)
	if len(behind) > 0 {
		text += ", not on " + strings.Join(behind, ", ")
	}
	const do = "start the servers that are down, and look at their logs; nats stream info says how far they are"
	switch {
	case current <= want/2:
		return []doctor.Finding{finding(doctor.Problem, do, "%s: nothing can be stored", text)}
	case current < want:
		return []doctor.Finding{finding(doctor.Warning, do, "%s", text)}
	}
	return nil
}
