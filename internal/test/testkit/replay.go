package testkit

import (
	"regexp"
	"slices"
	"strings"
)

var block = regexp.MustCompile("(?ms)^```console\n.*?^```\n")

// Replay returns a page whose console blocks, if wants holds for them, have what run returns for
// each command. A command begins with "$ ", and its further lines with "> ".
func Replay(page string, wants func(block string) bool, run func(command string) string) string {
	return block.ReplaceAllStringFunc(page, func(text string) string {
		if !wants(text) {
			return text
		}
		out, lines := "```console\n", slices.Collect(strings.Lines(text))
		for i := 0; i < len(lines); i++ {
			command, ok := strings.CutPrefix(lines[i], "$ ")
			if !ok {
				continue
			}
			out += lines[i]
			for more := ""; strings.HasPrefix(lines[i+1], "> "); i++ {
				more, _ = strings.CutPrefix(lines[i+1], "> ")
				out, command = out+lines[i+1], command+more
			}
			out += run(strings.TrimSpace(command))
		}
		return out + "```\n"
	})
}

// Cells returns the code in the cells of each row of the table of a page whose first heading is
// first.
func Cells(page, first string) (rows [][]string) {
	_, table, _ := strings.Cut(page, "\n| "+first+" |")
	for line := range strings.Lines(table) {
		cells, ok := strings.CutPrefix(strings.TrimSpace(line), "| ")
		if !ok && len(rows) > 0 {
			break
		}
		if ok {
			rows = append(rows, strings.Split(strings.TrimSuffix(cells, " |"), " | "))
		}
	}
	for _, row := range rows {
		for i := range row {
			fence := "`"
			if strings.HasPrefix(row[i], "``") {
				fence = "``"
			}
			row[i] = strings.TrimSuffix(strings.TrimPrefix(row[i], fence), fence)
		}
	}
	return rows
}
