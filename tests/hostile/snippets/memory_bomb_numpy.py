# expect: killed by memory
import numpy as np
x = [np.ones(10_000_000) for _ in range(1000)]
