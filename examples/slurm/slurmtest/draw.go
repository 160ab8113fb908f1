package slurmtest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"
)

// drawnName is the variable with the path of the file in which generators say what they draw.
const drawnName = "DRAWN"

// Draw is draw.py without Python. It says in a file what it draws, when it has written the first
// half of a sample; with PAUSE the rest comes later. With FRAMES it ends before that number.
func Draw(out io.Writer) error {
	number, err := strconv.ParseUint(os.Getenv("TDICT_NUMBER"), 10, 64)
	if err != nil {
		return err
	}
	pause, _ := time.ParseDuration(os.Getenv("PAUSE")) // 0 if it is not set
	said, err := os.OpenFile(os.Getenv(drawnName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	end, err := strconv.ParseUint(os.Getenv("FRAMES"), 10, 64)
	if err != nil {
		end = math.MaxUint64
	}
	for name := os.Getenv("TDICT_PRODUCER"); number < end; number++ {
		f, err := encode(number)
		if err != nil {
			return err
		}
		if _, err := out.Write(f[:len(f)/2]); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(said, name, number); err != nil {
			return err
		}
		time.Sleep(pause) // as drawing takes time
		if _, err := out.Write(f[len(f)/2:]); err != nil {
			return err
		}
	}
	return nil
}

// encode returns the bytes of a sample: its length, and a safetensors file.
func encode(number uint64) ([]byte, error) {
	const size = 16 * 16 * 16
	header, err := json.Marshal(map[string]any{
		"image": map[string]any{"dtype": "U8", "shape": []int{16, 16, 16}, "data_offsets": []int{0, size}},
		"label": map[string]any{"dtype": "I64", "shape": []int{1}, "data_offsets": []int{size, size + 8}},
	})
	if err != nil {
		return nil, err
	}
	f := binary.LittleEndian.AppendUint64(nil, uint64(8+len(header)+size+8))
	f = binary.LittleEndian.AppendUint64(f, uint64(len(header)))
	f = append(append(f, header...), make([]byte, size)...)
	return binary.LittleEndian.AppendUint64(f, number), nil
}
