package mapping

// Users returns the number of calls of Acquire without a Release so far.
func (m *Mapping) Users() int { return int(m.state.Load() &^ open) }
