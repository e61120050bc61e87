"""Settings for all tests."""

import os

# the matrices here are small: threads of the linear algebra library would only fight with pytest-xdist's workers
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
