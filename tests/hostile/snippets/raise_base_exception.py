# expect: failed
# detail: Odd
class Odd(BaseException):
    pass
raise Odd('no')
