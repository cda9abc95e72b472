import CoreData
import DebianIndex
import Foundation
import Testing

@testable import PackageGraph

@Suite("The graph")
struct GraphTests {
    /// Imports an index into a store of its own and lets `body` use it through a second container.
    private func withImported(
        _ index: PackageIndex, batchSize: Int = 1_000,
        _ body: @escaping @Sendable (NSManagedObjectContext, Importer.Outcome) throws -> Void
    ) async throws {
        let place = try StoreLocation(path: nil)
        defer { place.removeIfTemporary() }
        let writing = try GraphStore(at: place.url)
        let importing = writing.container.newBackgroundContext()
        let outcome = try await importing.perform {
            var importer = Importer(context: importing, batchSize: batchSize) { _ in }
            return try importer.run(index)
        }
        try writing.close()
        let reading = try GraphStore(at: place.url)
        let context = reading.container.newBackgroundContext()
        try await context.perform { try body(context, outcome) }
        try reading.close()
        #expect(place.byteCount() > 0)
    }

    private func read(_ text: String) throws -> PackageIndex {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("packages-\(UUID().uuidString)")
        try Data(text.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try PackageIndex.read([url.path])
    }

    @Test("Everything in the index is in the store, whatever the batches", arguments: [1, 7, 100, 1_000_000])
    func importsEverything(batchSize: Int) async throws {
        let index = try read(
            """
            Package: a
            Version: 1:2-3
            Architecture: amd64
            Priority: optional
            Source: src
            Homepage: https://example.org/
            Description: an example
            Filename: pool/a.deb
            Installed-Size: 5000000000
            Size: 6000000000
            Essential: yes
            Maintainer: Ann Example <ann@example.org>
            Section: libs
            Depends: b:any (>= 1) | c, nowhere (<< 4)

            Package: b
            Version: 1
            Maintainer: Ann Example <ann@example.org>
            Provides: c
            """)
        try await withImported(index, batchSize: batchSize) { context, outcome in
            #expect(outcome.objectCount == index.objectCount)
            // Each entity is inserted in batches of its own.
            let counts = [
                index.sections.count, index.maintainers.count, index.packages.count, index.dependencies.count,
            ]
            #expect(outcome.saveCount == counts.reduce(0) { $0 + ($1 + batchSize - 1) / batchSize })
            let questions = Questions(context: context)
            let a = try #require(try questions.package(named: "a"))
            let b = try #require(try questions.package(named: "b"))
            let c = try #require(try questions.package(named: "c"))
            #expect(a.version == "1:2-3" && a.architecture == "amd64" && a.priority == "optional" && a.source == "src")
            #expect(a.homepage == "https://example.org/" && a.summary == "an example" && a.fileName == "pool/a.deb")
            #expect(a.installedSizeKiB == 5_000_000_000 && a.downloadSizeBytes == 6_000_000_000 && a.isEssential)
            #expect(!a.isVirtual && b.priority == nil && !b.isEssential)
            #expect(c.isVirtual && c.version == nil && c.maintainer == nil)
            #expect(a.section?.name == "libs" && a.section?.packages == [a] && b.section == nil)
            #expect(a.maintainer?.name == "Ann Example" && a.maintainer?.email == "ann@example.org")
            #expect(a.maintainer?.packages == [a, b])
            let found = a.dependencies.sorted { ($0.group, $0.alternative) < ($1.group, $1.alternative) }
            #expect(found.map(\.target) == [b, c, nil])
            #expect(found.map(\.unresolvedName) == [nil, nil, "nowhere"])
            #expect(found.map(\.kind) == [.depends, .depends, .depends])
            #expect(found.map(\.relation) == [.laterOrEqual, .any, .earlier])
            #expect(found.map(\.version) == ["1", nil, "4"])
            #expect(found.map(\.qualifier) == ["any", nil, nil])
            #expect(found.allSatisfy { $0.package == a })
            #expect(b.dependents == [found[0]] && c.dependents.count == 2)
            #expect(try questions.package(named: "nowhere") == nil)
        }
    }

    @Test("The sample: counts, history and objects agree")
    func agreesWithHistory() async throws {
        let index = try PackageIndex.read(IndexSource.sample.paths)
        try await withImported(index, batchSize: 100) { context, outcome in
            let counts = try Questions(context: context).counts()
            #expect(counts["Package"] == index.packages.count)
            #expect(counts["Dependency"] == index.dependencies.count)
            #expect(counts["Maintainer"] == index.maintainers.count)
            #expect(counts["Section"] == index.sections.count)
            let replay = try HistoryReplay(context)
            #expect(replay.counts == counts)
            #expect(replay.transactionCount == outcome.saveCount)
            // A package that others refer to is not changed by that.
            #expect(replay.changeCount == index.objectCount)
            for package in try context.fetch(NSFetchRequest<Package>(entityName: "Package")) {
                #expect(package.dependencies.allSatisfy { $0.package == package })
                #expect(package.dependents.allSatisfy { $0.target == package })
            }
            try HistoryCheck(context: context).print()
        }
    }

    @Test("The closure takes first alternatives, first providers by name, and each package once")
    func closes() async throws {
        let index = try read(
            """
            Package: root
            Version: 1
            Pre-Depends: early
            Depends: gone | second | third, virtual, cycle
            Recommends: unwanted

            Package: second
            Version: 1

            Package: third
            Version: 1

            Package: zprovider
            Version: 1
            Provides: virtual

            Package: aprovider
            Version: 1
            Provides: virtual
            Depends: deep

            Package: cycle
            Version: 1
            Depends: root, second

            Package: early
            Version: 1

            Package: deep
            Version: 1

            Package: unwanted
            Version: 1
            """)
        try await withImported(index) { context, _ in
            let questions = Questions(context: context)
            let root = try #require(try questions.package(named: "root"))
            let names = questions.installationSet(of: root).map(\.name)
            #expect(names == ["root", "early", "second", "aprovider", "cycle", "deep"])
        }
    }

    @Test("Most needed counts each needing package once; maintainers are weighed")
    func ranks() async throws {
        let index = try read(
            """
            Package: lib
            Version: 1
            Maintainer: A
            Installed-Size: 10

            Package: tool
            Version: 1
            Maintainer: B
            Installed-Size: 5
            Depends: lib (>= 1), lib (<< 2), tool2

            Package: tool2
            Version: 1
            Maintainer: B
            Installed-Size: 4
            Pre-Depends: lib
            Suggests: tool
            """)
        try await withImported(index) { context, _ in
            let questions = Questions(context: context)
            let needed = try questions.mostNeeded(limit: 5)
            #expect(needed.map(\.package.name) == ["lib", "tool2"])
            #expect(needed.map(\.count) == [2, 1])
            #expect(try questions.busiestMaintainers(limit: 1).map(\.maintainer.name) == ["B"])
            let heaviest = try questions.heaviestMaintainers(limit: 2)
            #expect(heaviest.map(\.maintainer.name) == ["A", "B"])
            #expect(heaviest.map(\.installedSizeKiB) == [10, 9])
        }
    }

    @Test("A store that exists is not overwritten, and a place that cannot take one is an error")
    func refusesPlaces() throws {
        let place = try StoreLocation(path: nil)
        defer { place.removeIfTemporary() }
        let folder = place.url.deletingLastPathComponent()
        #expect(throws: StoreLocation.PlaceError.self) { try StoreLocation(path: folder.path) }
        let impossible = URL(fileURLWithPath: "/dev/full/store")
        #expect(throws: GraphStore.OpenError.self) { try GraphStore(at: impossible) }
    }

    @Test("The subject: asked for, unknown with near names, or chosen")
    func choosesSubject() throws {
        let sample = try PackageIndex.read(IndexSource.sample.paths)
        #expect(try Subject.choose("bash", in: sample) == "bash")
        #expect(try Subject.choose(nil, in: sample) == "build-essential")
        do {
            _ = try Subject.choose("bsah", in: sample)
            Issue.record("an unknown package was chosen")
        } catch {
            #expect("\(error)".contains("bash"))
        }
        let other = try read("Package: a\nVersion: 1\n\nPackage: b\nVersion: 1\nDepends: a, c\n")
        #expect(try Subject.choose(nil, in: other) == "b")
    }
}
