import CoreData
import Foundation
import StrataTestKit
import Testing

@testable import StrataTransfer

/// Files in Core Data's layout of random models: everything that is in them comes in.
///
/// A debug build looks at some, a release build at a thousand.
@Suite struct ImportSweepRandomFilesTests {
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test func everythingInARandomFileComesIn() throws {
        let seed =
            ProcessInfo.processInfo.environment["STRATA_SEED"].flatMap { UInt64($0) }
            ?? UInt64.random(in: 0...UInt64.max)
        let count = BuildMode.isDebug ? 15 : 400
        var values = 0
        for round in 0..<UInt64(count) {
            let own = seed &+ round
            do {
                values += try compare(own)
            } catch {
                Issue.record("STRATA_SEED=\(own): \(error) \((error as NSError).localizedDescription)")
            }
        }
        #expect(values > 10 * count, "seed \(seed)")
    }

    /// Of a self-relationship `title` and `title1` the columns are Z_3TITLE1 and Z_3TITLE11 where another has Z_3TITLE.
    @Test func aRelationshipCalledAsAnotherOnesNumberedColumnComesIn() throws {
        #expect(try compare(6_968_597_288_797_274_998) > 0)
    }

    /// - Returns: how many values there were.
    private func compare(_ seed: UInt64) throws -> Int {
        var random = SeededGenerator(seed: seed)
        let model = RandomAppleModel(&random)
        let origin = RandomAppleFile(model, &random)
        let file = scratch.url("\(seed).sqlite")
        let store = scratch.url("\(seed)")
        try origin.write(to: file) { Deflated.stored($0) }
        let report = try CoreDataImporter(file).run(to: store)
        #expect(report.objects == origin.expected.count, "STRATA_SEED=\(seed)")
        let found = try contents(of: store)
        for (end, values) in origin.expected.sorted(by: { $0.key < $1.key }) {
            let own = found[end]
            for name in Set(values.keys).union(own?.keys.map { $0 } ?? []).sorted() {
                let (wanted, got) = (values[name], own?[name])
                let isEqual = wanted.map { Array($0.utf8) } == got.map { Array($0.utf8) }
                #expect(isEqual, "STRATA_SEED=\(seed): \(end).\(name) is \(got ?? "nil"), not \(wanted ?? "nil")")
            }
        }
        #expect(found.count == origin.expected.count, "STRATA_SEED=\(seed)")
        try FileManager.default.removeItem(at: file)
        try FileManager.default.removeItem(at: store)
        return origin.expected.values.reduce(0) { $0 + $1.count }
    }

    /// By the end of an object's URI, what is not nil.
    private func contents(of url: URL) throws -> [String: [String: String]] {
        let model = try NSManagedObjectModel(storedAt: url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSReadOnlyPersistentStoreOption: true])
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            var found: [String: [String: String]] = [:]
            for entity in model.entities where !entity.isAbstract {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.includesSubentities = false
                for object in try context.fetch(request) { found[Self.end(object)] = Self.values(of: object) }
            }
            return found
        }
    }

    private static func end(_ object: NSManagedObject) -> String {
        "\(object.entity.name ?? "")/\(object.objectID.uriRepresentation().lastPathComponent)"
    }

    private static func values(of object: NSManagedObject) -> [String: String] {
        var values: [String: String] = [:]
        for (name, attribute) in object.entity.attributesByName {
            add(object.value(forKey: name), attribute, name, &values)
        }
        for (name, relationship) in object.entity.relationshipsByName {
            switch object.value(forKey: name) {
            case let set as NSOrderedSet where set.count > 0:
                values[name] = set.array.compactMap { ($0 as? NSManagedObject).map(end) }.joined(separator: " ")
            case let set as Set<NSManagedObject> where !set.isEmpty:
                values[name] = set.map(end).sorted().joined(separator: " ")
            case let other as NSManagedObject where !relationship.isToMany: values[name] = end(other)
            default: break
            }
        }
        return values
    }

    private static func add(
        _ value: Any?, _ attribute: NSAttributeDescription, _ path: String, _ values: inout [String: String]
    ) {
        if let composite = attribute as? NSCompositeAttributeDescription {
            let parts = value as? [String: Any] ?? [:]
            for element in composite.elements { add(parts[element.name], element, path + "." + element.name, &values) }
            return
        }
        switch (attribute.attributeType, value) {
        case (_, nil), (_, is NSNull): break
        case (.floatAttributeType, let number as NSNumber): values[path] = "\(number.floatValue)"
        case (.doubleAttributeType, let number as NSNumber): values[path] = "\(number.doubleValue)"
        case (.booleanAttributeType, let number as NSNumber): values[path] = number.boolValue ? "1" : "0"
        case (.decimalAttributeType, let number as NSDecimalNumber): values[path] = "\(number.decimalValue)"
        case (_, let number as NSNumber): values[path] = "\(number.int64Value)"
        case (_, let text as String): values[path] = text
        case (_, let date as Date): values[path] = "\(date.timeIntervalSinceReferenceDate)"
        case (_, let data as Data): values[path] = data.base64EncodedString()
        case (_, let uuid as UUID): values[path] = uuid.uuidString
        case (_, let url as URL): values[path] = url.absoluteString
        case (_, let other?): values[path] = "\(other)"
        }
    }
}

/// Deflate without compression.
enum Deflated {
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 60_000) {
            let part = bytes[start..<min(start + 60_000, bytes.count)]
            let count = UInt16(part.count)
            result += [part.endIndex == bytes.count ? 1 : 0, UInt8(count & 0xFF), UInt8(count >> 8)]
            result += [UInt8(~count & 0xFF), UInt8(~count >> 8)] + part
        }
        return result
    }
}
