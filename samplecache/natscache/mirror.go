package natscache

import (
	"context"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

type local struct{}

func openMirror(ctx context.Context, dir string, about engine.About) (*local, error) { return nil, nil }
func (s *session) closeMirror()                                                      {}
func (s *session) mirrored(ctx context.Context, r *rows) (engine.Rows, error)        { return r, nil }
