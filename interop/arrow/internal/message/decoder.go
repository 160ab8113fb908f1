package message

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
)

// Options say how to read.
type Options struct {
	// Path is the name of the file in errors.
	Path string
	// MaxMemory is the largest number of bytes of memory for a batch, and for all dictionaries; 0
	// means 1 GiB. It is also the largest number of values that need no bytes, such as nulls.
	MaxMemory int64
}

// A decoder makes arrays of messages.
type decoder struct {
	*plan
	opt      Options
	selected []bool          // the columns that are loaded
	picked   *arrow.Schema   // of these columns
	needed   map[int64]bool  // the dictionaries of these columns
	dicts    dictionaries    // values so far
	held     map[int64]int64 // memory of each dictionary
	total    int64           // sum of held
	room     room
	seen     func(n *node, nulls int64) // called with each node
}

// newDecoder returns a decoder of messages with a schema, which has all columns selected.
func newDecoder(t table, opt Options) (*decoder, error) {
	opt.MaxMemory = columns.MemoryOf(opt.MaxMemory)
	s, ids, err := readSchema(t)
	if err != nil {
		return nil, In("", "schema", "", err)
	}
	p, err := newPlan(s, ids)
	if err != nil {
		return nil, err
	}
	d := &decoder{plan: p, opt: opt, room: room{pool: newPool()}}
	all := make([]int, len(p.columns))
	for i := range all {
		all[i] = i
	}
	d.Select(all)
	return d, nil
}

// Schema returns the schema of all columns.
func (d *decoder) Schema() *arrow.Schema { return d.plan.schema }

// Select makes the batches that follow have only the columns with these numbers, in the order of
// the schema, and returns the schema of the batches. Bytes of other columns are not read. The
// numbers are valid.
func (d *decoder) Select(columns []int) *arrow.Schema {
	d.selected, d.needed = make([]bool, len(d.columns)), map[int64]bool{}
	for _, i := range columns {
		d.selected[i] = true
	}
	var fields []arrow.Field
	for i, field := range d.plan.schema.Fields() {
		if d.selected[i] {
			fields = append(fields, field)
			d.need(d.columns[i])
		}
	}
	meta := d.plan.schema.Metadata()
	d.picked = arrow.NewSchema(fields, &meta)
	d.forget()
	return d.picked
}

// need marks the dictionaries of a node.
func (d *decoder) need(n *node) {
	if n.values != nil {
		d.needed[n.id] = true
		d.need(n.values)
	}
	for _, kid := range n.kids {
		d.need(kid)
	}
}

// forget drops all dictionaries.
func (d *decoder) forget() {
	d.dicts, d.held, d.total = dictionaries{}, map[int64]int64{}, 0
}

// dictionary reads the values of a dictionary, if a selected column has it. Memory of the body is
// kept; inMemory says that it is not mapped.
func (d *decoder) dictionary(p part, inMemory, replace bool) error {
	id, delta := p.header.num(0, 8), p.header.num(2, 1) != 0
	n, ok := d.values[id]
	switch {
	case !ok:
		return corrupt("no column has a dictionary with this id")
	case !d.needed[id]:
		return nil
	case delta && d.dicts[id] == nil:
		return corrupt("got more values of a dictionary that was not read")
	case !delta && d.dicts[id] != nil && !replace:
		return corrupt("a file has one dictionary with each id")
	}
	if !delta {
		d.total -= d.held[id]
		d.held[id], d.dicts[id] = 0, nil
	}
	data, ok := p.header.sub(1)
	if !ok {
		return corrupt("got a dictionary without values")
	}
	room := room{pool: d.room.pool}
	w, err := d.walk(data, p)
	if err != nil {
		return err
	}
	w.most -= d.total
	if inMemory {
		w.takes = int64(len(p.body))
	}
	values := w.array(n, w.rows)
	if err := w.end(&room); err != nil {
		return err
	}
	d.held[id] += w.takes
	if d.total += w.takes; d.total > d.opt.MaxMemory {
		return tooMuch(d.total, d.opt.MaxMemory)
	}
	d.dicts[id] = append(d.dicts[id], values)
	return nil
}

// walk returns a walk through a batch.
func (d *decoder) walk(t table, p part) (*walk, error) {
	b, err := newBatch(t, p.version)
	return &walk{batch: b, body: p.body, most: d.opt.MaxMemory, dicts: d.dicts, seen: d.seen}, err
}

// record returns the selected columns of a batch. They are valid until the next call.
func (d *decoder) record(p part) (arrow.RecordBatch, error) {
	w, err := d.walk(p.header, p)
	if err != nil {
		return nil, err
	}
	var data []arrow.ArrayData
	for i, n := range d.columns {
		w.skip = !d.selected[i]
		if a := w.array(n, w.rows); !w.skip {
			data = append(data, a)
		}
	}
	if err := w.end(&d.room); err != nil {
		return nil, err
	}
	arrays := make([]arrow.Array, len(data))
	for i, a := range data {
		err := Try(func() error {
			arrays[i] = array.MakeFromData(a)
			return nil
		})
		if err != nil {
			return nil, In("", "", d.picked.Field(i).Name, err)
		}
	}
	return array.NewRecordBatch(d.picked, arrays, w.rows), nil
}
