# expect: timed out|failed|killed by memory
import threading, time
threading.stack_size(65536)
threads = []
while True:
    thread = threading.Thread(target=time.sleep, args=(60,), daemon=True)
    thread.start()
    threads.append(thread)
