package jsonlists

// A Marshaler is a json.Marshaler that calls a function.
type Marshaler func() ([]byte, error)

// MarshalJSON calls m.
func (m Marshaler) MarshalJSON() ([]byte, error) { return m() }
