// Package torchzip writes and reads the files of torch.save that hold one tensor.
//
//	err := torchzip.Write(w, x)          // torch.load(f, weights_only=True) reads it
//	f, err := torchzip.Open(r, size)     // r: an io.ReaderAt
//	x, err := f.Read()                   // a tensor in memory of its own
//	err = f.ReadInto(dst)                // into memory of the caller
//
// A file is a zip archive: a pickle says which tensor it is, and another entry holds its storage,
// the bytes of its elements.
//
// # Reading
//
// Nothing is unpickled. The pickle is interpreted by a few of the opcodes that torch writes. They
// can name torch's two functions that make a tensor, the classes of storage, dtypes and
// OrderedDict, and nothing else. A tensor may be a view of a larger storage: strides and offset are
// followed.
//
// All dtypes of package tensor are read and written. Others are [ErrUnsupported], and so are files
// that hold something else than one tensor, tensors of other devices than "cpu", files in the other
// byte order, and files in the format that torch had before version 1.6.
//
// # Writing
//
// A [Layout] has the bytes before and after the elements. A program that sends a tensor whose
// elements it has in memory need not copy them:
//
//	l, err := torchzip.NewLayout(tensor.Uint8, 256, 256, 256)
//	buffers := net.Buffers{l.Head(), elements, l.Tail(crc32.ChecksumIEEE(elements))}
//	_, err = buffers.WriteTo(conn)
//
// The elements begin at a multiple of 64 in the file. The bytes are a function of dtype, shape and
// elements alone.
//
// # Bad files
//
// Nothing in a file is trusted. A pickle has at most 64 KiB and a tensor at most 64 dims. Every
// element of a view lies in its storage. Memory follows the bytes that a file holds, not the
// numbers in it. The checksum of the storage is compared. What does not fit is [ErrCorrupt].
//
// # Errors
//
// Errors are [FileError], with the entry of the archive and the reason, for errors.Is.
package torchzip
