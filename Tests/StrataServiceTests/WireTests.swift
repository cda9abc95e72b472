import CoreData
import Foundation
import ServiceLifecycle
import StrataTestKit
import Testing

@testable import StrataService

@Suite struct WireTests {
    @Test func aReferenceLeadsToTheObjectOfItsStoreOnly() async throws {
        let (fixture, other) = (try ServiceFixture(), try ServiceFixture())
        let (entity, coordinator) = (fixture.entity, fixture.container.persistentStoreCoordinator)
        let context = fixture.container.newBackgroundContext()
        let (id, temporary) = try await context.perform { () throws -> (NSManagedObjectID, StrataObjectReference?) in
            ServiceFixture.add(1, entity, context)
            let temporary = context.insertedObjects.first.map { StrataObjectReference($0.objectID) } ?? nil
            try context.save()
            return (try #require(try context.fetch(ServiceFixture.request(entity)).first).objectID, temporary)
        }
        #expect(temporary == nil)
        let reference = try #require(StrataObjectReference(id))
        #expect(reference.description.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
        let json = try JSONEncoder().encode(["id": reference])
        let read = try JSONDecoder().decode([String: StrataObjectReference].self, from: json)
        #expect(read["id"] == reference && StrataObjectReference(reference.description) == reference)
        #expect(reference.objectID(in: coordinator) == id)
        #expect(reference.objectID(in: other.container.persistentStoreCoordinator) == nil)
    }

    @Test(arguments: ["", "x", "%%%%", "aGVsbG8", "aGVsbG8=", "YS9iL2M+", String(repeating: "A", count: 100_000)])
    func textsFromOutsideThatAreNoneAreRefused(_ text: String) {
        #expect(StrataObjectReference(text) == nil)
        #expect(NSPersistentHistoryToken.urlSafe(text) == nil)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([StrataObjectReference].self, from: JSONEncoder().encode([text]))
        }
    }

    /// By way of Foundation's Base64.
    private enum Standard {
        static func encoded(_ bytes: [UInt8]) -> String {
            Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }

        /// Nil for what ``encoded(_:)`` does not make.
        static func decoded(_ text: String) -> [UInt8]? {
            var padded = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            while !padded.utf8.count.isMultiple(of: 4) { padded += "=" }
            return Data(base64Encoded: padded).map { [UInt8]($0) }.flatMap { encoded($0) == text ? $0 : nil }
        }
    }

    @Test(arguments: 0..<100) func bytesAreBase64ForURLs(_ count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(URLSafeText.encoded(bytes) == Standard.encoded(bytes))
        #expect(URLSafeText.decoded(Standard.encoded(bytes)) == bytes)
    }

    /// All texts of up to three bytes out of some, beside a whole group and without one.
    @Test(arguments: ["", "AbC9"]) func oneTextStandsForOneValue(_ prefix: String) {
        let characters = "AQgw15BRCE-_9z+/= %é".unicodeScalars.map { String($0) }
        let twos = characters.flatMap { first in characters.map { first + $0 } }
        let threes = twos.flatMap { first in characters.map { first + $0 } }
        let wrong = ([""] + characters + twos + threes).map { prefix + $0 }
            .filter { URLSafeText.decoded($0) != Standard.decoded($0) }
        #expect(wrong.isEmpty)
    }

    /// What a client of server-sent events does: it goes on after the last event that it has seen.
    @Test func changesGoOnAfterATokenFromOutside() async throws {
        let fixture = try ServiceFixture()
        let (entity, coordinator) = (fixture.entity, fixture.container.persistentStoreCoordinator)
        let pool = fixture.pool
        for _ in 0..<3 { try await pool.withContext(.writing) { ServiceFixture.add(1, entity, $0) } }
        var seen: [Int64] = []
        var last = ""
        for try await transaction in coordinator.persistentHistory(after: nil).cancelOnGracefulShutdown() {
            seen.append(transaction.transactionNumber)
            last = transaction.token.urlSafeString
            if seen.count == 2 { break }
        }
        let token = try #require(NSPersistentHistoryToken.urlSafe(last))
        for try await transaction in coordinator.persistentHistory(after: token) {
            seen.append(transaction.transactionNumber)
            break
        }
        #expect(seen.count == 3 && Set(seen).count == 3 && seen == seen.sorted())
    }

    /// What a service asks before it answers with a stream: afterwards there is no status to say it with.
    @Test func aTokenOfDeletedHistoryHasExpired() async throws {
        let fixture = try ServiceFixture()
        let (entity, coordinator) = (fixture.entity, fixture.container.persistentStoreCoordinator)
        let pool = fixture.pool
        var tokens: [NSPersistentHistoryToken?] = []
        for _ in 0..<3 {
            try await pool.withContext(.writing) { ServiceFixture.add(1, entity, $0) }
            tokens.append(coordinator.currentPersistentHistoryToken(fromStores: nil))
        }
        func code(_ token: NSPersistentHistoryToken?) async throws -> Int? {
            try await pool.withContext(.reading) { context in
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                request.resultType = .count
                do {
                    _ = try context.execute(request)
                    return nil
                } catch let error as CocoaError {
                    return error.code.rawValue
                }
            }
        }
        #expect(try await code(tokens[0]) == nil)
        let last = tokens[2]
        try await pool.withContext(.writing) { context in
            _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: last))
        }
        #expect(try await code(tokens[0]) == NSPersistentHistoryTokenExpiredError)
        #expect(try await code(last) == nil)
    }
}
