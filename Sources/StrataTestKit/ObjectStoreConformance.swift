public import StrataObjectStore

/// What every ``ObjectStore`` is held to, as checks that any test may run.
///
/// Each check uses names of its own under a folder, and removes what it has written where that matters to others.
public struct ObjectStoreConformance: Sendable {
    /// One of the checks.
    public enum Check: String, CaseIterable, Sendable {
        case absentObjects, wholeObjects, ranges, replacing
        case absentCondition, matchingCondition, conditionalUploads
        case racingCreators, racingReplacers, countingByTags
        case names, longNames, lists, pages, uploads, failingUploads, removals, cancellation
    }

    /// Where servers differ in what no user of Strata needs.
    public struct Traits: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Keys are no paths: `a//b` and `a/b` are two, as are `a` and `a/b`, and each part may be long.
        public static let anyName = Traits(rawValue: 1)
        /// Lists are in the order of the keys' bytes whatever the keys are, not only for keys with parts of letters and
        /// digits.
        public static let byteOrder = Traits(rawValue: 2)
        /// Uploads keep to ``PutCondition/matching(_:)``, not only to ``PutCondition/absent``.
        public static let matchingUploads = Traits(rawValue: 4)
        /// All of that.
        public static let all: Traits = [.anyName, .byteOrder, .matchingUploads]
    }

    /// What a store did that it should not have done.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    let store: any ObjectStore
    let folder: String
    let traits: Traits
    /// How large the objects are that are uploaded.
    let uploadSize: Int

    /// - Parameters:
    ///   - folder: What the names of all objects begin with, such as `run1/`; nothing else is there.
    ///   - uploadSize: In bytes; large enough that the store uploads in more than one part.
    public init(_ store: any ObjectStore, folder: String, traits: Traits = .all, uploadSize: Int = 100_000) {
        self.store = store
        self.folder = folder
        self.traits = traits
        self.uploadSize = uploadSize
    }

    /// Runs one check.
    ///
    /// - Throws: ``Failure``, or what the store has thrown where it should not.
    public func run(_ check: Check) async throws {
        switch check {
        case .absentObjects: try await absentObjects()
        case .wholeObjects: try await wholeObjects()
        case .ranges: try await ranges()
        case .replacing: try await replacing()
        case .absentCondition: try await absentCondition()
        case .matchingCondition: try await matchingCondition()
        case .conditionalUploads: try await conditionalUploads()
        case .racingCreators: try await racingCreators()
        case .racingReplacers: try await racingReplacers()
        case .countingByTags: try await countingByTags()
        case .names: try await names()
        case .longNames: try await longNames()
        case .lists: try await lists()
        case .pages: try await pages()
        case .uploads: try await uploads()
        case .failingUploads: try await failingUploads()
        case .removals: try await removals()
        case .cancellation: try await cancellation()
        }
    }

    func key(_ name: String, _ function: StaticString = #function) -> String {
        "\(folder)\("\(function)".prefix { $0 != "(" })/\(name)"
    }

    func expect(_ condition: Bool, _ message: @autoclosure () -> String, line: UInt = #line) throws {
        if !condition { throw Failure(description: "\(message()) (line \(line), \(store.description))") }
    }

    /// Does what has to throw an error, and returns that.
    func error(
        _ what: String, line: UInt = #line, of call: () async throws(ObjectStoreError) -> some Sendable
    ) async throws -> ObjectStoreError {
        let result: any Sendable
        do throws(ObjectStoreError) {
            result = try await call()
        } catch {
            return error
        }
        throw Failure(description: "\(what) did not fail, but gave \(result) (line \(line), \(store.description))")
    }

    @discardableResult
    func put(
        _ key: String, _ bytes: [UInt8], if condition: PutCondition = .always
    ) async throws(ObjectStoreError) -> ObjectInfo {
        try await store.put(key, bytes, digest: ObjectDigest(of: bytes), if: condition)
    }

    /// Puts, and says whether the condition held.
    func putIfHolds(
        _ key: String, _ bytes: [UInt8], if condition: PutCondition
    ) async throws(ObjectStoreError) -> Bool {
        do throws(ObjectStoreError) {
            try await put(key, bytes, if: condition)
            return true
        } catch .preconditionFailed {
            return false
        }
    }

    private static func word(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Bytes of which no two blocks of 512 are the same.
    static func bytes(_ count: Int, seed: Int = 1) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(seed))
        let random = (0..<64).flatMap { _ in word(generator.next()) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 512)
        while bytes.count < count {
            let place = bytes.count
            bytes += random
            bytes.replaceSubrange(place..<place + 8, with: word(UInt64(place)))
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Lists everything that begins with a prefix.
    func all(_ prefix: String, limit: Int = 1000) async throws -> [ObjectInfo] {
        var found: [ObjectInfo] = []
        while true {
            let page = try await store.list(prefix: prefix, after: found.last?.key, limit: limit)
            try expect(page.objects.count <= limit, "a list of \(limit) has \(page.objects.count) objects")
            found += page.objects
            if !page.isTruncated { return found }
            try expect(!page.objects.isEmpty, "a list was cut before its first object")
        }
    }
}
