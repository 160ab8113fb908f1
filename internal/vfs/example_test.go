package vfs_test

import (
	"fmt"
	"io/fs"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
)

func ExamplePublish() {
	disk := vfstest.New() // vfs.OS in real life
	for _, content := range []string{"old", "new"} {
		fmt.Println(write(disk, "tmp", content), vfs.Publish(disk, "tmp", "d"))
	}
	data, err := fs.ReadFile(disk.Crash(vfstest.Synced).Tree(), "d/sub/b")
	fmt.Printf("%s %v\n", data, err)
	// Output:
	// <nil> <nil>
	// <nil> <nil>
	// new <nil>
}
