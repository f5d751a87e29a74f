def is_prime(x):
    return int(x > 1 and all(x % d for d in range(2, x)))
