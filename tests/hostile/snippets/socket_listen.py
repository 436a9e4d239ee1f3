# expect: blocked
import socket
socket.socket().bind(('127.0.0.1', 0))
print('ESCAPED')
