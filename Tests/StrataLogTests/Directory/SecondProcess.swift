import StrataSupport
import StrataTestKit
import SystemPackage

@testable import StrataLog

/// What another process does in the middle of somebody's work on a store's directory.
struct SecondProcess: Sendable {
    enum Kind: Sendable, CaseIterable {
        case reader
        case writer
        /// Opens the store, and goes on when the other is done.
        case lastingWriter
        case creator
        case destroyer
        case replacer
    }

    var kind: Kind
    var name: String { "a \(kind)" }

    static let all = Kind.allCases.map { SecondProcess(kind: $0) }

    func start(_ fileSystem: SimulatedFileSystem) -> Running { Running(kind, fileSystem) }

    /// One run of it. Used by one thread.
    final class Running {
        private let kind: Kind
        private let fileSystem: SimulatedFileSystem
        private var log: LogStore?
        /// What it has done successfully makes this of a state.
        private var effect: ((DirectoryState) -> DirectoryState)?
        /// Whether that was after everything the other did.
        private var isLast = false
        /// What it saw, when it only looked.
        private var seen: DirectoryState?
        private(set) var failures: [String] = []

        init(_ kind: Kind, _ fileSystem: SimulatedFileSystem) {
            self.kind = kind
            self.fileSystem = fileSystem
        }

        func act() {
            do {
                switch kind {
                case .reader: seen = try DirectoryFixture.look(fileSystem, .readOnly)
                case .writer:
                    guard let log = try DirectoryFixture.open(fileSystem, .readWrite) else { return }
                    try DirectoryFixture.add("+second", 1, to: log)
                    try log.close()
                    effect = Self.adding
                case .lastingWriter: log = try DirectoryFixture.open(fileSystem, .readWrite)
                case .creator:
                    try DirectoryFixture.open(fileSystem, .readWrite, creates: true)?.close()
                    effect = { $0 == .none ? DirectoryState(version: "empty") : $0 }
                case .destroyer:
                    _ = try StoreDirectory(DirectoryFixture.store, fileSystem).destroy()
                    effect = { _ in .none }
                case .replacer:
                    try StoreDirectory(DirectoryFixture.store, fileSystem).replace(with: DirectoryFixture.source)
                    effect = { _ in DirectoryState(version: "new") }
                }
            } catch let error as StoreError where Self.isRefusal(error) || kind == .destroyer && isWithoutStore {
                // Somebody else was there first.
            } catch {
                failures.append("the second process got \(error)")
            }
        }

        /// Whether only files that are not the store's are left: then there is nothing to be destroyed.
        private var isWithoutStore: Bool {
            let names = (try? fileSystem.list(DirectoryFixture.store)) ?? []
            return !names.isEmpty && !names.contains { $0.hasSuffix(".seg") || $0 == "MANIFEST" }
        }

        func end() {
            guard let log else { return }
            do {
                try DirectoryFixture.add("+second", 1, to: log)
                try log.close()
                effect = Self.adding
                isLast = true
            } catch {
                failures.append("the store was taken from who had it: \(error)")
            }
        }

        private static func adding(_ state: DirectoryState) -> DirectoryState {
            state == .none ? state : DirectoryState(version: state.version, added: state.added.union(["+second"]))
        }

        /// In use, beside foreign files, or gone for a moment.
        private static func isRefusal(_ error: StoreError) -> Bool {
            error.code == .locked || error.code == .unsupportedFormat || error.code == .notFound
        }

        /// What may be there in the end: the one did its work after the other, or the other way round.
        func outcomes(of work: DirectoryWork, succeeded: Bool) -> Set<DirectoryState> {
            let first = succeeded ? work.effect : { $0 }
            let second = effect ?? { $0 }
            var states: Set = [second(first(work.before))]
            if !isLast { states.insert(first(second(work.before))) }
            if let seen {
                let known: Set = [work.before, work.after]
                if !known.contains(seen) { failures.append("a reader saw \(seen)") }
            }
            return states
        }
    }
}
