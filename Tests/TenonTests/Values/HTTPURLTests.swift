// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

@Suite struct HTTPURLTests {
    @Test(
        arguments: [
            ("https://a.example", "https://a.example", 443, "/"),
            ("https://A.Example:443/", "https://a.example", 443, "/"),
            ("HTTPS://a.example:8443/x/../y?z=/@:", "https://a.example:8443", 8443, "/x/../y?z=/@:"),
            ("https://a.example?q", "https://a.example", 443, "/?q"),
            ("http://localhost:80", "http://localhost", 80, "/"),
            ("http://localhost:443/", "http://localhost:443", 443, "/"),
            ("http://127.0.0.1:65535/%20", "http://127.0.0.1:65535", 65_535, "/%20"),
            ("https://[::1]:1/", "https://[::1]:1", 1, "/"), ("https://[FE80::A]", "https://[fe80::a]", 443, "/"),
            ("https://a_b.x-1.example/", "https://a_b.x-1.example", 443, "/"),
        ] as [(String, String, Int, String)])
    func parts(_ text: String, _ origin: String, _ port: Int, _ target: String) throws {
        let url = try HTTPURL(parsing: text)
        #expect(url.origin == origin)
        #expect(url.port == port)
        #expect(url.target == target)
    }

    @Test(arguments: [
        "", "https", "https://", "https:///x", "https://?x", "ftp://a.example", "//a.example", "a.example",
        " https://a.example", "https://a.example ", "https://a.example/\r\nX: y", "https://a.example/\0",
        "https://a.example/#x", "https://a.example\\@b.example", "https://user@a.example", "https://u:p@a.example",
        "https://a.example:", "https://a.example:0", "https://a.example:01", "https://a.example:65536",
        "https://a.example:+1", "https://a.example:1:2", "https://a.example:x", "https://a..example",
        "https://.example",
        "https://a.example.", "https://é.example", "https://%61.example", "https://a.example/é", "https://1",
        "https://2130706433", "https://0x7f000001", "https://127.1", "https://127.0.0.01", "https://0177.0.0.1",
        "https://127.0.0.1.", "https://1.2.3.256", "https://a.1", "https://a.0x1", "https://[::1", "https://::1",
        "https://[]",
        "https://[::1%25lo]", "https://[127.0.0.1]", "https://[::1]x", "https://[::1]:", "https://[::1]:0",
        "https://a.example/{x}", "https://a.example/|", "https://a.example/\"",
        "https://" + String(repeating: "a", count: 64),
        "https://" + Array(repeating: "aaaaaaaa", count: 29).joined(separator: "."),
    ])
    func refused(_ text: String) throws {
        #expect(throws: TenonError(.httpURL, message: "")) { try HTTPURL(parsing: text) }
    }

    @Test(arguments: [
        "http://127.0.0.1", "http://127.255.0.9:1", "http://LOCALHOST/", "http://[::1]", "http://[0:0:0:0:0:0:0:1]:8",
    ])
    func loopback(_ text: String) throws {
        #expect(try HTTPURL(parsing: text).isLoopback)
    }

    /// Hosts that look like this machine and may be another.
    @Test(arguments: [
        "http://a.example", "http://localhost.a.example", "http://a.localhost", "http://128.0.0.1", "http://0.0.0.0",
        "http://126.255.255.255", "http://[::]", "http://[::2]", "http://[::ffff:127.0.0.1]", "http://[::127.0.0.1]",
        "http://127.a.example", "http://192.168.0.1",
    ])
    func notLoopback(_ text: String) throws {
        #expect(try !HTTPURL(parsing: text).isLoopback)
    }
}
