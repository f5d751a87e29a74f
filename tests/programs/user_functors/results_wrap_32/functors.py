def square(x):
    return x * x


def twice(x):
    return 2 * x


def third(x):
    return x / 3
