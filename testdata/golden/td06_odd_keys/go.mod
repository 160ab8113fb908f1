// This is not a module. A go.mod keeps a directory out of the zip file of the module around it,
// which cannot have files called CON.memmap, or upper.memmap beside UPPER.memmap.
module td06_odd_keys
