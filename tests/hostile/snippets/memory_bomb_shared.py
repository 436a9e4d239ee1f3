# expect: killed by memory|failed|timed out
import mmap
maps = []
while True:
    maps.append(mmap.mmap(-1, 64 << 20))
    maps[-1].write(b"x" * (64 << 20))
