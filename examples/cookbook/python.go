package main

import _ "embed"

//go:embed python.py
var script string
