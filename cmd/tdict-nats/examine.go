package main

import (
	"context"

	"github.com/go-tensordict/tensordict/cmd/internal/doctor"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

// examine looks at the servers of a cache.
func examine(context.Context, natscache.Engine) ([]doctor.Finding, error) { return nil, nil }
