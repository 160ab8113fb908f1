package tensor

import "slices"

// sweep compares each site that is written with those that other moves read and that meet it on the
// line. The sites are sorted. The verdict is unknown once that has taken all steps.
func (c *crossing) sweep(line []site, steps *int) verdict {
	var few [2][16]site
	open := [2][]site{few[0][:0], few[1][:0]} // read and written
	for _, s := range line {
		mine, others := &open[s.side&1], &open[1-s.side&1]
		*others = slices.DeleteFunc(*others, func(o site) bool { return o.high <= s.low })
		if v := c.against(s, *others, steps); v != apart {
			return v
		}
		*mine = append(*mine, s)
	}
	return apart
}

// sweepMixed is sweep of the pairs of sites whose strides differ.
func (c *crossing) sweepMixed(line []site, steps *int) verdict {
	open := [2]map[int][]site{{}, {}} // read and written, by stride
	for _, s := range line {
		own := c.stride(s)
		for stride, list := range open[1-s.side&1] {
			if stride == own {
				continue
			}
			list = slices.DeleteFunc(list, func(o site) bool { return o.high <= s.low })
			if open[1-s.side&1][stride] = list; len(list) == 0 {
				delete(open[1-s.side&1], stride)
			}
			if v := c.against(s, list, steps); v != apart {
				return v
			}
		}
		open[s.side&1][own] = append(open[s.side&1][own], s)
	}
	return apart
}

// against compares a site with others that it meets on the line.
func (c *crossing) against(s site, others []site, steps *int) verdict {
	for _, o := range others {
		if *steps--; *steps < 0 {
			return unknown
		}
		if o.side/2 == s.side/2 || o.group > 0 && o.group == s.group {
			continue // compared when it was added
		}
		left := min(*steps, mostSteps)
		*steps -= left
		v := compare(c.footprint(o.side), c.footprint(s.side), &left)
		*steps += max(0, left)
		if v != apart {
			return v
		}
	}
	return apart
}
