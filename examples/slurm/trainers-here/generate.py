"""A generator of wirehead: python3 generate.py CONFIG"""

import sys

import numpy as np
from wirehead import WireheadGenerator


def brains():
    rng = np.random.default_rng()  # each process draws other samples
    while True:
        label = rng.integers(0, 3, (64, 64, 64), np.uint8)
        yield 60 * label + rng.integers(0, 60, label.shape, np.uint8), label


WireheadGenerator(generator=brains(), config_path=sys.argv[1]).run()
