// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The network between a device that is a process of its own and the service in its test: lines of text. The device
/// says `send REQUEST`, and hears `answer ANSWER`, `lost` or `unsent`.
package enum ServiceLine {
    package static func encode(_ request: HTTPRequest) throws(TenonError) -> String {
        "send " + TextEncoding.base64.encode(try request.journalled())
    }

    /// The service's answer to a line of the device; nil if the line is about something else.
    package static func answer(to line: String, by service: some FatedService) -> String? {
        guard line.hasPrefix("send ") else { return nil }
        do throws(TenonError) {
            let request = try HTTPRequest(journalled: TextEncoding.base64.decode(String(line.dropFirst(5))))
            let answer = try service.exchange(request)
            let message = HTTPRequest(
                method: String(answer.status), url: "-", headers: answer.headers, body: answer.body)
            return "answer " + TextEncoding.base64.encode(try message.journalled())
        } catch {
            return error.code.category == .unknown ? "lost" : "unsent"
        }
    }

    /// The meaning of a line of the service for the device.
    package static func decode(_ line: String, at moment: Moment) throws(TenonError) -> HTTPResponse {
        guard line.hasPrefix("answer ") else {
            throw TenonError(line == "lost" ? .httpNoAnswer : .httpConnect, message: "The service did not answer.")
        }
        let message = try HTTPRequest(journalled: TextEncoding.base64.decode(String(line.dropFirst(7))))
        return HTTPResponse(
            status: Int(message.method) ?? 599, headers: message.headers, body: message.body, sent: moment,
            received: moment)
    }
}
