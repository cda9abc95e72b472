/// One decoder under fuzz: what an input is given to, and valid inputs to start from.
struct FuzzTarget: Sendable {
    let name: String
    /// Longest input that libFuzzer should make.
    let maximumByteCount: Int
    /// Valid inputs, made by the encoders.
    let seeds: @Sendable () throws -> [[UInt8]]
    /// Must return for every input: errors are caught, traps and sanitizer reports are the findings.
    let run: @Sendable ([UInt8]) -> Void

    init(
        _ name: String, maximumByteCount: Int = 4096, seeds: @escaping @Sendable () throws -> [[UInt8]],
        run: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.name = name
        self.maximumByteCount = maximumByteCount
        self.seeds = seeds
        self.run = run
    }

    static let all: [FuzzTarget] =
        BlockTargets.all + LogTargets.all + CheckpointTargets.all + StoreTargets.all
}
