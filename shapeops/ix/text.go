package ix

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrSyntax says that a text is not an index expression.
var ErrSyntax = errors.New("index syntax")

// Parse reads an expression: parts separated by commas. Each part is one of
//
//	:                   all
//	...                 rest
//	new                 a new dim (also: None, newaxis)
//	-1                  at
//	1:3  ::2  -4:       a range
//	[0, 2, 5]           take; [0, 1, 2, 3]@2x2 takes in the shape [2 2]
//	mask[TFT]           a mask; mask[TFTF]@2x2 over two dims, mask[T]@ over none
//
// The empty text is the empty expression. Parse returns [ErrSyntax], with the invalid part.
func Parse(text string) ([]Index, error) {
	var expr []Index
	if strings.TrimSpace(text) == "" {
		return expr, nil
	}
	for _, part := range splitParts(text) {
		x, err := parsePart(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("%w: part %d, %q: %w", ErrSyntax, len(expr), part, err)
		}
		expr = append(expr, x)
	}
	return expr, nil
}

// splitParts splits text at the commas outside brackets.
func splitParts(text string) []string {
	var parts []string
	start, inside := 0, false
	for i, c := range text {
		switch {
		case c == '[':
			inside = true
		case c == ']':
			inside = false
		case c == ',' && !inside:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

func parsePart(s string) (Index, error) {
	switch {
	case s == ":":
		return All, nil
	case s == "...":
		return Rest, nil
	case s == "new" || s == "None" || s == "newaxis":
		return New, nil
	case strings.HasPrefix(s, "mask["):
		return parseMask(s[len("mask["):])
	case strings.HasPrefix(s, "["):
		return parseTake(s[1:])
	case strings.Contains(s, ":"):
		return parseRange(s)
	}
	i, err := strconv.Atoi(s)
	if err != nil {
		return Index{}, errors.New(`want a number, START:STOP, [0, 2], mask[TF], ":", "..." or "new"`)
	}
	return At(i), nil
}

func parseRange(s string) (Index, error) {
	fields := strings.Split(s, ":")
	numbers := [3]int{0, End, 1}
	if len(fields) > len(numbers) {
		return Index{}, errors.New("a range has at most two colons")
	}
	for i, f := range fields {
		if f = strings.TrimSpace(f); f == "" {
			continue
		}
		n, err := strconv.Atoi(f)
		if err != nil {
			return Index{}, errors.New("want numbers, as in START:STOP or START:STOP:STEP")
		}
		numbers[i] = n
	}
	x := Range(numbers[0], numbers[1]).Step(numbers[2])
	return x, x.Check()
}

func parseTake(s string) (Index, error) {
	body, shape, err := cutShape(s)
	if err != nil {
		return Index{}, err
	}
	list := []int{}
	for f := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return Index{}, errors.New("want numbers, as in [0, 2]")
		}
		list = append(list, n)
	}
	if shape == nil {
		return Take(list...), nil
	}
	x := TakeND(list, shape...)
	return x, x.Check()
}

func parseMask(s string) (Index, error) {
	body, shape, err := cutShape(s)
	if err != nil {
		return Index{}, err
	}
	bits := make([]bool, len(body))
	for i := range bits {
		if body[i] != 'T' && body[i] != 'F' {
			return Index{}, fmt.Errorf("got %q in a mask, want T or F", body[i])
		}
		bits[i] = body[i] == 'T'
	}
	if shape != nil && len(shape) == 0 {
		if len(bits) != 1 {
			return Index{}, flaws[flawMask]
		}
		return Bool(bits[0]), nil
	}
	x := Mask(bits, shape...)
	return x, x.Check()
}

// cutShape splits "...]@2x3" into the text before the bracket and the shape. Without "@" the shape
// is nil.
func cutShape(s string) (body string, shape []int, err error) {
	body, tail, ok := strings.Cut(s, "]")
	if !ok {
		return "", nil, errors.New("got no closing bracket")
	}
	if tail == "" {
		return body, nil, nil
	}
	sizes, ok := strings.CutPrefix(tail, "@")
	if !ok {
		return "", nil, fmt.Errorf("got %q after the bracket, want a shape such as @2x3", tail)
	}
	shape = []int{}
	for f := range strings.FieldsFuncSeq(sizes, func(r rune) bool { return r == 'x' }) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return "", nil, errors.New("want numbers after the @, as in @2x3")
		}
		shape = append(shape, n)
	}
	return body, shape, nil
}

// Format returns the text of an expression, which [Parse] reads.
func Format(expr ...Index) string {
	parts := make([]string, len(expr))
	for i, x := range expr {
		parts[i] = x.String()
	}
	return strings.Join(parts, ", ")
}

// String returns the text of x, which [Parse] reads.
func (x Index) String() string {
	switch x.kind {
	case KindAll:
		return ":"
	case KindRest:
		return "..."
	case KindNew:
		return "new"
	case KindAt:
		return strconv.Itoa(x.start)
	case KindRange:
		return x.rangeText()
	case KindTake:
		return strings.ReplaceAll(fmt.Sprint(x.list), " ", ", ") + x.shapeText()
	case KindMask:
		return x.maskText()
	}
	return "bad index: " + flaws[x.flaw].Error()
}

func (x Index) rangeText() string {
	s := strconv.Itoa(x.start) + ":"
	if x.stop != End {
		s += strconv.Itoa(x.stop)
	}
	if x.step != 1 {
		s += ":" + strconv.Itoa(x.step)
	}
	return s
}

func (x Index) maskText() string {
	text := []byte(strings.Repeat("F", len(x.bits)))
	for i, b := range x.bits {
		if b {
			text[i] = 'T'
		}
	}
	return "mask[" + string(text) + "]" + x.shapeText()
}

// shapeText returns the "@2x3" after a list that is not one-dimensional.
func (x Index) shapeText() string {
	if x.shape == nil || x.kind == KindMask && len(x.shape) == 1 {
		return ""
	}
	sizes := make([]string, len(x.shape))
	for i, n := range x.shape {
		sizes[i] = strconv.Itoa(n)
	}
	return "@" + strings.Join(sizes, "x")
}
