# expect: ran
import resource
for pid in (2, 3, 4, 5, {{PID}}):
    try:
        resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0))
        print("ESCAPED", pid)
    except (PermissionError, ProcessLookupError):
        pass
