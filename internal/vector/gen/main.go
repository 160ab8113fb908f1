// Command gen writes the assembly of package vector: see that package's doc.go.
//
//	go run -C internal/vector/gen . -out ../vector_amd64.s -stubs ../stubs_amd64.go -pkg vector
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("!noasm")
	ConstraintExpr("!race") // the race detector does not see what assembly reads and writes
	arithmetic()
	comparisons()
	conversions()
	reductions()
	functions()
	transposes()
	machine()
	Generate()
}
