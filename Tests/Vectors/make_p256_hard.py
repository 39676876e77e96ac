# SPDX-License-Identifier: Apache-2.0
"""Prints p256-hard.txt: signatures, points and keys at the edges of the arithmetic, made with plain integers."""

import base64
import hashlib

from curve import P256

P, B, N, G = P256.p, P256.b, P256.n, P256.g
add, multiply = P256.add, P256.multiply


def lift(x, odd=0):
    """The point with this x and this parity of y, or None."""
    square = (x**3 - 3 * x + B) % P
    y = pow(square, (P + 1) // 4, P)
    if y * y % P != square:
        return None
    return x, y if y & 1 == odd else P - y


def scalar(label):
    return int.from_bytes(hashlib.sha256(label.encode()).digest(), "big") % (N - 1) + 1


def hex32(number):
    return f"{number:064x}"


def verify_case(name, key, e, r, s, result="TENON_OK"):
    print(f"\nName = {name}\nQx = {hex32(key[0])}\nQy = {hex32(key[1])}\nH = {hex32(e)}")
    print(f"R = {hex32(r)}\nS = {hex32(s)}\nVerify = {result}")


def made_of(name, u1, u2, d):
    """The valid signature whose verification computes u1 G + u2 (d G)."""
    u1, u2 = u1 % N, u2 % N
    r = multiply((u1 + u2 * d) % N, G)[0] % N
    s = r * pow(u2, -1, N) % N
    verify_case(name, multiply(d, G), u1 * s % N, r, s)


def recovered(name, nonce_point, e, s, result="TENON_OK"):
    """A signature with this R and s, and the key that it is valid for."""
    r = nonce_point[0] % N
    u1, u2 = e * pow(s, -1, N) % N, r * pow(s, -1, N) % N
    minus = multiply(N - u1, G) if u1 else None
    key = multiply(pow(u2, -1, N), add(nonce_point, minus))
    verify_case(name, key, e, r, s, result)


def first_on_curve(xs):
    return next(point for point in map(lift, xs) if point)


def multiples():
    d, u = scalar("key"), scalar("u")
    for name, key in (("G", 1), ("-G", N - 1), ("2G", 2), ("3G", 3), ("2^64 G", 1 << 64), ("2^128 G", 1 << 128),
                      ("2^192 G", 1 << 192), ("(n+1)/2 G", (N + 1) // 2), ("n-2 G", N - 2), ("a random multiple", d)):
        made_of(f"key is {name}", u, scalar("v" + name), key)
        made_of(f"key is {name}, u1 = 0", 0, scalar("w" + name), key)
        made_of(f"key is {name}, u1 G = u2 Q", u, u * pow(key, -1, N), key)
        made_of(f"key is {name}, u1 G = 2 u2 Q", u, u * pow(2 * key, -1, N), key)
    for a in (1, 2, 3, 1 << 64, 1 << 192, (1 << 64) - 1, N - 2, N - 1, (N + 1) // 2, (N - 1) // 2):
        for b in (1, 2, N - 1, 1 << 128):
            made_of(f"u1 = {a:x}, u2 = {b:x}", a, b, d)


def sums_at_infinity():
    u = scalar("infinity")
    for name, d in (("G", 1), ("-G", N - 1), ("a random multiple", scalar("key"))):
        u2 = -u * pow(d, -1, N) % N
        for r in (1, N - 1, multiply(u, G)[0] % N, scalar("r")):
            s = r * pow(u2, -1, N) % N
            verify_case(f"key is {name}, u1 G = -u2 Q, r = {r:x}", multiply(d, G), u * s % N, r, s,
                        "TENON_ERROR_SIGNATURE_INVALID")


def digests():
    d, k = scalar("digest key"), scalar("digest nonce")
    key, r = multiply(d, G), multiply(k, G)[0] % N
    for e in (0, 1, N - 1, N, N + 1, P, (1 << 256) - 1, 1 << 255, 0xFF):
        s = (e + r * d) * pow(k, -1, N) % N
        verify_case(f"digest is {e:x}", key, e, r, s)
        verify_case(f"digest is {e:x}, high and low s exchanged", key, e, r, N - s)
        verify_case(f"digest is not {e:x}", key, e ^ 4, r, s, "TENON_ERROR_SIGNATURE_INVALID")


def edges_of_r_and_s():
    e = scalar("edge")
    recovered("R.x is the smallest above n", first_on_curve(range(N, P)), e, scalar("s"))
    recovered("R.x is the largest below p", first_on_curve(range(P - 1, N, -1)), e, scalar("s"))
    recovered("R.x is the smallest above n, digest 0", first_on_curve(range(N + 1, P)), 0, scalar("s"))
    recovered("R.x is the largest below n", first_on_curve(range(N - 1, 0, -1)), e, scalar("s"))
    recovered("R.x is the smallest above 0", first_on_curve(range(1, 99)), e, scalar("s"))
    for s in (1, 2, N - 2, N - 1, (N - 1) // 2, (N + 1) // 2):
        recovered(f"s = {s:x}", multiply(scalar("nonce"), G), e, s)
    small = first_on_curve(range(1, 99))
    for s in (1, N - 1):
        recovered(f"s = {s:x}, r = {small[0]:x}", small, e, s)
    key = multiply(scalar("key"), G)
    for name, number in (("0", 0), ("n", N), ("n+1", N + 1), ("p", P), ("2^256-1", (1 << 256) - 1)):
        verify_case(f"r = {name}", key, e, number, 7, "TENON_ERROR_SIGNATURE_RANGE")
        verify_case(f"s = {name}", key, e, 7, number, "TENON_ERROR_SIGNATURE_RANGE")
    for r in (1, N - 1):
        for s in (1, N - 1):
            verify_case(f"no signature: r = {r:x}, s = {s:x}", key, e, r, s, "TENON_ERROR_SIGNATURE_INVALID")


def point_case(name, x, y, result="TENON_OK"):
    print(f"\nName = {name}\nQx = {hex32(x)}\nQy = {hex32(y)}\nCheck = {result}")
    if result == "TENON_OK":
        texts = [base64.urlsafe_b64encode(n.to_bytes(32, "big")).rstrip(b"=").decode() for n in (x, y)]
        jwk = '{"crv":"P-256","kty":"EC","x":"%s","y":"%s"}' % tuple(texts)
        digest = hashlib.sha256(jwk.encode()).digest()
        print("Thumbprint = " + base64.urlsafe_b64encode(digest).rstrip(b"=").decode())


def search(good):
    k, point = 1, G
    while not good(point):
        k, point = k + 1, add(point, G)
    return point


def points():
    point_case("G", *G)
    point_case("-G", G[0], P - G[1])
    point_case("x = 0", *lift(0, 0))
    point_case("x = 0, the other y", *lift(0, 1))
    point_case("largest x", *first_on_curve(range(P - 1, 0, -1)))
    point_case("smallest x above 0", *first_on_curve(range(1, 99)))
    for zeros in (1, 2):
        limit = 1 << 256 - 8 * zeros
        point_case(f"x with {zeros} leading zero bytes", *search(lambda point: point[0] < limit))
        point_case(f"y with {zeros} leading zero bytes", *search(lambda point: point[1] < limit))
    for name, x, y in (("(0, 0)", 0, 0), ("(1, 1)", 1, 1), ("y + 1", G[0], G[1] + 1), ("x + 1", G[0] + 1, G[1]),
                       ("x, y exchanged", G[1], G[0]), ("x = p-1", P - 1, G[1]), ("y = p-1", G[0], P - 1),
                       ("(p-1, p-1)", P - 1, P - 1), ("y = 0", G[0], 0), ("on the twist", 1, 5)):
        point_case(name, x, y, "TENON_ERROR_POINT_OFF_CURVE")
    zero = lift(0, 0)
    for name, x, y in (("x = p", P, G[1]), ("y = p", G[0], P), ("x = p, which is 0 on the curve", P, zero[1]),
                       ("(p, p)", P, P), ("all ones", (1 << 256) - 1, (1 << 256) - 1),
                       ("x = 2^256-1", (1 << 256) - 1, G[1])):
        point_case(name, x, y, "TENON_ERROR_POINT_RANGE")


def decompressions():
    xs = [0, 1, 2, 3, 4, 5, 6, 7, G[0], P - 1, P - 2, P - 3, P - 4, P, P + 1, N, (1 << 256) - 1]
    for x in xs + [scalar(f"x {i}") for i in range(40)]:
        for odd in (0, 1):
            point = lift(x, odd) if x < P else None
            result = "TENON_OK" if point else f"TENON_ERROR_POINT_{'OFF_CURVE' if x < P else 'RANGE'}"
            print(f"\nName = {'odd' if odd else 'even'} y of {x:x}\nQx = {hex32(x)}")
            if point:
                print(f"Qy = {hex32(point[1])}")
            print(f"{'Odd' if odd else 'Even'} = {result}")


print("# Made by make_p256_hard.py; do not edit.")
multiples()
sums_at_infinity()
digests()
edges_of_r_and_s()
points()
decompressions()
