package forms

// Unregister removes the driver of a form.
func Unregister(f Form) { drivers.Delete(f) }
