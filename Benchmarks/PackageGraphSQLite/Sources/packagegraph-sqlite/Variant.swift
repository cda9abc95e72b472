/// One way of setting SQLite up.
struct Variant {
    let name: String
    let pragmas: [String]
    let hasIndexes: Bool

    /// Both settings without indexes, which is the least SQLite can do, and with those that make the inverse
    /// relationships as cheap to follow as they are in the graph.
    static let all = [
        Variant(name: "sqlite-default", pragmas: durable, hasIndexes: false),
        Variant(name: "sqlite-tuned", pragmas: durable + tuned, hasIndexes: false),
        Variant(name: "sqlite-default-indexed", pragmas: durable, hasIndexes: true),
        Variant(name: "sqlite-tuned-indexed", pragmas: durable + tuned, hasIndexes: true),
    ]

    private static let durable = ["journal_mode=WAL", "synchronous=FULL"]
    private static let tuned = ["mmap_size=4294967296", "cache_size=-65536"]
}
