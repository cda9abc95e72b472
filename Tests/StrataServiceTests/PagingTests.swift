import CoreData
import Foundation
import InMemoryTracing
import StrataService
import StrataTestKit
import Testing
import Tracing

@Suite struct PagingTests {
    private typealias IDs = [NSManagedObjectID]

    private static func ids(_ page: StrataPage<NSManagedObject>) -> IDs { page.elements.map(\.objectID) }

    /// To print long arrays takes the test library minutes.
    private static func expect(
        _ found: IDs, _ expected: IDs, _ sorts: [NSSortDescriptor] = [], location: SourceLocation = #_sourceLocation
    ) {
        let place = zip(found, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? min(found.count, expected.count)
        let isSame = found == expected
        #expect(
            isSame, "\(found.count) of \(expected.count), different from \(place) on, by \(sorts)",
            sourceLocation: location)
    }

    /// Keys and directions, as the generator has it.
    private static func order(
        _ keys: [String] = PagingFixture.keys, using random: inout SeededGenerator
    ) -> [NSSortDescriptor] {
        keys.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)).map {
            NSSortDescriptor(key: $0, ascending: Bool.random(using: &random))
        }
    }

    /// Goes through all pages; the cursors go through their texts, as in a URL.
    private static func walk(
        _ request: ServiceFixture.Request, _ context: NSManagedObjectContext, limit: Int,
        from start: StrataPageCursor? = nil, isForward: Bool = true
    ) throws -> [StrataPage<NSManagedObject>] {
        var pages = [try context.page(request, limit: limit, at: start)]
        while let cursor = isForward ? pages.last?.next : pages.last?.previous {
            let text = cursor.description
            #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
            let read: StrataPageCursor = try #require(StrataPageCursor(text))
            pages.append(try context.page(request, limit: limit, at: read))
            if pages.count > 1_000 { break }
        }
        return pages
    }

    @Test(arguments: 0..<5, [false, true])
    func pagesInBothDirectionsAreTheSortedFetch(_ seed: UInt64, onDisk: Bool) async throws {
        let fixture = try PagingFixture(onDisk: onDisk)
        try await fixture.perform { context in
            var random = SeededGenerator(seed: seed)
            PagingFixture.makeRelated(context)
            try PagingFixture.fill(Int.random(in: 0...400, using: &random), context, using: &random)
            try context.save()
            for _ in 0..<6 {
                let sorts = Self.order(using: &random)
                let predicate = Bool.random(using: &random) ? nil : NSPredicate(format: "small >= 0 OR flag == YES")
                let request = PagingFixture.request(sorts, predicate)
                let expected = try context.fetch(request).map(\.objectID)
                if Bool.random(using: &random) { context.reset() }
                let limit = Int.random(in: 1...70, using: &random)
                let pages = try Self.walk(request, context, limit: limit)
                Self.expect(pages.flatMap(Self.ids), expected, sorts)
                #expect(pages.dropLast().allSatisfy { $0.elements.count == limit }, "\(sorts)")
                #expect(pages.count == max(1, (expected.count + limit - 1) / limit), "\(sorts)")
                guard let last = pages.last, let before = last.previous else { continue }
                let back = try Self.walk(request, context, limit: limit, from: before, isForward: false)
                Self.expect(back.reversed().flatMap(Self.ids) + Self.ids(last), expected, sorts)
                #expect(back.dropLast().allSatisfy { $0.elements.count == limit }, "\(sorts)")
                // From the middle, forward again.
                if let cursor = back.first?.next {
                    #expect(Self.ids(try context.page(request, limit: limit, at: cursor)) == Self.ids(last), "\(sorts)")
                }
            }
        }
    }

    /// What stays is met once, whatever comes and goes between two pages, also what the cursor was made of.
    @Test(arguments: 0..<8, [true, false])
    func nothingThatStaysIsMissedOrMetTwice(_ seed: UInt64, isForward: Bool) async throws {
        let fixture = try PagingFixture()
        try await fixture.perform { context in
            var random = SeededGenerator(seed: seed &+ 100)
            PagingFixture.makeRelated(context)
            try PagingFixture.fill(300, context, using: &random)
            try context.save()
            // How many things an owner has changes with each that comes and goes: such a key does not stay.
            let keys = PagingFixture.keys.filter { $0 != "owner.things.@count" }
            let request = PagingFixture.request(Self.order(keys, using: &random))
            let first = try context.fetch(request).map(\.objectID)
            var cursor: StrataPageCursor?
            if !isForward {
                // The last page, and from there back.
                cursor = try Self.walk(request, context, limit: 17).last?.previous
                context.reset()
            }
            var met: IDs = []
            var deleted: Set<NSManagedObjectID> = []
            let other = fixture.container.newBackgroundContext()
            for _ in 0..<200 {
                let page = try context.page(request, limit: 17, at: cursor)
                met += isForward ? Self.ids(page) : Self.ids(page).reversed()
                let lasts = [page.elements.first?.objectID, page.elements.last?.objectID].compactMap(\.self)
                var generator = random
                deleted.formUnion(
                    try other.performAndWait {
                        try Self.disturb(other, lasts, using: &generator)
                    })
                random = generator
                guard let next = isForward ? page.next : page.previous else { break }
                cursor = next
            }
            let metOnce = Set(met).count
            #expect(metOnce == met.count)
            let stayed = first.filter { !deleted.contains($0) }
            let expected = isForward ? stayed : stayed.reversed()
            let known = Set(stayed)
            let seen = met.filter { known.contains($0) }
            // Backwards, the last page of the beginning is not gone through.
            let part = isForward ? expected[...] : expected.suffix(seen.count)
            Self.expect(seen, Array(part), request.sortDescriptors ?? [])
            #expect(seen.count > 100)
        }
    }

    /// Deletes a few things, sometimes those that the cursors stand on, and inserts others.
    private static func disturb(
        _ context: NSManagedObjectContext, _ edges: IDs, using random: inout SeededGenerator
    ) throws -> IDs {
        var gone: IDs = []
        let all = try context.fetch(PagingFixture.request([])).map(\.objectID)
        let victims = all.shuffled(using: &random).prefix(3) + edges.filter { _ in Bool.random(using: &random) }
        for id in Set(victims) {
            context.delete(context.object(with: id))
            gone.append(id)
        }
        try PagingFixture.fill(4, context, using: &random)
        try context.save()
        return gone
    }

    @Test(arguments: [true, false], [true, false])
    func manyEqualObjectsAreGoneThroughInTheOrderOfTheirCreation(isAscending: Bool, isForward: Bool) async throws {
        let fixture = try PagingFixture(onDisk: true)
        try await fixture.perform { context in
            for number in 0..<3_000 {
                let thing = NSEntityDescription.insertNewObject(forEntityName: "Plain", into: context)
                thing.setValue(number % 3 == 0 ? nil : number % 3 == 1, forKey: "flag")
            }
            try context.save()
            let request = PagingFixture.request([NSSortDescriptor(key: "flag", ascending: isAscending)])
            let expected = try context.fetch(request).map(\.objectID)
            let pages = try Self.walk(request, context, limit: 131)
            Self.expect(pages.flatMap(Self.ids), expected)
            let last = try #require(pages.last)
            let back = try Self.walk(request, context, limit: 131, from: last.previous, isForward: false)
            Self.expect(back.reversed().flatMap(Self.ids) + Self.ids(last), expected)
        }
    }

    @Test func anEmptyPageLeadsBackToWhatWasThere() async throws {
        let fixture = try PagingFixture()
        try await fixture.perform { context in
            for number in 0..<6 {
                NSEntityDescription.insertNewObject(forEntityName: "Plain", into: context)
                    .setValue(number, forKey: "small")
            }
            try context.save()
            let request = PagingFixture.request([NSSortDescriptor(key: "small", ascending: true)])
            let all = try context.fetch(request)
            let first = try context.page(request, limit: 3)
            for object in all[3...] { context.delete(object) }
            try context.save()
            let empty = try context.page(request, limit: 3, at: first.next)
            #expect(empty.elements.isEmpty && empty.next == nil)
            let back = try context.page(request, limit: 3, at: empty.previous)
            #expect(back.elements == Array(all[..<3]) && back.previous == nil)
            // Nothing before the first: what was at the place is in front again.
            let none = try context.page(
                request, limit: 3, at: try context.page(request, limit: 2, at: back.next).previous)
            #expect(none.elements == Array(all[..<3]))
        }
    }

    /// A context's own changes count, and an object that was in memory before is where its newest row says.
    @Test func unsavedAndForeignChangesHaveTheirPlace() async throws {
        let fixture = try PagingFixture()
        try await fixture.perform { context in
            for number in 0..<6 {
                NSEntityDescription.insertNewObject(forEntityName: "Plain", into: context)
                    .setValue(number * 10, forKey: "large")
            }
            try context.save()
            let request = PagingFixture.request([NSSortDescriptor(key: "large", ascending: true)])
            let all = try context.fetch(request)
            #expect(all.map { $0.value(forKey: "large") as? Int } == [0, 10, 20, 30, 40, 50])
            let id = all[0].objectID
            let other = fixture.container.newBackgroundContext()
            try other.performAndWait {
                other.object(with: id).setValue(25, forKey: "large")
                try other.save()
            }
            #expect(all[0].value(forKey: "large") as? Int == 0)
            // 10, 20, 25: the last has 0 in memory, and the next page would begin before it.
            let first = try context.page(request, limit: 3)
            #expect(first.elements == [all[1], all[2], all[0]])
            all[5].setValue(27, forKey: "large")
            let second = try context.page(request, limit: 1, at: first.next)
            #expect(second.elements == [all[5]])
            #expect(try context.page(request, limit: 9, at: second.next).elements == [all[3], all[4]])
            let new = NSEntityDescription.insertNewObject(forEntityName: "Plain", into: context)
            new.setValue(5, forKey: "large")
            #expect(try context.page(request, limit: 9).elements.first == new)
            #expect(context.queryGenerationToken == nil)
            let error = #expect(throws: StrataPageError.self) { try context.page(request, limit: 1) }
            #expect(error?.code == .unsavedObject)
            #expect(context.queryGenerationToken == nil)
        }
    }

    // MARK: Errors

    private static func sort(_ key: String, _ selector: String? = nil) -> NSSortDescriptor {
        NSSortDescriptor(key: key, ascending: true, selector: selector.map { Selector($0) })
    }

    @Test(arguments: [
        "passing", "shape", "owner", "tags", "tags.things.@count", "place", "place.street", "SELF", "objectID", "none",
        "owner.none", "text.length", "tags.@avg.x",
    ])
    func whatCannotBeSortedByInPagesIsNamed(_ key: String) async throws {
        let fixture = try PagingFixture()
        try await fixture.perform { context in
            let request = PagingFixture.request([Self.sort(key)])
            let error = #expect(throws: StrataPageError.self) { try context.page(request, limit: 3) }
            #expect(error?.code == .unsupportedOrder)
            #expect(error?.message.contains("\"\(key)\"") == true && error?.message.contains("Thing") == true)
        }
    }

    @Test(arguments: ["caseInsensitiveCompare:", "localizedCompare:", "localizedStandardCompare:"])
    func ordersThatNoPredicateSaysAreRefused(_ selector: String) async throws {
        let fixture = try PagingFixture()
        try await fixture.perform { context in
            let error = #expect(throws: StrataPageError.self) {
                try context.page(PagingFixture.request([Self.sort("text", selector)]), limit: 3)
            }
            #expect(error?.code == .unsupportedOrder && error?.message.contains(selector) == true)
            let block = NSSortDescriptor(key: "text", ascending: true) { _, _ in .orderedSame }
            let other = #expect(throws: StrataPageError.self) {
                try context.page(PagingFixture.request([block]), limit: 3)
            }
            #expect(other?.message.contains("comparator") == true)
            // What compare: says, a predicate says, too.
            #expect(throws: Never.self) {
                try context.page(PagingFixture.request([Self.sort("text", "compare:")]), limit: 3)
            }
        }
    }

    @Test func cursorsOfOtherRequestsAreRefused() async throws {
        let (fixture, stranger) = (try PagingFixture(), try PagingFixture())
        let cursor = try await fixture.perform { context in
            for _ in 0..<3 { _ = NSEntityDescription.insertNewObject(forEntityName: "Plain", into: context) }
            try context.save()
            return try #require(try context.page(PagingFixture.request([Self.sort("text")]), limit: 1).next)
        }
        func code(
            _ fixture: PagingFixture, _ cursor: StrataPageCursor,
            _ change: @escaping @Sendable (ServiceFixture.Request) -> Void
        ) async throws -> StrataPageError.Code? {
            try await fixture.perform { context in
                let request = PagingFixture.request([Self.sort("text")])
                change(request)
                do {
                    _ = try context.page(request, limit: 1, at: cursor)
                    return nil
                } catch let error as StrataPageError {
                    #expect(error.message.contains("Thing") || error.message.contains("Plain"))
                    return error.code
                }
            }
        }
        #expect(try await code(fixture, cursor) { _ in } == nil)
        #expect(try await code(fixture, cursor) { $0.predicate = NSPredicate(format: "small == 1") } == nil)
        #expect(
            try await code(fixture, cursor) {
                $0.sortDescriptors = [NSSortDescriptor(key: "text", ascending: false)]
            } == .foreignCursor)
        #expect(try await code(fixture, cursor) { $0.sortDescriptors = [Self.sort("small")] } == .foreignCursor)
        #expect(try await code(fixture, cursor) { $0.sortDescriptors = [] } == .foreignCursor)
        #expect(
            try await code(fixture, cursor) {
                $0.entity = NSEntityDescription.entity(forEntityName: "Plain", in: fixture.container.viewContext)
            } == .foreignCursor)
        #expect(try await code(stranger, cursor) { _ in } == .foreignCursor)
        // A changed text is refused, or stands for a place: it never traps.
        var random = SeededGenerator(seed: 3)
        for _ in 0..<2_000 {
            var bytes = Array(cursor.description.utf8)
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = alphabet.randomElement(using: &random) ?? 65
            case 1: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
            default: bytes += (0..<4).map { _ in alphabet.randomElement(using: &random) ?? 65 }
            }
            guard let changed = StrataPageCursor(String(decoding: bytes, as: UTF8.self)), changed != cursor else {
                continue
            }
            let found = try await code(fixture, changed) { _ in }
            #expect([nil, .foreignCursor, .damagedCursor].contains(found))
        }
    }

    @Test(arguments: ["", "A", "AQE", "====", "aGVsbG8", String(repeating: "A", count: 100_000)])
    func textsThatAreNoCursorsAreRefused(_ text: String) {
        #expect(StrataPageCursor(text) == nil)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([StrataPageCursor].self, from: JSONEncoder().encode([text]))
        }
    }

    @Test func requestsThatArePagesAlreadyAreRefused() async throws {
        let fixture = try PagingFixture()
        try await fixture.perform { context in
            func code(_ limit: Int = 1, _ change: (ServiceFixture.Request) -> Void = { _ in }) -> StrataPageError.Code?
            {
                let request = PagingFixture.request([])
                change(request)
                return #expect(throws: StrataPageError.self) { try context.page(request, limit: limit) }?.code
            }
            #expect(code { $0.fetchOffset = 3 } == .unsupportedRequest)
            #expect(code { $0.fetchLimit = 3 } == .unsupportedRequest)
            #expect(code { $0.resultType = .countResultType } == .unsupportedRequest)
            #expect(code(0) == .invalidLimit && code(-1) == .invalidLimit && code(Int.max) == .invalidLimit)
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = context
            child.performAndWait {
                let error = #expect(throws: StrataPageError.self) {
                    try child.page(PagingFixture.request([]), limit: 1)
                }
                #expect(error?.code == .unsupportedStore)
            }
            let long = NSEntityDescription.insertNewObject(forEntityName: "Plain", into: context)
            long.setValue(String(repeating: "x", count: 60_000), forKey: "text")
            _ = NSEntityDescription.insertNewObject(forEntityName: "Plain", into: context)
            try context.save()
            let request = PagingFixture.request([NSSortDescriptor(key: "text", ascending: false)])
            let error = #expect(throws: StrataPageError.self) { try context.page(request, limit: 1) }
            #expect(error?.code == .valueTooLong && error?.message.contains("text descending") == true)
            #expect(try context.page(request, limit: 2).elements.first == long)
        }
    }

    // MARK: Cost

    /// A page deep in many objects is answered by the index that has the order, without testing a row.
    @Test func anIndexAnswersDeepPages() async throws {
        let fixture = try PagingFixture(onDisk: true)
        let tracer = InMemoryTracer()
        try await fixture.perform { context in
            for number in 0..<4_000 {
                let thing = NSEntityDescription.insertNewObject(forEntityName: "Plain", into: context)
                thing.setValue("t\(number % 40)", forKey: "text")
                thing.setValue(number / 80, forKey: "small")
            }
            try context.save()
        }
        try await fixture.perform { context in
            let sorts = [Self.sort("text"), NSSortDescriptor(key: "small", ascending: false)]
            let request = PagingFixture.request(sorts)
            let cursor = try #require(try context.page(request, limit: 2_000).next)
            var options = StrataTelemetry.Options()
            options.tracer = tracer
            let telemetry = StrataTelemetry.start(options)
            defer { telemetry.stop() }
            let page = try context.page(request, limit: 20, at: cursor)
            #expect(page.elements.count == 20)
        }
        // Telemetry hears of every store of the process.
        let spans = tracer.finishedSpans.filter {
            $0.operationName == "fetch Thing" && $0.attributes.get("db.namespace") == .string(fixture.storeName)
        }
        #expect((1...4).contains(spans.count))
        for span in spans {
            guard case .string(let plan)? = span.attributes.get("strata.plan") else {
                Issue.record("no plan")
                continue
            }
            #expect(plan.contains("byTextAndSmall"), "\(plan)")
        }
    }

    @Test func aPageIsAValueForAnswers() throws {
        let page = StrataPage(elements: [1, 2]).map { "\($0)" }
        #expect(page == StrataPage(elements: ["1", "2"]))
        let json = String(decoding: try JSONEncoder().encode(page), as: UTF8.self)
        #expect(json == #"{"elements":["1","2"]}"#)
    }
}
