// Package drivertest has MongoDB's own driver for Go use a server of package mongowire. It is a
// module of its own, so that the driver is in no other module's graph.
//
//	go test -C samplecache/mongowire/drivertest ./...
//	go test -C samplecache/mongowire/drivertest -run xxx -bench .
package drivertest
