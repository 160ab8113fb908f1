package zipfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// TestPythonReads has Python check and unpack what is written here.
func TestPythonReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.zip")
	require.NoError(t, os.WriteFile(path, small(t), 0o666))
	out := processkit.Python(t, `
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
print(z.testzip())
for i in z.infolist():
    print(i.filename.encode(), i.compress_type, i.date_time[0], oct(i.external_attr >> 16), z.read(i)[:8])`, path)
	require.Equal(t, `None
b'a' 0 1980 0o600 b'seven \xc3\xbc'
b'dir/\xc3\xa9.memmap' 0 1980 0o644 b'elements'
b'z' 8 1980 0o0 b'longlong'
`, out)
}

// TestPythonWrites has Python write the same entries as here, which must be the same bytes, and
// entries in ways of its own.
func TestPythonWrites(t *testing.T) {
	dir := t.TempDir()
	processkit.Python(t, `
import sys, os, io, zipfile
from tensordict._archive import _write_entry
os.chdir(sys.argv[1])
opt = dict(compress_type=zipfile.ZIP_STORED, compresslevel=None)
zipfile.time.localtime = lambda *a: (2024, 2, 29, 23, 59, 58, 0, 0, 0)
with zipfile.ZipFile('same.zip', 'w') as z:
    for name in ['meta.json', 'é/ü.memmap', 'a.memmap', 'b' * 300 + '.memmap', 'empty.memmap']:
        text = b'' if name[0] == 'e' else (name * 9).encode()
        _write_entry(z, name, [text], len(text), align=name.endswith('.memmap'), **opt)

class Stream(io.BytesIO): # cannot go back
    def seekable(self): return False
    def tell(self): raise OSError
    def seek(self, *a): raise OSError
def write(name, to, method, wide):
    with zipfile.ZipFile(to, 'w', method) as z:
        z.comment = b'' if wide else b'a comment'
        z.writestr('dir/', b'')
        with z.open('dir/a', 'w', force_zip64=wide) as f: f.write(b'text' * 1000)
        with z.open('é', 'w', force_zip64=wide) as f: f.write(b'x')
    if isinstance(to, Stream): open(name, 'wb').write(to.getvalue())
for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    for wide in (False, True):
        write(f'file{method}{wide}.zip', f'file{method}{wide}.zip', method, wide)
        write(f'stream{method}{wide}.zip', Stream(), method, wide)
with zipfile.ZipFile('many.zip', 'w') as z:
    for i in range(70_000): z.writestr(f'{i}', b'')
`, dir)
	file := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return b
	}
	var entries []any
	for _, name := range []string{"meta.json", "é/ü.memmap", "a.memmap", strings.Repeat("b", 300) + ".memmap", "empty.memmap"} {
		text := strings.Repeat(name, 9)
		if name == "empty.memmap" {
			text = ""
		}
		entries = append(entries, zipfile.Header{Name: name, Perm: 0o644, Aligned: strings.HasSuffix(name, ".memmap"),
			Modified: time.Date(2024, 2, 29, 23, 59, 58, 0, time.UTC)}, text)
	}
	require.Equal(t, file("same.zip"), write(t, entries...))

	others, err := filepath.Glob(filepath.Join(dir, "[fs][it][lr]*.zip"))
	require.NoError(t, err)
	require.Len(t, others, 8)
	for _, path := range others {
		b := file(filepath.Base(path))
		require.Equal(t, []string{"dir/a", strings.Repeat("text", 1000), "é", "x"}, contents(t, b), path)
	}
	require.Len(t, open(t, file("many.zip")).Entries, 70_000)
}
