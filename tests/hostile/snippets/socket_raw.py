# expect: blocked
import socket
socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
print('ESCAPED')
