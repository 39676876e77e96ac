// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonHTTP
import Testing

@Suite struct HTTPCodeTests {
    static let codes: [(TenonError.Code, String)] = [
        (.httpMethod, "HTTP_METHOD"), (.httpOption, "HTTP_OPTION"), (.tlsUntrusted, "TLS_UNTRUSTED"),
        (.tlsDate, "TLS_DATE"), (.tlsHost, "TLS_HOST"), (.tlsPin, "TLS_PIN"), (.httpResolve, "HTTP_RESOLVE"),
        (.httpConnectTimeout, "HTTP_CONNECT_TIMEOUT"), (.tlsHandshake, "TLS_HANDSHAKE"), (.httpProxy, "HTTP_PROXY"),
        (.tlsTrustFile, "TLS_TRUST_FILE"), (.httpLibrary, "HTTP_LIBRARY"), (.httpTimeout, "HTTP_TIMEOUT"),
        (.httpCancelled, "HTTP_CANCELLED"), (.httpTooLarge, "HTTP_TOO_LARGE"), (.httpMalformed, "HTTP_MALFORMED"),
    ]

    @Test(arguments: codes)
    func codeHasItsName(_ code: TenonError.Code, _ name: String) {
        #expect(code.description == "TENON_ERROR_" + name)
        #expect(code.rawValue & 0x40_0000 != 0, "it is not the core's")
    }
}
