# SPDX-License-Identifier: Apache-2.0
"""The curves of SP 800-186, 3.2.1, with Python's integers, for the makers of vectors and the tests of the ABI."""


class Curve:
    def __init__(self, p, b, n, g):
        self.p, self.b, self.n, self.g = p, b, n, g
        self.size = (p.bit_length() + 7) // 8

    def add(self, a, b):
        """The sum of two points; None is the point at infinity."""
        if a is None or b is None:
            return a or b
        if a[0] == b[0] and (a[1] + b[1]) % self.p == 0:
            return None
        if a == b:
            slope = (3 * a[0] * a[0] - 3) * pow(2 * a[1], -1, self.p)
        else:
            slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, self.p)
        x = (slope * slope - a[0] - b[0]) % self.p
        return x, (slope * (a[0] - x) - a[1]) % self.p

    def multiply(self, k, point):
        total = None
        while k:
            total = self.add(total, point) if k & 1 else total
            point, k = self.add(point, point), k >> 1
        return total

    def encoded(self, point):
        """Both coordinates."""
        return b"".join(c.to_bytes(self.size, "big") for c in point)


P256 = Curve(2**256 - 2**224 + 2**192 + 2**96 - 1,
             0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
             0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
             (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
              0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5))
P384 = Curve(2**384 - 2**128 - 2**96 + 2**32 - 1,
             0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF,
             0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973,
             (0xAA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7,
              0x3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F))
P521 = Curve(2**521 - 1,
             0x51953EB9618E1C9A1F929A21A0B68540EEA2DA725B99B315F3B8B489918EF109E156193951EC7E937B1652C0BD3BB1BF073573DF883D2C34F1EF451FD46B503F00,
             2**521 - 0x5AE79787C40D069948033FEB708F65A2FC44A36477663B851449048E16EC79BF7,
             (0x0C6858E06B70404E9CD9E3ECB662395B4429C648139053FB521F828AF606B4D3DBAA14B5E77EFE75928FE1DC127A2FFA8DE3348B3C1856A429BF97E7E31C2E5BD66,
              0x11839296A789A3BC0045C8A5FB42C7D1BD998F54449579B446817AFBD17273E662C97EE72995EF42640C550B9013FAD0761353C7086A272C24088BE94769FD16650))
