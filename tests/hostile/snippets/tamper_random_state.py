# expect: ran
import random
import numpy as np
random.seed(1)
np.random.seed(1)
print(random.random(), np.random.rand())
