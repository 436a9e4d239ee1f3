# expect: blocked
import socket
socket.create_connection(("127.0.0.1", {{PORT}}), timeout=2).sendall(b"ESCAPED")
