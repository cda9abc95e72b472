import StrataTestKit
import Synchronization
import Testing

@testable import StrataLog

/// The newest version, as the engine publishes it.
private final class Published<Version: Sendable>: Sendable {
    private let version: Mutex<Version>
    private let done = Atomic<Bool>(false)

    init(_ version: Version) {
        self.version = Mutex(version)
    }

    var newest: Version { version.withLock { $0 } }

    var isDone: Bool { done.load(ordering: .relaxed) }

    func finish() { done.store(true, ordering: .relaxed) }

    func publish(_ next: Version) { version.withLock { $0 = next } }
}

@Suite struct IndexConcurrencyTests {
    /// Every version gives all keys of a group the same location: a reader that sees two has seen a mixture.
    @Test func readersSeeWholeVersionsWhileNewOnesAreMade() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        let groups: UInt64 = 50
        let keysPerGroup: UInt64 = 40
        let first = IndexEdit(base: ObjectIndex())
        for key in 0..<(groups * keysPerGroup) {
            first.set(key * 17 + 1, Location(segment: 1, byteOffset: 64, row: 0))
        }
        let sink = IndexTestSink()
        let section = try (try first.finish()).encode(into: sink)
        // From a file, so that pages are loaded by several threads at a time.
        let opened = try ObjectIndex.load(section, from: IndexTestSource(sink.bytes))
        let lineage = opened.pages.lineage
        let published = Published(opened)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for reader in 0..<4 {
                tasks.addTask {
                    var random = SeededGenerator(seed: seed &+ UInt64(reader))
                    while !published.isDone {
                        let index = published.newest
                        for _ in 0..<5 {
                            let group = UInt64.random(in: 0..<groups, using: &random)
                            let place = try index.location(of: group * 17 + 1)
                            for member in 1..<keysPerGroup {
                                let key = (group + member * groups) * 17 + 1
                                #expect(try index.location(of: key) == place, "seed \(seed)")
                            }
                        }
                        await Task.yield()
                    }
                }
            }
            tasks.addTask {
                var random = SeededGenerator(seed: seed &+ 99)
                for version in 1...300 {
                    let edit = IndexEdit(base: published.newest)
                    for _ in 0..<3 {
                        let group = UInt64.random(in: 0..<groups, using: &random)
                        for member in 0..<keysPerGroup {
                            edit.set(
                                (group + member * groups) * 17 + 1,
                                Location(segment: 2, byteOffset: version * 64, row: Int(group)))
                        }
                    }
                    let next = try edit.finish()
                    published.publish(next)
                    if version % 50 == 0 { await Task.yield() }
                }
                published.finish()
            }
            try await tasks.waitForAll()
        }
        let last = published.newest
        #expect(lineage.liveNodes.load(ordering: .relaxed) >= last.reachableNodeCount)
    }

    @Test func postingsAreReadWhileNewVersionsAreMade() async throws {
        let target = ObjectRef(entity: 1, key: 7)
        func child(_ key: Int) -> ObjectRef { ObjectRef(entity: 2, key: UInt64(key)) }
        let sink = IndexTestSink()
        let first = Postings().adding((1...2000).map { PostingChange(target: target, referrer: child($0)) })
        let section = try first.encode(into: sink)
        let published = Published(try Postings.load(section, from: IndexTestSource(sink.bytes)))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for _ in 0..<4 {
                tasks.addTask {
                    while !published.isDone {
                        let postings = published.newest
                        let children = try postings.referrers(of: target)
                        #expect(children.count == (try postings.count(of: target)))
                        #expect(children.count == children.last.map { Int($0.key) } ?? 0)
                        await Task.yield()
                    }
                }
            }
            tasks.addTask {
                for version in 1...300 {
                    let postings = published.newest
                    let next = postings.adding([PostingChange(target: target, referrer: child(2000 + version))])
                    published.publish(next)
                    if version % 10 == 0 { await Task.yield() }
                }
                published.finish()
            }
            try await tasks.waitForAll()
        }
        #expect(try published.newest.count(of: target) == 2300)
    }
}
