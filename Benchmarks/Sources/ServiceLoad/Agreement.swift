import DataSet

/// Digests of what a client answers while nobody writes: whoever did other work differs.
public enum Agreement {
    private static let requestsPerKind = 10

    /// One digest for each kind of read, in the order of the kinds.
    public static func digests(_ client: any ServiceClient) throws -> [(kind: RequestKind, digest: UInt64)] {
        try RequestKind.allCases.filter { !$0.writes }.map { kind in
            var random = SplitMix64(99)
            var sum: UInt64 = 0
            for number in 0..<(kind == .aggregate ? 1 : requestsPerKind) {
                let request = ServiceRequest(kind, random: &random) { 0 }
                sum &+= try client.answer(request) &* UInt64(number + 1)
            }
            return (kind, sum)
        }
    }
}
