// Package torchzip writes and reads the files of torch.save that hold one tensor.
//
//	err := torchzip.Write(w, x)          // torch.load(f, weights_only=True) reads it
//	f, err := torchzip.Open(r, size)     // r: an io.ReaderAt
//	x, err := f.Read()                   // a tensor in new memory
//	err = f.ReadInto(dst)                // into memory of the caller
//
// A file is a zip archive: a pickle says which tensor it is, and another entry holds its storage,
// the bytes of its elements.
//
// # Reading
//
// Nothing is unpickled. An interpreter executes the opcodes that torch writes for a tensor. They
// can name only torch's two functions that make a tensor, the classes of storage, dtypes and
// OrderedDict. A tensor may be a view of a larger storage, with strides and an offset.
//
// All dtypes of package tensor are read and written. [ErrUnsupported] is returned for other dtypes,
// files that hold anything but one tensor, tensors of devices other than "cpu", files in the other
// byte order, and files in the format of torch before version 1.6. Zip64 sizes and data descriptors
// are read; an archive with duplicate names is [ErrCorrupt].
//
// # Writing
//
// A [Layout] has the bytes before and after the elements, so that a program can send a tensor
// without copying its elements:
//
//	l, err := torchzip.NewLayout(tensor.Uint8, 256, 256, 256)
//	buffers := net.Buffers{l.Head(), elements, l.Tail(crc32.ChecksumIEEE(elements))}
//	_, err = buffers.WriteTo(conn)
//
// The elements begin at a multiple of 64 bytes in the file. The same dtype, shape and elements make
// the same bytes.
//
// # Bad files
//
// Nothing in a file is trusted. A pickle has at most 64 KiB and a tensor at most 64 dims. Every
// element of a view must lie in its storage. Memory is in proportion to the length of the file, not
// to the numbers in it. The checksum of the storage is compared. Other files are [ErrCorrupt].
//
// # Errors
//
// Errors are [FileError]: the entry of the archive, and the reason, for errors.Is.
package torchzip
