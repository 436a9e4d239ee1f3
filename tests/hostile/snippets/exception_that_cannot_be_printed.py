# expect: failed
# detail: Odd
class Odd(Exception):
    def __str__(self):
        raise RuntimeError
    __repr__ = __str__
raise Odd
