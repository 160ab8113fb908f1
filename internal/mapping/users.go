package mapping

// Users returns how many loans there are now.
func (m *Mapping) Users() int { return int(m.state.Load() &^ open) }

// Pinned reports whether [Mapping.Pin] ever handed out the bytes.
func (m *Mapping) Pinned() bool { return m.res != nil && m.res.pinned.Load() }
