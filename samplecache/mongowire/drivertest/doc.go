// Package drivertest tests package mongowire with MongoDB's driver for Go. It is a separate module,
// so that no other module depends on the driver.
//
//	go test -C samplecache/mongowire/drivertest ./...
//	go test -C samplecache/mongowire/drivertest -run xxx -bench .
package drivertest
