# expect: blocked
# detail: gaierror|PermissionError
import socket
print(socket.gethostbyname('localhost.localdomain'), 'ESCAPED')
