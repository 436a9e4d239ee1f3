# expect: blocked|failed
# Private to the run: a second one by the same name must not find the first one's; it asks for more than the disk.
from multiprocessing import shared_memory
block = shared_memory.SharedMemory(name="dsqa_hostile", create=True, size=1 << 30)
block.buf[:] = bytes(1 << 30)
print("ESCAPED")
