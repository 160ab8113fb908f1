package command

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/go-tensordict/tensordict/cmd/internal/programs"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/samplecache"
)

// A generator runs one program, again and again if it fails, and puts its samples.
type generator struct {
	*putting
	index    int
	name     string
	producer *samplecache.Producer
	put      int // samples put by this start of the program
}

// readAhead is how many bytes of a program are read before there is room for its sample. It is
// small, so that the bytes of large samples go to the memory of the cache without a copy between.
const readAhead = 4096

// run runs the program until it ends well, ctx ends, or it has failed too often. The others go on.
func (g *generator) run(ctx context.Context) {
	pause := firstPause
	for left := g.cmd.Restart; !g.done() && ctx.Err() == nil; left-- {
		err := g.once(ctx)
		if err == nil {
			return
		}
		err = fmt.Errorf("%s: %w", g.who(), err)
		if ctx.Err() != nil {
			if g.session.ctx.Err() != nil { // otherwise the cache has failed, and put returns that
				g.session.print(err)
			}
			return
		}
		g.failures.Add(1)
		if g.put > 1 { // one may be wrong, if its program says wrong lengths
			left, pause = g.cmd.Restart, firstPause
		}
		if left == 0 || errors.Is(err, errStart) {
			g.session.print(err)
			g.failed.Store(true)
			return
		}
		g.session.print(fmt.Errorf("%w; starting it again in %v", err, pause))
		_ = sleep(ctx, pause)
		pause = min(2*pause, lastPause)
	}
}

// who names the program in messages.
func (g *generator) who() string {
	if g.name == "" {
		return fmt.Sprintf("program %d", g.index)
	}
	return fmt.Sprintf("program %d (%s)", g.index, g.name)
}

// done reports whether the producer has put as many samples as --limit says.
func (g *generator) done() bool {
	return g.cmd.Limit > 0 && g.producer.Next() >= g.cmd.Limit
}

// once runs the program one time. It returns an error if the program has failed.
func (g *generator) once(ctx context.Context) error {
	g.put = 0
	env := []string{
		"TDICT_PRODUCER=" + g.name,
		"TDICT_NUMBER=" + strconv.FormatUint(g.producer.Next(), 10),
		"TDICT_INDEX=" + strconv.Itoa(g.index),
	}
	program, err := programs.Start(g.cmd.Program, env, g.echo)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w: %w", errStart, err)
	}
	if err != nil { // there may be too many processes, for a while
		return err
	}
	stop := context.AfterFunc(ctx, func() { program.Until(time.Now().Add(g.grace())) })
	err = g.copy(ctx, program)
	stop()
	patience := time.Duration(0)
	switch {
	case err == nil: // it has closed its output
		patience = g.cmd.Grace
	case errors.Is(err, io.ErrUnexpectedEOF): // it is about to end, most likely
		patience = min(g.cmd.Grace, endPause)
	}
	exit := program.End(patience, min(g.cmd.Grace, termGrace))
	switch {
	case errors.Is(err, errEnough):
		return nil
	case err != nil:
		return fmt.Errorf("sample %d: %w: %v", g.producer.Next(), err, exit)
	case exit.Ended && !exit.OK:
		return fmt.Errorf("sample %d: it has closed its output, and did not end within --grace %v: %v", g.producer.Next(), g.cmd.Grace, exit)
	case !exit.OK:
		return fmt.Errorf("it ended before sample %d: %v", g.producer.Next(), exit)
	}
	return nil
}

// echo prints a line of the program's standard error.
func (g *generator) echo(line string) { fmt.Fprintf(g.session.errs, "%d: %s\n", g.index, line) }

// endPause is how long a program may take to end after it has closed its output within a sample.
const endPause = time.Second

// errStart says that a program cannot be started. Another attempt would not help.
var errStart = errors.New("cannot be started")

// errEnough says that a program is ended although it could go on.
var errEnough = errors.New("enough")

// copy puts the samples of a program until its output ends. If ctx ends, the sample at hand is put
// nevertheless, as long as --grace allows.
func (g *generator) copy(ctx context.Context, program io.Reader) error {
	in := bufio.NewReaderSize(program, readAhead)
	files := safetensors.NewReader(in)
	for {
		var length [8]byte
		n, err := io.ReadFull(in, length[:])
		if err == nil {
			err = g.one(files, length)
		}
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
			return errEnough
		case err == io.ErrUnexpectedEOF:
			return fmt.Errorf("%w: its output ended after %d bytes, %q, of a length of 8 bytes", err, n, length[:n])
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("%w: its output ended within the sample", err)
		case err != nil:
			return err
		case ctx.Err() != nil || g.done():
			return errEnough
		}
	}
}

// one puts a sample.
func (g *generator) one(files *safetensors.Reader, length [8]byte) error {
	size := binary.LittleEndian.Uint64(length[:])
	if size > g.most {
		return fmt.Errorf("%w: got a length of %d bytes, the bytes %q, want at most %d: %s", safetensors.ErrCorrupt, size, length[:], g.most, protocol)
	}
	slot, err := g.reserve()
	if err != nil {
		return err
	}
	if err := files.ReadInto(slot.Sample(), int64(size)); err != nil {
		if errors.Is(err, safetensors.ErrCorrupt) {
			err = fmt.Errorf("%w: %s", err, protocol)
			if g.put > 0 {
				err = fmt.Errorf("%w; the sample before has other bytes if its length was wrong", err)
			}
		}
		return errors.Join(err, slot.Abort())
	}
	if err := slot.Commit(g.late); err != nil {
		return g.fatal(err)
	}
	g.put++
	g.total.Add(1)
	return nil
}

// protocol describes the output of a program, for errors.
const protocol = "a sample is its length in 8 bytes, little-endian, and then a safetensors file; text belongs on standard error"

// maxHeader is more than the header of a safetensors file has, in bytes.
const maxHeader = 101_000_000

// reserve waits for room. On a full disk there may be room later.
func (g *generator) reserve() (*samplecache.Slot, error) {
	for pause, told := firstPause, false; ; pause, told = min(2*pause, lastPause), true {
		slot, err := g.producer.Reserve(g.late)
		if err == nil || !full(err) {
			return slot, g.fatal(err)
		}
		if !told {
			g.session.print(fmt.Errorf("%s: %w: waiting for room", g.who(), err))
		}
		if err := sleep(g.late, pause); err != nil {
			return nil, err
		}
	}
}

// fatal ends all programs if the cache has failed: starting a program again would not help.
func (g *generator) fatal(err error) error {
	if err != nil && g.late.Err() == nil {
		g.fail(err)
	}
	return err
}
