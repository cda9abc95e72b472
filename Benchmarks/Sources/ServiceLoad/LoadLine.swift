/// One line of the benchmark: which clients run beside each other.
public struct LoadLine: Sendable {
    public let name: String
    /// The clients that are measured.
    public let mix: Mix
    public let clients: Int
    /// Clients beside them, whose figures are told apart.
    public let readersBeside: Int

    init(_ name: String, _ mix: Mix, _ clients: Int, readersBeside: Int = 0) {
        self.name = name
        self.mix = mix
        self.clients = clients
        self.readersBeside = readersBeside
    }

    public var writes: Bool { mix.shares.contains { $0.kind.writes } }

    public static let clientCounts = [1, 8, 64]
    /// Writers of the lines with and without readers beside.
    public static let writerCount = 4

    /// Readers first: what is written makes the store larger.
    public static let all: [LoadLine] = {
        let reads: [RequestKind] = [.point, .list, .aggregate, .tagged]
        var lines = reads.flatMap { kind in
            clientCounts.map { LoadLine("\(kind.rawValue)-\($0)", Mix(kind), $0) }
        }
        lines += clientCounts.map { LoadLine("mixed-\($0)", .mixed, $0) }
        lines += clientCounts.map { LoadLine("write-\($0)", .writes, $0) }
        lines.append(LoadLine("writers", .writes, writerCount))
        lines.append(LoadLine("writers-beside-64", .writes, writerCount, readersBeside: 64))
        return lines
    }()
}
