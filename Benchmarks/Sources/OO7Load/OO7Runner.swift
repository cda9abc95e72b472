import BenchSupport

/// What an operation took.
public struct OO7Result: Sendable {
    /// The first time since the store was opened.
    public let coldMilliseconds: Double
    /// The median of the times after it.
    public let hotMilliseconds: Double
    /// Over what was read each time.
    public let digest: UInt64
}

/// Runs operations against one store.
public struct OO7Runner {
    private let store: any OO7Store
    private let design: OO7Design

    public init(_ store: any OO7Store, _ design: OO7Design) {
        (self.store, self.design) = (store, design)
    }

    public func run(_ operation: OO7Operation) throws -> OO7Result {
        if operation.writes { settleDisks() }
        var times: [Double] = []
        var digest: UInt64 = 0
        for repetition in 0...operation.hotRepetitions {
            let (seconds, read) = try measure(operation, repetition)
            times.append(seconds * 1_000)
            // So that equal digests in another order differ.
            digest = digest &* 31 &+ read
        }
        return OO7Result(
            coldMilliseconds: times[0], hotMilliseconds: median(Array(times.dropFirst())), digest: digest)
    }

    /// One digest over all that is stored.
    public func state() throws -> UInt64 {
        let digests = try [
            store.traverse(nil), store.countInDocuments(), store.parts(builtSince: OO7.lastTenth),
            store.outdatedAssemblies(), store.documentsAndParts(), store.allParts(), UInt64(store.rowCount()),
        ]
        return digests.reduce(0) { $0 &* 31 &+ $1 }
    }

    /// What is asked is drawn before the clock starts.
    private func measure(_ operation: OO7Operation, _ repetition: Int) throws -> (seconds: Double, digest: UInt64) {
        switch operation {
        case .t1: return try time { try store.traverse(nil) }
        case .t2a: return try time { try store.traverse(OO7Update(.position, .roots)) }
        case .t2b: return try time { try store.traverse(OO7Update(.position, .parts)) }
        case .t2c: return try time { try store.traverse(OO7Update(.position, .partsRepeatedly)) }
        case .t3a: return try time { try store.traverse(OO7Update(.buildDate, .roots)) }
        case .t3b: return try time { try store.traverse(OO7Update(.buildDate, .parts)) }
        case .t3c: return try time { try store.traverse(OO7Update(.buildDate, .partsRepeatedly)) }
        case .t4: return try time { try store.countInDocuments() }
        case .t5:
            let texts = [OO7.oldBeginning, OO7.newBeginning]
            let (old, new) = (texts[repetition % 2], texts[(repetition + 1) % 2])
            return try time { try store.replaceInDocuments(old, with: new) }
        case .t6: return try time { try store.traverseRoots() }
        case .t7:
            let part = design.drawParts(repetition)[0]
            return try time { try store.climb(from: part) }
        case .t8: return try time { try store.countInManual() }
        case .t9: return try time { try store.compareEndsOfManual() }
        case .q1:
            let ids = design.drawParts(repetition)
            return try time { try store.parts(ids) }
        case .q2: return try time { try store.parts(builtSince: OO7.lastHundredth) }
        case .q3: return try time { try store.parts(builtSince: OO7.lastTenth) }
        case .q4:
            let titles = design.drawTitles(repetition)
            return try time { try store.assemblies(usingDocuments: titles) }
        case .q5: return try time { try store.outdatedBaseAssemblies() }
        case .q6: return try time { try store.outdatedAssemblies() }
        case .q7: return try time { try store.allParts() }
        case .q8: return try time { try store.documentsAndParts() }
        case .insert, .delete: return try changeStructure(repetition, measuresDeletion: operation == .delete)
        }
    }

    private func time(_ body: () throws -> UInt64) throws -> (seconds: Double, digest: UInt64) {
        let (seconds, digest) = try timed(body)
        return (seconds, digest)
    }

    /// Inserts composite parts and deletes them again.
    ///
    /// - Returns: the time of one of both; the rows that came and went.
    private func changeStructure(
        _ repetition: Int, measuresDeletion: Bool
    ) throws -> (seconds: Double, digest: UInt64) {
        let ids = Array(design.newComposites(repetition))
        let new = ids.map { (composite: design.composite($0), users: design.users(ofNew: $0)) }
        let before = try store.rowCount()
        let insertion = try timed { try store.insert(new) }.seconds
        let between = try store.rowCount()
        let deletion = try timed { try store.delete(ids) }.seconds
        let after = try store.rowCount()
        guard before == after else { throw BenchFailure("\(after) rows instead of \(before) after a deletion") }
        return (measuresDeletion ? deletion : insertion, UInt64(between - before))
    }
}
