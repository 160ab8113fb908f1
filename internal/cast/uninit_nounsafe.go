//go:build nounsafe

package cast

// Uninit returns n bytes of new memory, aligned for every element type.
func Uninit(n int) []byte { return make([]byte, n, (n+7)&^7) }

// UninitOf returns n elements of new memory.
func UninitOf[T any](n int) []T { return make([]T, n) }
