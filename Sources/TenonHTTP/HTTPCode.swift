// SPDX-License-Identifier: Apache-2.0
public import Tenon

// The codes of this transport (0140 to 015f). What is certain not to have been sent is of any category but `unknown`.
extension TenonError.Code {
    /// The method is not GET, POST, PUT, PATCH or DELETE.
    public static let httpMethod = Self(0x0140_0142, "TENON_ERROR_HTTP_METHOD")
    /// An option of the transport does not have its form.
    public static let httpOption = Self(0x0140_0144, "TENON_ERROR_HTTP_OPTION")
    /// No CA that is trusted stands behind the server's certificate.
    public static let tlsUntrusted = Self(0x0340_0145, "TENON_ERROR_TLS_UNTRUSTED")
    /// A certificate of the server is not valid at the time that this machine believes it is.
    public static let tlsDate = Self(0x0340_0146, "TENON_ERROR_TLS_DATE")
    /// The server's certificate is for another host.
    public static let tlsHost = Self(0x0340_0147, "TENON_ERROR_TLS_HOST")
    /// The server's key is not one of the pinned keys.
    public static let tlsPin = Self(0x0340_0148, "TENON_ERROR_TLS_PIN")
    /// The host's, or the proxy's, name has no address now.
    public static let httpResolve = Self(0x0440_0149, "TENON_ERROR_HTTP_RESOLVE")
    /// The time was over before the request was sent.
    public static let httpConnectTimeout = Self(0x0440_014b, "TENON_ERROR_HTTP_CONNECT_TIMEOUT")
    /// TLS 1.2 or 1.3 could not be agreed on, or was cut.
    public static let tlsHandshake = Self(0x0440_014c, "TENON_ERROR_TLS_HANDSHAKE")
    /// The proxy refuses to connect to the server.
    public static let httpProxy = Self(0x0540_014d, "TENON_ERROR_HTTP_PROXY")
    /// The file of trusted CAs cannot be read, or holds none.
    public static let tlsTrustFile = Self(0x0540_014e, "TENON_ERROR_TLS_TRUST_FILE")
    /// libcurl is not on this machine.
    public static let httpLibrary = Self(0x0540_0154, "TENON_ERROR_HTTP_LIBRARY")
    /// Sent, and the time was over before the answer was here.
    public static let httpTimeout = Self(0x0b40_0150, "TENON_ERROR_HTTP_TIMEOUT")
    /// Sent, and the task was cancelled before the answer was here.
    public static let httpCancelled = Self(0x0b40_0151, "TENON_ERROR_HTTP_CANCELLED")
    /// Sent, and the answer is larger than is taken: 64 KiB, and 16 KiB and 100 lines of headers.
    public static let httpTooLarge = Self(0x0b40_0152, "TENON_ERROR_HTTP_TOO_LARGE")
    /// Sent, and the answer is not HTTP/1.
    public static let httpMalformed = Self(0x0b40_0153, "TENON_ERROR_HTTP_MALFORMED")
}
