// Package concepts holds no code but the examples of docs/concepts.md.
package concepts
