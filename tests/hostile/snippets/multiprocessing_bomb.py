# expect: blocked
import multiprocessing
with multiprocessing.Pool(64) as pool:
    print(pool.map(abs, range(1000)), "ESCAPED")
