package programs

import (
	"bufio"
	"io"
	"strings"
)

const (
	maxLine  = 2048 // bytes of a line; longer ones are cut into several
	lastKept = 3    // lines
	lastLine = 200  // bytes of each of these
)

// listen calls tell with each line of r, and returns the last ones. A carriage return ends a line,
// too, as progress bars write it. Empty lines are left out.
func listen(r io.Reader, tell func(line string)) (last []string) {
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n') // or a full buffer
		for part := range strings.FieldsFuncSeq(string(line), func(c rune) bool { return c == '\n' || c == '\r' }) {
			tell(part)
			last = append(last, cut(part))[max(0, len(last)+1-lastKept):]
		}
		if err != nil && err != bufio.ErrBufferFull {
			return last
		}
	}
}

// cut returns the beginning of a long line.
func cut(line string) string {
	if len(line) <= lastLine {
		return line
	}
	return strings.ToValidUTF8(line[:lastLine], "") + "…"
}
