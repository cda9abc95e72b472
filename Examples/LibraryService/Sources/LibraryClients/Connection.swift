import Foundation

/// A client's connection, kept open between requests: bytes on a socket, so that a test can leave at any of them.
package final class Connection {
    package struct Closed: Error {
        package init() {}
    }

    package struct Answer {
        package var status: Int
        package var body: Data

        /// The members of a JSON object.
        package var object: [String: Any] { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:] }
        package var elements: [[String: Any]] { object["elements"] as? [[String: Any]] ?? [] }
        package var id: String { object["id"] as? String ?? "" }
        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// A reading that takes a minute has failed.
    package init(_ port: UInt16) throws {
        guard port != 0 else { throw Closed() }
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let failed = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) != 0
            }
        }
        if failed { throw Closed() }
    }

    deinit { close(descriptor) }

    // MARK: Requests

    package func send(
        _ method: String, _ path: String, _ body: [String: Any]? = nil, headers: [String: String] = [:],
        fraction: Double = 1
    ) throws {
        let content = try body.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
        var text = "\(method) \(path) HTTP/1.1\r\nhost: localhost\r\ncontent-length: \(content.count)\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        let bytes = Array((text + "\r\n").utf8) + content
        try write(Array(bytes.prefix(Int(Double(bytes.count) * fraction))))
    }

    package func request(
        _ method: String, _ path: String, _ body: [String: Any]? = nil, headers: [String: String] = [:]
    ) throws -> Answer {
        try send(method, path, body, headers: headers)
        return try receive()
    }

    package func receive() throws -> Answer {
        let (status, headers) = try receiveHead()
        let count = headers["content-length"].flatMap { Int($0) } ?? 0
        while buffer.count < count { try fill() }
        defer { buffer.removeFirst(count) }
        return Answer(status: status, body: Data(buffer.prefix(count)))
    }

    package func receiveHead() throws -> (status: Int, headers: [String: String]) {
        var lines: [String] = []
        while true {
            let line = try readLine()
            if line.isEmpty { break }
            lines.append(line)
        }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw Closed()
        }
        return (status, headers)
    }

    /// A chunk of a stream; empty at its end in order.
    package func receiveChunk() throws -> String {
        guard let count = Int(try readLine(), radix: 16) else { throw Closed() }
        while buffer.count < count + 2 { try fill() }
        defer { buffer.removeFirst(count + 2) }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    // MARK: Bytes

    private func readLine() throws -> String {
        while true {
            if let end = buffer.firstIndex(of: 10) {
                defer { buffer.removeFirst(end + 1) }
                return String(decoding: buffer[..<end], as: UTF8.self).trimmingCharacters(in: .newlines)
            }
            try fill()
        }
    }

    private func fill() throws {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { throw Closed() }
        buffer += bytes[..<count]
    }

    private func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            // A signal would end the tests when the program is gone.
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Closed() }
            rest = rest.dropFirst(count)
        }
    }
}
