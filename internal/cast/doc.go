// Package cast views numbers as bytes and bytes as numbers, without a copy. It and internal/mapping
// are the only packages that may import unsafe; a test enforces it. With the build tag nounsafe,
// [Uninit] does without.
package cast
