# SPDX-License-Identifier: Apache-2.0
"""Prints roca.txt: RSA moduli with the pattern of CVE-2017-15361 (Nemec et al., 2017, 2.2), and moduli that lack it
modulo one prime alone."""

import hashlib

from make_certificates import SMALL, is_prime

PRIMES = [2, *SMALL]
M_COUNT = {512: 39, 1024: 71, 2048: 126, 4096: 225}  # primes in M, by the size of the modulus: table 1 of the paper
TESTED = [p for p in PRIMES if 3 <= p <= 167]


def number(label, bits):
    return int.from_bytes(hashlib.shake_256(label.encode()).digest(bits // 8), "big")


def factor(label, bits):
    product = 1
    for p in PRIMES[: M_COUNT[2 * bits]]:
        product *= p
    power = pow(65537, number(label + " a", 64), product)
    k = ((3 << bits - 2) + number(label + " k", bits - 8)) // product
    while not is_prime(k * product + power):
        k += 1
    return k * product + power


def subgroup(p):
    return {pow(65537, i, p) for i in range(p)}


print("# Made by make_roca.py; do not edit.\n")
for size, count in ((512, 3), (1024, 3), (4096, 1), (2048, 3)):
    for i in range(count):
        n = factor(f"p {size} {i}", size // 2) * factor(f"q {size} {i}", size // 2)
        assert n.bit_length() == size and all(n % p in subgroup(p) for p in TESTED)
        print(f"Pattern = {n:x}")
ALL = 1
for p in TESTED:
    ALL *= p
for p in TESTED:
    wrong = next((r for r in range(1, p) if r not in subgroup(p)), 0)  # 0: p divides it, which no power does
    rest = ALL // p
    n_wrong = n + rest * ((wrong - n) * pow(rest, -1, p) % p)
    n_wrong += ALL * (1 - n_wrong % 2)
    assert n_wrong % p == wrong and all(n_wrong % q in subgroup(q) for q in TESTED if q != p)
    print(f"None = {n_wrong:x}")
