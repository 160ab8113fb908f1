package mapping

// Users returns the number of calls of Acquire without a Release so far.
func (m *Mapping) Users() int { return int(m.state.Load() &^ open) }

// Pinned reports whether [Mapping.Pin] ever returned the bytes.
func (m *Mapping) Pinned() bool { return m.res != nil && m.res.pinned.Load() }
