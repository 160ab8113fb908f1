//go:build !unix || solaris || aix

package vfs_test

var numberForms map[string]numbersOf
