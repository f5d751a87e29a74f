def half(x):
    return x // 2


def join(left, right, times):
    return (left + right) * times


def zero():
    return 0


def scale(x, y):
    return x * y


def next(x):
    return x + 1
