package jsonlists

// A Marshaler is a function that returns JSON, as a json.Marshaler.
type Marshaler func() ([]byte, error)

// MarshalJSON calls m.
func (m Marshaler) MarshalJSON() ([]byte, error) { return m() }
