// SPDX-License-Identifier: Apache-2.0
public import Tenon

// The codes of this transport (0140 to 015f). Only codes of the category `unknown` mean that the request may have been
// sent.
extension TenonError.Code {
    /// The method is not GET, POST, PUT, PATCH or DELETE.
    public static let httpMethod = Self(0x0140_0142, "TENON_ERROR_HTTP_METHOD")
    /// An option of the transport does not have its form.
    public static let httpOption = Self(0x0140_0144, "TENON_ERROR_HTTP_OPTION")
    /// No trusted CA issued the server's certificate.
    public static let tlsUntrusted = Self(0x0340_0145, "TENON_ERROR_TLS_UNTRUSTED")
    /// A certificate of the server is not valid at this machine's time.
    public static let tlsDate = Self(0x0340_0146, "TENON_ERROR_TLS_DATE")
    /// The server's certificate is for another host.
    public static let tlsHost = Self(0x0340_0147, "TENON_ERROR_TLS_HOST")
    /// The server's key is not one of the pinned keys.
    public static let tlsPin = Self(0x0340_0148, "TENON_ERROR_TLS_PIN")
    /// The name of the host or of the proxy has no address now.
    public static let httpResolve = Self(0x0440_0149, "TENON_ERROR_HTTP_RESOLVE")
    /// The deadline passed before the request was sent.
    public static let httpConnectTimeout = Self(0x0440_014b, "TENON_ERROR_HTTP_CONNECT_TIMEOUT")
    /// The TLS handshake failed to agree on TLS 1.2 or 1.3, or was cut.
    public static let tlsHandshake = Self(0x0440_014c, "TENON_ERROR_TLS_HANDSHAKE")
    /// The proxy refuses to connect to the server.
    public static let httpProxy = Self(0x0540_014d, "TENON_ERROR_HTTP_PROXY")
    /// The file of trusted CAs cannot be read, or contains no CA.
    public static let tlsTrustFile = Self(0x0540_014e, "TENON_ERROR_TLS_TRUST_FILE")
    /// libcurl is not installed.
    public static let httpLibrary = Self(0x0540_0154, "TENON_ERROR_HTTP_LIBRARY")
    /// The request was sent, and the deadline passed before the answer arrived.
    public static let httpTimeout = Self(0x0b40_0150, "TENON_ERROR_HTTP_TIMEOUT")
    /// The request was sent, and the task was cancelled before the answer arrived.
    public static let httpCancelled = Self(0x0b40_0151, "TENON_ERROR_HTTP_CANCELLED")
    /// The request was sent, and the answer exceeds 64 KiB, or 16 KiB or 100 lines of headers.
    public static let httpTooLarge = Self(0x0b40_0152, "TENON_ERROR_HTTP_TOO_LARGE")
    /// The request was sent, and the answer is not HTTP/1.
    public static let httpMalformed = Self(0x0b40_0153, "TENON_ERROR_HTTP_MALFORMED")
}
