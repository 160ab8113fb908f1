package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/tensor"
)

const (
	mostTexts     = 1024    // bound on the distinct texts that Describe counts
	mostTextBytes = 1 << 16 // bound on their bytes

	profiledTexts     = 10_000  // bound on the different texts that Profiles counts
	profiledTextBytes = 1 << 20 // bound on their bytes
	listedTexts       = 20      // texts in a Profile
)

// A textCounter counts the different texts, if they are few.
type textCounter struct {
	most, mostBytes int

	at      map[string]int // index in all
	all     []TextCount
	bytes   int
	many    bool // there are more
	notUTF8 int
	sampled bool // texts of more than mostBytes are not read
}

// add counts a text.
func (c *textCounter) add(text []byte) {
	if c.sampled && len(text) > c.mostBytes {
		c.many = true
		return
	}
	if !utf8.Valid(text) {
		c.notUTF8++
	}
	if c.many {
		return
	}
	if i, ok := c.at[string(text)]; ok {
		c.all[i].Count++
		return
	}
	if len(c.all) == c.most || c.bytes+len(text) > c.mostBytes {
		c.many = true
		return
	}
	c.at[string(text)] = len(c.all)
	c.all = append(c.all, TextCount{string(text), 1})
	c.bytes += len(text)
}

// texts counts the texts that are present, and the different ones among them if these are few.
func (d *describer) texts(p Profile, all []opened) error {
	c := &textCounter{most: mostTexts, mostBytes: mostTextBytes, at: map[string]int{}, sampled: len(all) > 1}
	if d.profile != nil {
		c.most, c.mostBytes = profiledTexts, profiledTextBytes
	}
	for _, o := range all {
		if err := d.countTexts(o, c); err != nil {
			return err
		}
		p.Missing += o.hidden
		p.Read += len(o.lengths)
	}
	p.Count = p.Rows.Count
	if !c.many && len(c.all) <= mostTexts && c.bytes <= mostTextBytes {
		p.Distinct = len(c.all)
	}
	d.all = append(d.all, c.profile(p))
	return nil
}

// countTexts adds the texts that are present to c.
func (d *describer) countTexts(o opened, c *textCounter) error {
	err := tensor.Read(o.values, func(b []uint8) {
		for i, n := range o.lengths {
			if d.profile == nil && c.many || i%textRows == 0 && d.ctx.Err() != nil {
				return
			}
			if o.present == nil || o.present[i] {
				c.add(b[:n])
			}
			b = b[n:]
		}
	})
	return cmp.Or(err, context.Cause(d.ctx))
}

// profile returns p with the counts.
func (c *textCounter) profile(p Profile) Profile {
	p.NotUTF8 = c.notUTF8
	if p.TooMany = c.many; c.many {
		return p
	}
	p.Different = len(c.all)
	slices.SortFunc(c.all, byFrequency)
	listed := min(len(c.all), listedTexts)
	p.Texts = slices.Clone(c.all[:listed])
	for _, t := range c.all[listed:] {
		p.Others += t.Count
	}
	return p
}

// byFrequency compares by count, the greatest first, then by text.
func byFrequency(a, b TextCount) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Text, b.Text))
}
