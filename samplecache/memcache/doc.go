// Package memcache keeps a circular cache of samples in the memory of one process. It is an engine
// of package samplecache, for tests, and for programs that generate and read in one process.
//
//	e, err := memcache.New(schema, samplecache.Config{Samples: 100})
//	c, err := samplecache.Open(ctx, e, samplecache.Options{})
//	defer c.Close()
//	p, err := c.Producer("gen-7")
//	slot, err := p.Reserve(ctx)
//
// Each Open joins as another member. The cache ends with the process; Config.Durable has no effect.
package memcache
