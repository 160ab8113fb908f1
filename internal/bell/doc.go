// Package bell lets processes of one machine wake each other and notice each other's death, without
// asking again and again and without a thread that waits.
//
// Each process hangs a [Bell] in a directory they share: a FIFO that it holds open for reading. The
// others hold a [Line] to it, the FIFO's write end. A byte written is a ring. A write end that has
// no reader any more is the death of the process, in whichever way it came: the kernel closes the
// files of a process that is killed as well.
//
//	mine, err := bell.Hang(filepath.Join(dir, "7.bell"))
//	go func() {
//		for mine.Wait() == nil {
//			... // look at what is shared: something changed
//		}
//	}()
//
//	theirs, err := bell.Dial(filepath.Join(dir, "4.bell")) // ErrDead: nobody is there
//	go func() {
//		if theirs.Dead() == nil {
//			... // release what process 4 held
//		}
//	}()
//	... // change what is shared
//	err = theirs.Ring() // ErrDead: nobody is there any more
//
// A ring carries nothing. Whoever changes something rings afterwards, whoever waits looks after
// each [Bell.Wait]: then no change is missed, however many rings became one.
//
// Both wait in Go's poller. A thousand goroutines that wait are a thousand descriptors, but not a
// thousand threads.
//
// # What death is
//
// A bell is dead when no process holds it: the one that hung it ended or called [Bell.Close]. A
// stopped process is not dead, nor is one that hangs. Programs that the process starts do not
// inherit the bell, and keep no dead one alive. A process cannot come back to life under a Line:
// who hangs a new bell at the same path is another, to be dialed anew.
//
// What a dead process leaves is the file. Whoever notices the death first removes it.
//
// # Limits
//
//   - The directory must lie on a local file system: a FIFO on a network file system reaches only
//     the processes of one machine, and all others look dead.
//   - A FIFO sees deaths, never a pid, so it works across pid namespaces. Whose bell it is the path
//     must say.
//   - Whoever may open the FIFO for reading can take rings away and keep a dead bell alive. The
//     mode of the directory says who that is.
//   - A path may be dialed once Hang has returned. Before that, the bell may look dead.
//   - A program that asks for SIGPIPE by os/signal gets one for each ring that finds a dead bell.
//   - The BSDs and macOS build, but nothing was run there. Go's poller is kqueue there, with which
//     FIFOs had bugs (go.dev/issue/24164): as a second string to [Line.Dead], ask [Line.Alive] now
//     and then.
//   - On other systems, Windows among them, there are no such FIFOs, and [Supported] is false.
package bell
