package sampler

// An interleave deals positions to parts, so that each gets its share of every stretch of them. The
// pattern repeats: in each cycle, part j has counts[j] of the positions.
//
// In the first m positions part j has m * counts[j] / cycle, rounded up or down. So in any m
// positions that follow each other, wherever they begin, it is less than 2 away from that.
type interleave struct {
	counts []int
	slots  []slot // of one cycle
}

// A slot says which of its part's positions in the cycle a position is.
type slot struct{ part, rank int32 }

// newInterleave returns the interleave of parts with these counts, all positive, after they are
// divided by what divides them all. Their sum then is at most math.MaxInt32.
//
// The k-th position of a part of share s is to be one of those from k/s rounded down to (k+1)/s
// rounded up: then the rule above holds. Such an order exists, for a part could have s of every
// position; and taking, position by position, the part whose time is up first finds it (Baruah,
// Cohen, Plaxton and Varvel, Proportionate Progress, 1996).
func newInterleave(counts []int) *interleave {
	counts, cycle := reduced(counts)
	n := len(counts)
	d := &deal{counts, make([]int32, n), make([]int32, cycle), make([]int32, n), nil}
	for part := range counts {
		d.wait(int32(part), 0)
	}
	in := &interleave{counts, make([]slot, cycle)}
	for at := range in.slots {
		in.slots[at] = d.next(at)
	}
	return in
}

// reduced returns counts after division by their greatest common divisor, and their sum.
func reduced(counts []int) ([]int, int) {
	divisor, sum := 0, 0
	for _, c := range counts {
		for c != 0 {
			divisor, c = c, divisor%c
		}
	}
	small := make([]int, len(counts))
	for i, c := range counts {
		small[i] = c / divisor
		sum += small[i]
	}
	return small, sum
}

// at returns the part of a position and which of all positions of that part it is.
func (in *interleave) at(position int) (part, index int) {
	cycle := len(in.slots)
	if position < cycle {
		s := in.slots[position]
		return int(s.part), int(s.rank)
	}
	s := in.slots[position%cycle]
	return int(s.part), position/cycle*in.counts[s.part] + int(s.rank)
}

// A deal is the work of newInterleave. Each part either waits for its next position's time to
// begin, in a list of those that wait for the same time, or is due.
type deal struct {
	counts []int
	ranks  []int32 // by part: how many positions it has had
	begins []int32 // by time: 1 + the first part that waits for it
	later  []int32 // by part: 1 + the next one that waits for the same time
	due    heap
}

// wait lets a part wait for its next position's time, which is not before now.
func (d *deal) wait(part int32, now int) {
	time := max(now, int(d.begin(part)))
	d.later[part], d.begins[time] = d.begins[time], part+1
}

// next returns the slot for the time now.
func (d *deal) next(now int) slot {
	for part := d.begins[now]; part > 0; part = d.later[part-1] {
		d.due.push(d.deadline(part - 1))
	}
	part := d.due.pop().part
	s := slot{part, d.ranks[part]}
	d.ranks[part]++
	if int(d.ranks[part]) < d.counts[part] {
		d.wait(part, now+1)
	}
	return s
}

// begin returns when a part's next position may be.
func (d *deal) begin(part int32) int32 {
	return int32(int(d.ranks[part]) * len(d.begins) / d.counts[part])
}

// deadline returns when a part's next position must have been.
func (d *deal) deadline(part int32) deadline {
	ends := int(d.ranks[part]+1) * len(d.begins)
	return deadline{int32((ends-1)/d.counts[part] + 1), d.begin(part), part}
}

// A deadline is when a part is due. Of equal ones that is first which has waited longest, or else
// that of the lower part.
type deadline struct{ time, begin, part int32 }

func (d deadline) before(e deadline) bool {
	switch {
	case d.time != e.time:
		return d.time < e.time
	case d.begin != e.begin:
		return d.begin < e.begin
	}
	return d.part < e.part
}

// A heap is deadlines, the first one of which is at 0.
type heap []deadline

func (h *heap) push(d deadline) {
	*h = append(*h, d)
	all, i := *h, len(*h)-1
	for i > 0 && d.before(all[(i-1)/2]) {
		all[i] = all[(i-1)/2]
		i = (i - 1) / 2
	}
	all[i] = d
}

func (h *heap) pop() deadline {
	all := *h
	first, last := all[0], all[len(all)-1]
	all = all[:len(all)-1]
	*h = all
	i := 0
	for child := 1; child < len(all); child = 2*i + 1 {
		if child+1 < len(all) && all[child+1].before(all[child]) {
			child++
		}
		if !all[child].before(last) {
			break
		}
		all[i], i = all[child], child
	}
	if len(all) > 0 {
		all[i] = last
	}
	return first
}
