// SPDX-License-Identifier: Apache-2.0
internal import CTenonCurl
internal import Tenon

extension TenonError {
    static let late = TenonError(
        .httpConnectTimeout, message: "The time was over before the request was sent; try again, nothing was lost.")
    static let malformed = TenonError(.httpMalformed, message: "The server's answer is not HTTP/1.")
    static let tooLarge = TenonError(
        .httpTooLarge, message: "The server's answer is larger than 64 KiB, or its headers than 16 KiB or 100 lines.")
    static let noLibrary = TenonError(
        .httpLibrary, message: "libcurl.so.4 cannot be loaded: install it (on Debian, the package libcurl4).")
    static let noMemory = TenonError(.memory, message: "There is no memory for an HTTP exchange.")

    /// Sentences of our own: libcurl's may hold what was sent.
    init(_ result: tenoni_exchange_result, isSent: Bool) {
        self = isSent ? .sent(result) : .notSent(result)
    }

    private static func sent(_ result: tenoni_exchange_result) -> TenonError {
        switch result {
        case TENONI_EXCHANGE_CANCELLED:
            TenonError(.httpCancelled, message: "The task was cancelled after the request was sent; ask again later.")
        case TENONI_EXCHANGE_TIMEOUT:
            TenonError(.httpTimeout, message: "The server did not answer in time; ask again later.")
        case TENONI_EXCHANGE_TOO_LARGE: .tooLarge
        case TENONI_EXCHANGE_MALFORMED: .malformed
        default:
            TenonError(.httpNoAnswer, message: "The connection ended before the answer did; ask again later.")
        }
    }

    private static func notSent(_ result: tenoni_exchange_result) -> TenonError {
        switch result {
        case TENONI_EXCHANGE_CANCELLED: .cancelled
        case TENONI_EXCHANGE_TIMEOUT: .late
        case TENONI_EXCHANGE_MEMORY: .noMemory
        case TENONI_EXCHANGE_RESOLVE:
            TenonError(.httpResolve, message: "The host or proxy has no address: check its name and the network.")
        case TENONI_EXCHANGE_PROXY:
            TenonError(.httpProxy, message: "The proxy refuses to connect to the server: ask who runs it.")
        case TENONI_EXCHANGE_HANDSHAKE:
            TenonError(.tlsHandshake, message: "TLS 1.2 or 1.3 could not be agreed on with the server.")
        case TENONI_EXCHANGE_TRUST_FILE:
            TenonError(.tlsTrustFile, message: "The CA file cannot be read or holds no certificate: check its path.")
        case TENONI_EXCHANGE_UNTRUSTED:
            TenonError(.tlsUntrusted, message: "No trusted CA stands behind the server's certificate.")
        case TENONI_EXCHANGE_DATE:
            TenonError(.tlsDate, message: "A certificate of the server is not valid today: check this machine's clock.")
        case TENONI_EXCHANGE_HOST:
            TenonError(.tlsHost, message: "The server's certificate is another host's.")
        case TENONI_EXCHANGE_PIN:
            TenonError(.tlsPin, message: "The server's key is none of those that are pinned.")
        default:
            TenonError(.httpConnect, message: "Nobody answers there: check host, port and network, or try again.")
        }
    }
}
