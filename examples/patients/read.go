package main

import (
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/examples/internal/data"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// columns are the values of all patients, of all visits and of all labs that were measured, and how
// many visits and labs there are.
type columns struct {
	id           []int32
	age          []float32
	female       []bool
	treated      []bool
	visits       []int64 // of each patient
	day          []int32
	measurements []int64 // of each visit
	lab          []uint8 // positions in data.Labs
	value        []float32
}

// readPatients returns the patients: id, age, female and treated [N], day of each visit [N *], lab
// and value of each measurement [N * *].
func readPatients() *ragged.Joint {
	c := readColumns()
	layout := tensor.Must(ragged.LayoutOf(shapeops.Shape{len(c.id)}, c.visits, c.measurements))
	visits := layout.Outer()
	patients := visits.Outer()
	return tensor.Must(ragged.NewJoint(
		field("id", patients, c.id), field("age", patients, c.age),
		field("female", patients, c.female), field("treated", patients, c.treated),
		field("day", visits, c.day),
		field("lab", layout, c.lab), field("value", layout, c.value),
	))
}

func field[T tensor.Elem](name string, l *ragged.Layout, values []T) ragged.Field {
	return ragged.Field{Name: name, Tensor: tensor.Must(ragged.New(tensor.Vector(values...), l))}
}

// readColumns reads the table, in which the lines of a patient follow one another.
func readColumns() *columns {
	table := tensor.Must(data.Visits())
	c, last := &columns{}, ""
	for _, fields := range table[1:] {
		visit := line{table[0], fields}
		if id := visit.text("id"); id != last {
			c.patient(visit)
			last = id
		}
		c.visit(visit)
	}
	return c
}

// patient adds the patient of a line.
func (c *columns) patient(l line) {
	c.id = append(c.id, int32(l.number("id")))
	c.age = append(c.age, float32(l.number("age")))
	c.female = append(c.female, l.text("sex") == "f")
	c.treated = append(c.treated, l.text("trt") == "1")
	c.visits = append(c.visits, 0)
}

// visit adds the visit of a line to the last patient, with the labs that were measured.
func (c *columns) visit(l line) {
	c.visits[len(c.visits)-1]++
	c.day = append(c.day, int32(l.number("day")))
	n := len(c.lab)
	for code, name := range data.Labs {
		if l.text(name) != "NA" {
			c.lab, c.value = append(c.lab, uint8(code)), append(c.value, float32(l.number(name)))
		}
	}
	c.measurements = append(c.measurements, int64(len(c.lab)-n))
}

// A line is one of the table.
type line struct{ names, fields []string }

func (l line) text(name string) string { return l.fields[slices.Index(l.names, name)] }

func (l line) number(name string) float64 {
	return tensor.Must(strconv.ParseFloat(l.text(name), 64))
}
