package vfstest_test

import (
	"fmt"
	"io/fs"

	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

func ExampleDisk_Crash() {
	disk := vfstest.New()
	f, _ := disk.Create("reward")
	_, _ = f.Write([]byte("1 2 3"))
	_ = f.Sync()
	_, _ = f.Write([]byte(" 4"))
	_ = disk.SyncDir(".")

	for _, mode := range vfstest.CrashModes() {
		data, _ := fs.ReadFile(disk.Crash(mode).Tree(), "reward")
		fmt.Printf("%v: %s\n", mode, data)
	}
	// Output:
	// Synced: 1 2 3
	// Current: 1 2 3 4
	// NamesFirst: 1 2 3
	// RemovalsFirst: 1 2 3
}
