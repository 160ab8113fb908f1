package mongowire_test

import (
	"context"
	"fmt"
	"net"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/tdict"
)

func Example() {
	ctx := context.Background()
	s, err := mongowire.New(nil, mongowire.Options{
		Database: "unit",
		Samples:  100,
		Create: func(ctx context.Context, schema *tdict.TensorDict) (*samplecache.Cache, error) {
			e, err := memcache.New(schema, samplecache.Config{Samples: 100})
			if err != nil {
				return nil, err
			}
			return samplecache.Open(ctx, e, samplecache.Options{})
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() { _ = s.Serve(l) }()
	snap, err := s.Snapshot(mongowire.Snapshot{})
	fmt.Println(snap.SamplesCompleted, "of", snap.SwapCap, err)
	fmt.Println(s.Shutdown(ctx))
	// Output:
	// 0 of 100 <nil>
	// <nil>
}
