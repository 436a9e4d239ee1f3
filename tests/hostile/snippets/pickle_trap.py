# expect: blocked
# detail: PermissionError
import pickle
class Trap:
    def __reduce__(self):
        import subprocess
        return subprocess.check_output, (["id"],)
pickle.loads(pickle.dumps(Trap()))
