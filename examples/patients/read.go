package main

import (
	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// columns are the values of all patients, of all visits and of all measured labs, and the numbers
// of visits and labs.
type columns struct {
	id           []int32
	age          []float32
	female       []bool
	treated      []bool
	visits       []int64 // number of visits of each patient
	day          []int32
	measurements []int64 // number of labs of each visit
	lab          []uint8 // positions in data.Labs
	value        []float32
}

// readPatients returns the patients: id, age, female and treated [N], the day of each visit [N *],
// and the lab and value of each measurement [N * *].
func readPatients() *joint.Joint {
	c := readColumns()
	layout := tensor.Must(ragged.LayoutOf(shapeops.Shape{len(c.id)}, c.visits, c.measurements))
	visits := layout.Outer()
	patients := visits.Outer()
	return tensor.Must(joint.New(
		field("id", patients, c.id), field("age", patients, c.age),
		field("female", patients, c.female), field("treated", patients, c.treated),
		field("day", visits, c.day),
		field("lab", layout, c.lab), field("value", layout, c.value),
	))
}

func field[T tensor.Elem](name string, l *ragged.Layout, values []T) joint.Field {
	return joint.Field{Name: name, Tensor: tensor.Must(ragged.New(tensor.Vector(values...), l))}
}

// readColumns reads the table, in which the rows of a patient follow one another.
func readColumns() *columns {
	table := tensor.Must(data.Visits())
	c := &columns{day: of[int32](table, "day")}
	c.addPatients(table)
	c.addLabs(table)
	return c
}

// addPatients adds the patients and their numbers of visits.
func (c *columns) addPatients(table *tdict.TensorDict) {
	id, age, treated := of[int32](table, "id"), of[float32](table, "age"), of[int8](table, "trt")
	sex := tensor.Must(ragged.Strings(tensor.Must(tdict.Get[*ragged.Tensor](table, "sex"))))
	for row := range id {
		if row == 0 || id[row] != id[row-1] {
			c.id, c.age = append(c.id, id[row]), append(c.age, age[row])
			c.female, c.treated = append(c.female, sex[row] == "f"), append(c.treated, treated[row] == 1)
			c.visits = append(c.visits, 0)
		}
		c.visits[len(c.visits)-1]++
	}
}

// addLabs adds the measured labs and their number in each visit.
func (c *columns) addLabs(table *tdict.TensorDict) {
	labs := make([][]float32, len(data.Labs))
	for code, lab := range data.Labs {
		labs[code] = of[float32](table, nestedkey.Of(lab))
	}
	for row := range c.day {
		n := len(c.lab)
		for code, values := range labs {
			if v := values[row]; v == v { // not NaN
				c.lab, c.value = append(c.lab, uint8(code)), append(c.value, v)
			}
		}
		c.measurements = append(c.measurements, int64(len(c.lab)-n))
	}
}

// of returns the elements of a column.
func of[T tensor.Elem](table *tdict.TensorDict, key nestedkey.Key) []T {
	return tensor.Must(tdict.Slice[T](table, key))
}
