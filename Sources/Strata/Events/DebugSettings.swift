import Foundation
import StrataSupport

/// What the program was asked to print of the library's work, by its environment or its arguments.
///
/// `STRATA_DEBUG` has names of ``names``, or a level from 1 to 4, or both, separated by commas. The launch argument
/// `-com.apple.CoreData.SQLDebug` has a level.
struct DebugSettings: Equatable {
    var kinds: EventKinds = []
    /// 1: each request, how long it took and how many rows it had. 2: with the user's values. 3: with its first
    /// results. 4: with all that is known of its plan.
    var level = 1
    /// Names that are none.
    var unknown: [String] = []

    static let variable = "STRATA_DEBUG"
    static let argument = "-com.apple.CoreData.SQLDebug"

    /// What a level shows.
    private static let kindsOfLevel: EventKinds = [.fetch, .save, .batch, .conflict, .fault, .migration, .damage]

    static let names: [(name: String, kinds: EventKinds)] = [
        ("fetch", .fetch), ("save", .save), ("batch", .batch), ("conflict", .conflict), ("flush", .flush),
        ("fault", .fault), ("wait", .wait), ("compaction", .compaction), ("checkpoint", .checkpoint),
        ("migration", .migration), ("open", .opening), ("follow", .following), ("damage", .damage),
        ("ship", .shipping),
        (
            "all",
            [
                .fetch, .save, .batch, .conflict, .flush, .fault, .wait, .compaction, .checkpoint, .migration,
                .opening, .following, .damage, .shipping,
            ]
        ),
    ]

    init(arguments: [String], variable: String?) {
        let words = (variable ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        for word in words where Int(word) == nil { add(word) }
        for word in words { if let level = Int(word) { add(level: level) } }
        if let index = arguments.firstIndex(of: Self.argument), index + 1 < arguments.count,
            let level = Int(arguments[index + 1]), level > 0
        {
            kinds.formUnion(Self.kindsOfLevel)
            add(level: level)
        }
    }

    private mutating func add(_ word: String) {
        let lowercased = word.lowercased()
        if let entry = Self.names.first(where: { $0.name == lowercased }) {
            kinds.formUnion(entry.kinds)
        } else if !word.isEmpty {
            unknown.append(word)
        }
    }

    /// A level beside names says how much is printed of these.
    private mutating func add(level: Int) {
        guard level > 0 else { return }
        if kinds.isEmpty { kinds = Self.kindsOfLevel }
        self.level = max(self.level, min(level, 4))
    }
}
