import CoreData
import Foundation
import Strata
import StrataSupport
import StrataTestKit
import Testing

/// The least and the greatest text of an object's members, by columns, against the interpreter's.
@Suite struct MemberTextTests {
    private static let texts: [String?] = [
        "b", "a", nil, "", "é", "e\u{301}", "z", "B", "ab", "\u{10FFFF}", "a\u{0}", "日本",
    ]

    private static func model() -> NSManagedObjectModel {
        let (owner, tag, note) = (GraphModel.entity("Owner"), GraphModel.entity("Tag"), GraphModel.entity("Note"))
        let (tags, owners) = (
            GraphModel.relationship("tags", to: tag, toMany: true),
            GraphModel.relationship("owners", to: owner, toMany: true)
        )
        GraphModel.link(tags, owners)
        let (notes, of) = (
            GraphModel.relationship("notes", to: note, toMany: true), GraphModel.relationship("of", to: owner)
        )
        GraphModel.link(notes, of)
        let friends = GraphModel.relationship("friends", to: owner, toMany: true)
        friends.inverseRelationship = friends
        owner.properties = [
            GraphModel.attribute("number", .integer32AttributeType), GraphModel.attribute("name", .stringAttributeType),
            tags, notes, friends,
        ]
        tag.properties = [GraphModel.attribute("name", .stringAttributeType), owners]
        note.properties = [GraphModel.attribute("text", .stringAttributeType), of]
        let model = NSManagedObjectModel()
        model.entities = [owner, tag, note]
        return model
    }

    /// - Parameter isLong: whether some texts lie out of line.
    private static func filled(_ kind: StoreKind, isLong: Bool, _ random: inout SeededGenerator) throws -> TestStore {
        let store = try TestStore(kind, model())
        let context = store.context()
        func text() -> String? {
            if isLong, random.chance(0.1) { return String(repeating: "long \(random.below(9)) ", count: 12_000) }
            return texts[random.below(texts.count)]
        }
        try context.performAndWait {
            let tags = (0..<12).map { _ in insert("Tag", context).set(["name": text()]) }
            var owners: [NSManagedObject] = []
            for number in 0..<300 {
                let owner = insert("Owner", context).set(["number": number, "name": text()])
                owner.setValue(Set((0..<random.below(4)).map { _ in tags[random.below(12)] }), forKey: "tags")
                let notes = (0..<random.below(4)).map { _ in insert("Note", context).set(["text": text()]) }
                owner.setValue(Set(notes), forKey: "notes")
                if let friend = owners.randomElement(using: &random), random.chance(0.5) {
                    owner.setValue(Set([friend, owner]), forKey: "friends")
                }
                owners.append(owner)
            }
            try context.save()
        }
        return store
    }

    private static let paths = [
        "tags.@max.name", "tags.@min.name", "notes.@max.text", "notes.@min.text", "friends.@max.name",
        "friends.@min.name",
    ]

    @Test(arguments: StoreKind.allCases, [false, true]) func asTheInterpreter(_ kind: StoreKind, isLong: Bool) throws {
        var random = SeededGenerator(seed: isLong ? 11 : 12)
        let store = try Self.filled(kind, isLong: isLong, &random)
        let context = store.context()
        func compare<Result: Equatable>(_ text: String, _ body: () throws -> Result) throws {
            let expected = try CompiledExecution.setting.withValue(false) { try body() }
            #expect(try body() == expected, "\(text)")
        }
        try context.performAndWait {
            for path in Self.paths {
                for limit in [0, 7] {
                    let sorted = NSFetchRequest<NSManagedObject>(entityName: "Owner")
                    sorted.sortDescriptors = [
                        NSSortDescriptor(key: path, ascending: random.chance(0.5)),
                        NSSortDescriptor(key: "number", ascending: true),
                    ]
                    sorted.fetchLimit = limit
                    try compare("by \(path)") { try context.fetch(sorted).map(\.objectID) }
                    let rows = NSFetchRequest<NSDictionary>(entityName: "Owner")
                    rows.resultType = .dictionaryResultType
                    let column = NSExpressionDescription()
                    (column.name, column.expression) = ("text", NSExpression(format: path))
                    let length = NSExpressionDescription()
                    (length.name, length.expression) = ("length", NSExpression(format: "length(\(path))"))
                    rows.propertiesToFetch = ["number", column, length]
                    rows.fetchLimit = limit
                    try compare(path) { try context.fetch(rows) }
                }
                let groups = NSFetchRequest<NSDictionary>(entityName: "Owner")
                groups.resultType = .dictionaryResultType
                let count = NSExpressionDescription()
                (count.name, count.expression) = ("count", NSExpression(format: "count:(\(path))"))
                let least = NSExpressionDescription()
                (least.name, least.expression) = ("least", NSExpression(format: "min:(\(path))"))
                groups.propertiesToFetch = ["name", count, least]
                groups.propertiesToGroupBy = ["name"]
                try compare("\(path) by name") { Set(try context.fetch(groups)) }
                for condition in ["\(path) == 'b'", "\(path) > 'a'", "\(path) == nil", "\(path) BEGINSWITH 'e'"] {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
                    request.predicate = NSPredicate(format: condition)
                    try compare(condition) { try context.fetch(request).map(\.objectID) }
                }
            }
        }
    }
}
