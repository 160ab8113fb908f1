"""The files of a dataset: a directory that is held open, or an archive. No path leaves it."""

from __future__ import annotations

import errno
import os
import stat
import sys
import zipfile
from typing import Protocol

import torch
from torch import Tensor

from ._errors import DatasetError

MAX_META = 64 << 20  # bytes of a meta.json
MAX_INFLATED = 1 << 30  # bytes of all deflated files of an archive together
_MAX_FILES = 1 << 20  # in an archive
_FD_DIR = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
_ESCAPED = {c: f"%{ord(c):02X}" for c in '/<>:"|?*\\% \x7f' + "".join(map(chr, range(32)))}


def name_of(key: str) -> str:
    """The name of the file of a key, without a suffix."""
    if key in ("", ".", ".."):
        return "%" if not key else "%2E" * len(key)
    return "".join(_ESCAPED.get(c, c) for c in key)


def _mapped(path: str, size: int, shared: bool = False) -> Tensor:
    """The first bytes of a file. As dlpack, or torch would hand a closed file to other processes."""
    x = torch.from_file(path, shared=shared, size=size, dtype=torch.uint8)
    return x if shared else torch.from_dlpack(x)


class Node(Protocol):
    """A directory of a dataset."""

    label: str

    def child(self, name: str) -> Node: ...
    def has(self, name: str) -> bool: ...
    def meta(self) -> bytes: ...
    def map(self, name: str, size: int) -> Tensor: ...
    def close(self) -> None: ...


class Directory:
    """A directory that is held open. A directory that replaces it at its path is another one."""

    def __init__(self, fd: int, label: str, shared: bool = False) -> None:
        self.fd, self.label, self.shared = fd, label, shared

    @staticmethod
    def open(path: str, shared: bool = False) -> Directory:
        return Directory(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), path, shared)

    def replaced(self) -> bool:
        """Reports whether another directory is at the path, or none."""
        try:
            now = os.stat(self.label)
        except OSError:
            return True
        return not os.path.samestat(now, os.fstat(self.fd))

    def _open(self, name: str, flags: int) -> int:
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(name, flags, dir_fd=self.fd)
        except OSError as e:
            link = e.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)
            why = "a symbolic link, or not a directory" if link else e.strerror
            raise DatasetError(f"{self.label}/{name}: {why}") from e

    def child(self, name: str) -> Directory:
        fd = self._open(name, os.O_DIRECTORY)
        return Directory(fd, f"{self.label}/{name}", self.shared)

    def has(self, name: str) -> bool:
        try:
            os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        except OSError as e:
            raise DatasetError(f"{self.label}/{name}: {e.strerror}") from e
        return True

    def _file(self, name: str, flags: int = os.O_RDONLY) -> tuple[int, int]:
        """A regular file, open, and its size."""
        fd = self._open(name, flags | os.O_NONBLOCK)
        s = os.fstat(fd)
        if not stat.S_ISREG(s.st_mode):
            os.close(fd)
            raise DatasetError(f"{self.label}/{name}: not a regular file")
        return fd, s.st_size

    def meta(self) -> bytes:
        fd, size = self._file("meta.json")
        with open(fd, "rb") as f:
            text = f.read(MAX_META + 1)
        if len(text) > MAX_META:
            raise DatasetError(f"{self.label}/meta.json: got {size} bytes, want at most {MAX_META}")
        return text

    def map(self, name: str, size: int) -> Tensor:
        """The first bytes of a file, mapped."""
        fd, got = self._file(name, os.O_RDWR if self.shared else os.O_RDONLY)
        try:
            if got < size:
                raise DatasetError(f"{self.label}/{name}: got {got} bytes, want {size}")
            return _mapped(f"{_FD_DIR}/{fd}", size, self.shared)
        except RuntimeError as e:
            raise DatasetError(f"{self.label}/{name}: {e}") from e
        finally:
            os.close(fd)

    def close(self) -> None:
        os.close(self.fd)


class Archive:
    """A directory in a zip file, which is mapped once."""

    def __init__(self, path: str) -> None:
        self.label, self._at, self._inflated = path, "", [0]
        try:
            self._whole = open(path, "rb")  # once: another file may come to the path
            self._zip = zipfile.ZipFile(self._whole)
            infos = self._zip.infolist()
            self._files = {i.filename: i for i in infos}
            if len(infos) > _MAX_FILES or len(self._files) < len(infos):
                raise DatasetError(f"{path}: got {len(infos)} files, some twice or too many")
            fd = self._whole.fileno()
            self._bytes = _mapped(f"{_FD_DIR}/{fd}", os.fstat(fd).st_size)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, UnicodeError) as e:
            raise DatasetError(f"{path}: {e}") from e

    def child(self, name: str) -> Archive:
        x: Archive = object.__new__(Archive)
        x.__dict__.update(self.__dict__, _at=f"{self._at}{name}/", label=f"{self.label}/{name}")
        if not x.has("meta.json"):
            raise DatasetError(f"{x.label}: no such directory in the archive")
        return x

    def has(self, name: str) -> bool:
        whole = self._at + name
        return whole in self._files or (name[-5:] != ".json" and f"{whole}/meta.json" in self._files)

    def _read(self, name: str, size: int) -> bytes:
        """Up to size bytes of a file."""
        try:
            info = self._files[self._at + name]
            if info.compress_type != zipfile.ZIP_STORED:
                self._inflated[0] += min(size, info.file_size)
                if self._inflated[0] > MAX_INFLATED:
                    raise DatasetError(f"{self.label}/{name}: more than {MAX_INFLATED} bytes deflated")
            with self._zip.open(info) as f:
                return f.read(size)
        except KeyError as e:
            raise DatasetError(f"{self.label}/{name}: no such file in the archive") from e
        except (OSError, EOFError, RuntimeError, NotImplementedError, zipfile.BadZipFile) as e:
            raise DatasetError(f"{self.label}/{name}: {e}") from e

    def meta(self) -> bytes:
        text = self._read("meta.json", MAX_META + 1)
        if len(text) > MAX_META:
            raise DatasetError(f"{self.label}/meta.json: want at most {MAX_META} bytes")
        return text

    def map(self, name: str, size: int) -> Tensor:
        info = self._files.get(self._at + name)
        if info is not None and info.file_size < size:
            raise DatasetError(f"{self.label}/{name}: got {info.file_size} bytes, want {size}")
        if info is None or info.compress_type != zipfile.ZIP_STORED:
            return torch.frombuffer(bytearray(self._read(name, size)), dtype=torch.uint8)
        self._read(name, 0)  # checks the local header
        at, head = info.header_offset, 30
        header = bytes(self._bytes[at : at + head].tolist())
        start = at + head + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        if start + size > len(self._bytes):
            raise DatasetError(f"{self.label}/{name}: ends after the archive")
        part = self._bytes[start : start + size]
        return part if start % 16 == 0 else part.clone()

    def close(self) -> None:
        if not self._at:
            self._zip.close()
            self._whole.close()
