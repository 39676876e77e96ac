// SPDX-License-Identifier: Apache-2.0

/// An action of an identity, for a log.
///
/// It has no field for a text or for bytes, so it cannot contain anything secret: no challenge,
/// key, proof, body, token, certificate, Name, secret or id (decision: said-in-logs).
public enum LogEvent: Hashable, Sendable {
    /// An operation on an identity. Only one runs at a time.
    public enum Operation: String, CaseIterable, Sendable {
        case register, rotate, renew, maintain, resolve, reset, purge
        case reportCompromise = "report"
    }

    /// It has its turn: nobody else is at work on the identity.
    case began(Operation)
    /// nil is that it did what it should.
    case ended(Operation, TenonError.Code?)
    /// Where the identity stands from now on.
    case status(IdentityState, IdentityReason?)
    /// A service answered.
    case answered(httpStatus: Int, after: Duration)
    /// No answer came, or it could not be asked.
    case notAnswered(TenonError.Code)
    /// The next try, of this number and of so many, comes after this; the last one failed of the code.
    case waits(Duration, after: TenonError.Code, attempt: Int, of: Int)
}

extension LogEvent: CustomStringConvertible {
    /// One line.
    public var description: String {
        switch self {
        case .began(let operation): "\(operation.rawValue) began"
        case .ended(let operation, nil): "\(operation.rawValue) ended"
        case .ended(let operation, let code?): "\(operation.rawValue) ended with \(code)"
        case .status(let state, let reason): "state \(state.rawValue)\(reason.map { ", \($0.rawValue)" } ?? "")"
        case .answered(let status, let time): "answered \(status) after \(LogEvent.milliseconds(time)) ms"
        case .notAnswered(let code): "not answered: \(code)"
        case .waits(let time, let code, let attempt, let count):
            "waits \(LogEvent.milliseconds(time)) ms for try \(attempt) of \(count), after \(code)"
        }
    }

    private static func milliseconds(_ time: Duration) -> Int64 {
        time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000
    }
}

/// Receives events. The thread that does the work calls it, so it must not block for long.
public typealias LogSink = @Sendable (LogEvent) -> Void
