# expect: blocked
import socket
socket.socket(socket.AF_UNIX).connect("\0dsqa-hostile")
print("ESCAPED")
