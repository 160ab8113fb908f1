package dircache

// crashPoint is called with a name between two steps that a kill may separate. Tests kill the
// process there.
var crashPoint = func(name string) {}
