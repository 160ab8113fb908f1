// Patients keeps ragged data of real patients: each has a different number of visits, and each
// visit has only the labs that were measured. The program saves the data in a .nrt file and maps
// it. Then it collates the last visits of some patients to a padded batch, and summarizes their
// labs by visit and by patient. Any error ends it: see Must.
//
//	go run ./examples/patients
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

func main() {
	dir := tensor.Must(os.MkdirTemp("", "patients-"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "patients.nrt")
	check(nrt.Save(path, readPatients()))

	file := tensor.Must(nrt.Open(path)) // mapped: no value is read yet
	defer file.Close()
	n, _ := file.Len()
	fmt.Printf("the file, of %d visits with %d labs: %v\n",
		tensor.Must(file.Tensor("day")).NumValues(), tensor.Must(file.Tensor("lab")).NumValues(), file)

	some := rand.New(rand.NewPCG(1, 2)).Perm(n)[:5]
	collate(file.Joint, some)
	byVisit(tensor.Must(file.Row(some[3])))
	byPatient(tensor.Must(file.Index(ix.Take(some...))))
}

// check panics if there is an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}
