// SPDX-License-Identifier: Apache-2.0

// The codes of a transport. What is certain not to have been sent is of any category but `unknown`.
extension TenonError.Code {
    /// The URL is none to which something may be sent.
    public static let httpURL = Self(rawValue: 0x0140_0141)
    /// The method is not GET, POST, PUT, PATCH or DELETE.
    public static let httpMethod = Self(rawValue: 0x0140_0142)
    /// A header has a byte that may not be in one, or is the transport's own.
    public static let httpHeader = Self(rawValue: 0x0140_0143)
    /// An option of the transport does not have its form.
    public static let httpOption = Self(rawValue: 0x0140_0144)

    /// No CA that is trusted stands behind the server's certificate.
    public static let tlsUntrusted = Self(rawValue: 0x0340_0145)
    /// A certificate of the server is not valid at the time that this machine believes it is.
    public static let tlsDate = Self(rawValue: 0x0340_0146)
    /// The server's certificate is another host's.
    public static let tlsHost = Self(rawValue: 0x0340_0147)
    /// The server's key is none of those that are pinned.
    public static let tlsPin = Self(rawValue: 0x0340_0148)

    /// The host's, or the proxy's, name has no address now.
    public static let httpResolve = Self(rawValue: 0x0440_0149)
    /// Nobody answers there: refused, unreachable, or cut.
    public static let httpConnect = Self(rawValue: 0x0440_014a)
    /// The time was over before the request was sent.
    public static let httpConnectTimeout = Self(rawValue: 0x0440_014b)
    /// TLS 1.2 or 1.3 could not be agreed on, or was cut.
    public static let tlsHandshake = Self(rawValue: 0x0440_014c)

    /// The proxy refuses to connect to the server.
    public static let httpProxy = Self(rawValue: 0x0540_014d)
    /// The file of trusted CAs cannot be read, or holds none.
    public static let tlsTrustFile = Self(rawValue: 0x0540_014e)

    /// libcurl is not on this machine.
    public static let httpLibrary = Self(rawValue: 0x0540_0154)

    /// Sent, and the connection ended before the answer did.
    public static let httpNoAnswer = Self(rawValue: 0x0b40_014f)
    /// Sent, and the time was over before the answer was here.
    public static let httpTimeout = Self(rawValue: 0x0b40_0150)
    /// Sent, and the task was cancelled before the answer was here.
    public static let httpCancelled = Self(rawValue: 0x0b40_0151)
    /// Sent, and the answer is larger than is taken: 64 KiB, and 16 KiB and 100 lines of headers.
    public static let httpTooLarge = Self(rawValue: 0x0b40_0152)
    /// Sent, and the answer is not HTTP/1.
    public static let httpMalformed = Self(rawValue: 0x0b40_0153)

    /// The name in the manner of the C core.
    var httpName: String? {
        switch self {
        case .httpURL: "TENON_ERROR_HTTP_URL"
        case .httpMethod: "TENON_ERROR_HTTP_METHOD"
        case .httpHeader: "TENON_ERROR_HTTP_HEADER"
        case .httpOption: "TENON_ERROR_HTTP_OPTION"
        case .tlsUntrusted: "TENON_ERROR_TLS_UNTRUSTED"
        case .tlsDate: "TENON_ERROR_TLS_DATE"
        case .tlsHost: "TENON_ERROR_TLS_HOST"
        case .tlsPin: "TENON_ERROR_TLS_PIN"
        case .httpResolve: "TENON_ERROR_HTTP_RESOLVE"
        case .httpConnect: "TENON_ERROR_HTTP_CONNECT"
        case .httpConnectTimeout: "TENON_ERROR_HTTP_CONNECT_TIMEOUT"
        case .tlsHandshake: "TENON_ERROR_TLS_HANDSHAKE"
        case .httpProxy: "TENON_ERROR_HTTP_PROXY"
        case .tlsTrustFile: "TENON_ERROR_TLS_TRUST_FILE"
        case .httpLibrary: "TENON_ERROR_HTTP_LIBRARY"
        case .httpNoAnswer: "TENON_ERROR_HTTP_NO_ANSWER"
        case .httpTimeout: "TENON_ERROR_HTTP_TIMEOUT"
        case .httpCancelled: "TENON_ERROR_HTTP_CANCELLED"
        case .httpTooLarge: "TENON_ERROR_HTTP_TOO_LARGE"
        case .httpMalformed: "TENON_ERROR_HTTP_MALFORMED"
        default: nil
        }
    }
}
