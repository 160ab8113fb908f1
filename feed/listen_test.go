package feed_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var errBroken = errors.New("the source is broken")

// A pathless is an error whose text has no temporary paths.
type pathless struct {
	error
	text string
}

func (e pathless) Error() string { return e.text }

func (e pathless) Unwrap() error { return e.error }

var temporary = regexp.MustCompile(`/[^ :]*/(new|s)\b`)

// fails is testkit.Fails for errors with temporary paths.
func fails(t testing.TB, want, err error) {
	t.Helper()
	require.Error(t, err)
	testkit.Fails(t, want, pathless{err, temporary.ReplaceAllString(err.Error(), "TEMP/$1")})
}

// TestListenRefuses gives Listen what it refuses. Nothing is left.
func TestListenRefuses(t *testing.T) {
	src := rows(t, 100)
	with := func(key string, v tdict.Value) loader.Source {
		td := tdict.New(100)
		require.NoError(t, td.Set("a/b", tensor.Must(tensor.New(tensor.Int8, 100))))
		require.NoError(t, td.Set("c/d", v))
		from, err := loader.From(td)
		require.NoError(t, err)
		return from
	}
	texts := tensor.Must(ragged.FromStrings(make([]string, 100)))
	data, err := tdict.NewData(make([]string, 100), 100)
	require.NoError(t, err)
	empty, err := loader.From(tdict.New(0))
	require.NoError(t, err)
	broken, err := loader.FromFunc(10, func(_ context.Context, _ []int, _ *tdict.TensorDict) (*tdict.TensorDict, error) {
		return nil, errBroken
	})
	require.NoError(t, err)
	batching, err := sampler.Rows(10, false)
	require.NoError(t, err)
	for _, tt := range []struct {
		name string
		src  loader.Source
		set  func(o *feed.Options)
		is   error
	}{
		{"no source", nil, func(o *feed.Options) {}, loader.ErrSource},
		{"no batch size", src, func(o *feed.Options) { o.Loader.Batch = 0 }, sampler.ErrSize},
		{"batching without rows", src, func(o *feed.Options) { o.Loader.Batch, o.Loader.Batching = 0, batching }, loader.ErrOptions},
		{"into", src, func(o *feed.Options) {
			o.Loader.Into = func(context.Context) (*tdict.TensorDict, error) { return nil, nil }
		}, loader.ErrOptions},
		{"own", src, func(o *feed.Options) { o.Loader.Own = true }, loader.ErrOptions},
		{"poison", src, func(o *feed.Options) { o.Loader.Poison = true }, loader.ErrOptions},
		{"a rank", src, func(o *feed.Options) { o.Loader.Share.Rank, o.Loader.Share.World = 1, 2 }, loader.ErrOptions},
		{"a world", src, func(o *feed.Options) { o.Loader.Share.World = 2 }, loader.ErrOptions},
		{"too many consumers", src, func(o *feed.Options) { o.Consumers = 1025 }, loader.ErrOptions},
		{"consumers below 0", src, func(o *feed.Options) { o.Consumers = -1 }, loader.ErrOptions},
		{"too many slots", src, func(o *feed.Options) { o.Slots = 4097 }, loader.ErrOptions},
		{"rows below 0", src, func(o *feed.Options) { o.Rows = -1 }, loader.ErrOptions},
		{"fewer rows than the first batch", src, func(o *feed.Options) { o.Rows = 9 }, shapeops.ErrShape},
		{"an option of the loader", src, func(o *feed.Options) { o.Loader.Workers = -1 }, loader.ErrOptions},
		{"text", with("c", texts), func(o *feed.Options) {}, tdict.ErrKind},
		{"data", with("c", data), func(o *feed.Options) {}, tdict.ErrKind},
		{"a source without rows", empty, func(o *feed.Options) {}, loader.ErrSource},
		{"a source that fails", broken, func(o *feed.Options) {}, errBroken},
		{"a name that a directory cannot have", src, func(o *feed.Options) { o.Loader.RowsKey = "shape" }, memmap.ErrName},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, sockets := testkit.MemoryDir(t), t.TempDir()
			opt := feed.Options{Loader: loader.Options{Batch: 10}, Dir: dir}
			tt.set(&opt)
			_, err := feed.Listen(filepath.Join(sockets, "s"), tt.src, opt)
			fails(t, tt.is, err)
			require.Empty(t, names(t, dir))
			require.Empty(t, names(t, sockets))
		})
	}
}

// TestNoRoom asks for slots that no memory has.
func TestNoRoom(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err != nil {
		t.Skip("a system without a directory in memory")
	}
	dir, sockets := testkit.MemoryDir(t), t.TempDir()
	src, err := loader.FromTensors(tensor.Must(tensor.New(tensor.Float32, 10, 1000)))
	require.NoError(t, err)
	_, err = feed.Listen(filepath.Join(sockets, "s"), src, feed.Options{Loader: loader.Options{Batch: 1 << 30}, Dir: dir}) // 4 TB a slot
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "feed: slot 1 of 4: create "+dir)
	require.Empty(t, names(t, dir))
	require.Empty(t, names(t, sockets))
}

// TestSocketPaths listens at paths where something is already.
func TestSocketPaths(t *testing.T) {
	src := rows(t, 10)
	for _, tt := range []struct {
		name string
		at   func(dir string) string // what is there, and the path
		is   error
	}{
		{"a file", func(dir string) string {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "s"), []byte("mine"), 0o600))
			return "s"
		}, fs.ErrExist},
		{"a directory", func(dir string) string { require.NoError(t, os.Mkdir(filepath.Join(dir, "s"), 0o700)); return "s" }, fs.ErrExist},
		{"a link to nothing", func(dir string) string {
			require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "s")))
			return "s"
		}, fs.ErrExist},
		{"no directory", func(dir string) string { return "none/s" }, fs.ErrNotExist},
		{"a socket of another user", func(dir string) string {
			if os.Getuid() != 0 {
				t.Skip("only root can give files away")
			}
			deadSocket(t, filepath.Join(dir, "s"))
			require.NoError(t, os.Chown(filepath.Join(dir, "s"), 12345, -1))
			return "s"
		}, fs.ErrPermission},
		{"a path that is too long", func(dir string) string { return strings.Repeat("x", 110) }, fs.ErrInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, slots := t.TempDir(), testkit.MemoryDir(t)
			path := filepath.Join(dir, tt.at(dir))
			before := names(t, dir)
			_, err := feed.Listen(path, src, feed.Options{Loader: shuffled(5), Dir: slots})
			require.ErrorIs(t, err, tt.is)
			require.ErrorContains(t, err, dir)
			require.Equal(t, before, names(t, dir))
			require.Empty(t, names(t, slots))
		})
	}
}

// deadSocket makes a socket on which nobody listens.
func deadSocket(t testing.TB, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
}

// TestSocketIsReplaced listens where a dead feed left its socket, and not where a feed lives.
func TestSocketIsReplaced(t *testing.T) {
	src, path := rows(t, 10), filepath.Join(t.TempDir(), "s")
	deadSocket(t, path)
	opt := feed.Options{Loader: shuffled(5), Dir: testkit.MemoryDir(t), Epochs: 1}
	f, err := feed.Listen(path, src, opt)
	require.NoError(t, err)
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, fs.ModeSocket|0o600, info.Mode())

	slots := names(t, opt.Dir)
	_, err = feed.Listen(path, src, opt)
	require.ErrorIs(t, err, feed.ErrBusy)
	require.ErrorContains(t, err, "another feed listens")
	require.Equal(t, slots, names(t, opt.Dir), "the slots of the first feed")
	for _, name := range slots {
		info, err := os.Stat(filepath.Join(opt.Dir, name))
		require.NoError(t, err)
		require.Equal(t, fs.ModeDir|0o700, info.Mode())
	}
	served := make(chan error)
	go func() { served <- f.Serve(t.Context()) }()
	require.Len(t, consume(t, dial(t, path, feed.DialOptions{}), -1), 2)
	require.NoError(t, <-served)
	require.NoError(t, f.Close())
	require.NoFileExists(t, path)
	require.Empty(t, names(t, opt.Dir))
}

// TestSocketOfAnother closes a feed whose socket file was replaced by hand.
func TestSocketOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	f, err := feed.Listen(path, rows(t, 10), feed.Options{Loader: shuffled(5), Dir: testkit.MemoryDir(t)})
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	deadSocket(t, path)
	require.NoError(t, f.Close())
	_, err = os.Lstat(path)
	require.NoError(t, err, "it is not the feed's")
}

// TestListenTogether lets several feeds listen on one path at the same time: one does.
func TestListenTogether(t *testing.T) {
	src, path, dir := rows(t, 10), filepath.Join(t.TempDir(), "s"), testkit.MemoryDir(t)
	deadSocket(t, path)
	feeds := make([]*feed.Feed, 5)
	together(len(feeds), func(i int) {
		var err error
		if feeds[i], err = feed.Listen(path, src, feed.Options{Loader: shuffled(5), Dir: dir}); err != nil && !errors.Is(err, feed.ErrBusy) {
			t.Error(err)
		}
	})
	live := 0
	for _, f := range feeds {
		if f != nil {
			live++
			require.NoError(t, f.Close())
		}
	}
	require.Equal(t, 1, live)
	require.Empty(t, names(t, dir))
}

// TestDialRefuses dials what is not the socket of a feed.
func TestDialRefuses(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "s")
	_, err := feed.Dial(t.Context(), at, feed.DialOptions{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	deadSocket(t, at)
	_, err = feed.Dial(t.Context(), at, feed.DialOptions{})
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	if runtime.GOOS == "linux" && os.Getuid() == 0 {
		require.NoError(t, os.Chown(at, 12345, -1))
		_, err = feed.Dial(t.Context(), at, feed.DialOptions{})
		require.ErrorIs(t, err, fs.ErrPermission)
		require.ErrorContains(t, err, "it belongs to user 12345")
	}
}

// TestMoreLeavesThanMappings: slots for which the process has no mappings are an error of Listen,
// not of a later batch.
func TestMoreLeavesThanMappings(t *testing.T) {
	defer mapping.SetLimit(mapping.Live() + 5)() // a slot has two leaves
	dir := testkit.MemoryDir(t)
	_, err := feed.Listen(filepath.Join(t.TempDir(), "s"), rows(t, 10), feed.Options{Loader: shuffled(4), Slots: 4, Dir: dir})
	require.ErrorIs(t, err, mapping.ErrLimit)
	require.Empty(t, names(t, dir))
}

// TestDialAfterServe: a feed that has ended refuses consumers at once, also before Close.
func TestDialAfterServe(t *testing.T) {
	s := serve(t, rows(t, 10), feed.Options{Loader: shuffled(4)})
	s.stop()
	require.NoError(t, s.wait())
	eventually(t, func() bool {
		_, err := feed.Dial(t.Context(), s.path, feed.DialOptions{})
		return errors.Is(err, syscall.ECONNREFUSED)
	}, "Dial is not refused")
}
