# expect: failed
# detail: RuntimeError
class Odd:
    def __repr__(self):
        raise RuntimeError('no')
Odd()
