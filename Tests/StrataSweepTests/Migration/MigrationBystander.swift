import CoreData
import Foundation
import StrataIO
import StrataLog
import StrataSupport
import StrataTestKit
import Testing

@testable import Strata

/// A program that uses the store in the middle of somebody's migration.
struct MigrationBystander: Sendable, CustomTestStringConvertible {
    enum Kind: Sendable, CaseIterable {
        /// Looks at what is there.
        case reader
        /// Adds a person with the first model, and closes the store.
        case olderWriter
        /// Opens the store with the first model, and adds a person when the migration is over.
        case lastingOlderWriter
        /// Adds a person with the newest model, which may need the migration.
        case newerWriter
    }

    var kind: Kind
    /// Whether it is another coordinator of the process that migrates. It acts only while that one has the store's log
    /// alone: at other times the two share it, and wait for each other.
    var isSameProcess: Bool

    var testDescription: String { "a \(kind)\(isSameProcess ? " of the same process" : "")" }

    static let all = [true, false].flatMap { same in
        Kind.allCases.map { MigrationBystander(kind: $0, isSameProcess: same) }
    }

    /// One run of it. Used by one thread.
    final class Running {
        private let bystander: MigrationBystander
        private let work: MigrationWork
        private let disk: SimulatedFileSystem
        private let fileSystem: any FileSystem
        private var opened: MigrationFixture.OpenedStore?
        private(set) var hasActed = false
        /// Whether what it has added was acknowledged.
        private(set) var hasAdded = false
        private(set) var failures: [String] = []

        init(_ bystander: MigrationBystander, _ work: MigrationWork, _ disk: SimulatedFileSystem) {
            self.bystander = bystander
            self.work = work
            self.disk = disk
            fileSystem = bystander.isSameProcess ? disk : OtherProcessFileSystem(disk)
        }

        static let name = "late"
        static let person = "late@"

        var canAct: Bool {
            !bystander.isSameProcess || SharedLogs.isReserved(MigrationFixture.store, in: disk)
        }

        func act() {
            hasActed = true
            do {
                let options = MigrationFixture.options(fileSystem)
                switch bystander.kind {
                case .reader: try look()
                case .olderWriter:
                    try MigrationFixture.with(MigrationFixture.first, options) {
                        try MigrationFixture.add(Self.name, to: $0)
                    }
                    hasAdded = true
                case .lastingOlderWriter:
                    opened = try .init(MigrationFixture.first, at: MigrationFixture.store, options)
                case .newerWriter:
                    guard !work.makesAnother, let newest = work.models().last else { return }
                    try MigrationFixture.with(newest, work.options(fileSystem)) {
                        try MigrationFixture.add(Self.name, to: $0)
                    }
                    hasAdded = true
                }
            } catch let error as CocoaError where Self.isRefusal(error) {
                // The store is being migrated, or has another model.
            } catch {
                failures.append("\(bystander.testDescription) got \(error)")
            }
        }

        private func look() throws {
            let models = work.makesAnother ? [MigrationFixture.first] : work.models()
            let seen = try MigrationFixture.look(fileSystem, at: MigrationFixture.store, models, readOnly: true)
            if seen.people != MigrationFixture.people { failures.append("a reader saw \(seen)") }
        }

        func end() {
            guard let opened else { return }
            do {
                try opened.perform { try MigrationFixture.add(Self.name, to: $0) }
                hasAdded = true
                try opened.close()
            } catch {
                failures.append("the store was taken from who had it: \(error)")
            }
        }

        private static func isRefusal(_ error: CocoaError) -> Bool {
            switch error.code {
            // Locked by another process.
            case .persistentStoreOpen: (error.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == .locked
            case .persistentStoreIncompatibleVersionHash: true
            default: false
            }
        }
    }
}
