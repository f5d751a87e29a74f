def high(a, b):
    return max(a, b)


def low(a, b):
    return min(a, b)
