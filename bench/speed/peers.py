"""The work of this program in torch and pandas, in copies of the same bytes."""

import statistics
import sys
import time

import torch

path, size, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def spent(work):
    began, n = time.perf_counter(), 0
    while n == 0 or time.perf_counter() - began < 0.005:
        work()
        n += 1
    return (time.perf_counter() - began) / n


def measure(name, work, x):
    plain, copy = x.contiguous().clone(), x.contiguous().clone()
    times, ratios = [], []
    for _ in range(rounds):
        took = spent(work)
        times.append(took)
        ratios.append(took / spent(lambda: copy.copy_(plain)))
    took = statistics.median(times)
    mb = x.numel() * x.element_size()
    print(f"{name:48} {1e3 * took:9.3f} ms {statistics.median(ratios):6.2f} copies {mb / took / 1e9:6.1f} GB/s")


print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
for dtype in (torch.uint8, torch.float16, torch.float32, torch.float64, torch.complex128):
    width = torch.empty(0, dtype=dtype).element_size()
    for odd in (0, 1):
        n, k = 4096 + 3 * odd, 64 + odd
        m = size // width // 4096 + 5 * odd
        for sizes, dims in (
            ((m, n), (1, 0)),
            ((max(1, m * n // k // k), k, k), (0, 2, 1)),
            ((max(1, m // k), k, n), (2, 0, 1)),
        ):
            x = torch.ones(sizes, dtype=dtype)
            turned = x.permute(dims)
            to = turned.contiguous()
            measure(f"permute {dims} of {list(sizes)} {dtype}", lambda: to.copy_(turned), x)
for nbytes in (size, 1 << 20, 256 << 10, 64 << 10):
    x = torch.randn(nbytes // 1024, 256)
    for name, work in (
        ("sum of all", lambda: x.sum()),
        ("sum over the first dim of [N 256]", lambda: x.sum(0)),
        ("sum over the last dim of [N 256]", lambda: x.sum(1)),
        ("max of all", lambda: x.max()),
        ("arg max of [N]", lambda: x.argmax()),
        ("arg max over the last dim of [N 256]", lambda: x.argmax(1)),
        ("std of all", lambda: x.std()),
    ):
        measure(f"{name}, {nbytes >> 10} kB", work, x)
try:
    import pandas
except ImportError:
    print("no pandas")
    sys.exit()
print(f"pandas {pandas.__version__}")
for precision in (None, "round_trip"):
    took = statistics.median(spent(lambda: pandas.read_csv(path, float_precision=precision)) for _ in range(rounds))
    print(f"read_csv, float_precision={precision}: {1e3 * took:.0f} ms")
