import Foundation
import Testing

/// Reads server-sent events by curl's means: a socket, line by line.
final class EventStream {
    private let descriptor: Int32
    private var text = ""

    init(_ fixture: InspectFixture, _ path: String) throws {
        let url = try #require(URL(string: fixture.url))
        let port = try #require(url.port)
        let token = fixture.url.components(separatedBy: "token=").last ?? ""
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
        let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n\r\n"
        _ = request.withCString { write(descriptor, $0, strlen($0)) }
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// - Returns: what has come up to then, since the last wait.
    @discardableResult
    func wait(for wanted: String) async throws -> String {
        let end = ContinuousClock.now + .seconds(30)
        while true {
            try #require(.now < end, "nothing with \(wanted) came, but \(text)")
            if let range = text.range(of: wanted),
                let end = text[range.upperBound...].range(of: "\n\n") ?? (wanted.hasSuffix("\n\n") ? range : nil)
            {
                let found = String(text[..<end.upperBound])
                text = String(text[end.upperBound...])
                return found
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(descriptor, &buffer, buffer.count)
            try #require(count > 0, "nothing with \(wanted) came, but \(text)")
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }
}
