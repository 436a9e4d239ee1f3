# expect: killed by memory|blocked|timed out
import zlib
packed = zlib.compress(zlib.compress(b"\0" * 100_000_000, 9), 9)
data = zlib.decompress(zlib.decompress(packed)) * 100
