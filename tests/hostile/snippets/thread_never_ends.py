# expect: timed out
# detail: wall limit
import threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
