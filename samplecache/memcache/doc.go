// Package memcache keeps a circular cache of samples in the memory of one process: an engine of
// package samplecache for tests, and for programs that generate and read in one process.
//
//	e, err := memcache.New(schema, samplecache.Config{Samples: 100})
//	c, err := samplecache.Open(ctx, e, samplecache.Options{})
//
// Each Open is another member. The cache ends with the process; Durable changes nothing.
package memcache
