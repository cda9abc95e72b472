import CoreData
import Foundation
import Testing

/// One-to-one relationships in a child context: a partner is deleted, and another one takes its place.
@Suite struct DeletedPartnerTests {
    private static func model() -> NSManagedObjectModel {
        let half = GraphModel.entity("Half")
        let (right, left) = (
            GraphModel.relationship("right", to: half), GraphModel.relationship("left", to: half)
        )
        GraphModel.link(right, left)
        half.properties = [GraphModel.attribute("name", .stringAttributeType), right, left]
        let model = NSManagedObjectModel()
        model.entities = [half]
        return model
    }

    private static func make(_ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let half = insert("Half", context)
        half.setValue(name, forKey: "name")
        return half
    }

    private static func name(_ half: NSManagedObject?, _ key: String) -> String? {
        (half?.value(forKey: key) as? NSManagedObject)?.value(forKey: "name") as? String
    }

    /// What the partner is in the end: one that the child has made, the object itself, or the one that it was before.
    private enum Last: CaseIterable {
        case new, itself, former
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func theLastPartnerStays(_ kind: StoreKind, _ isSavedFirst: Bool) throws {
        for last in Last.allCases {
            for key in ["right", "left"] {
                let store = try TestStore(kind, Self.model())
                let parent = store.context()
                let ids = try parent.performAndWait {
                    let (owner, former, doomed) = (
                        Self.make("owner", parent), Self.make("former", parent), Self.make("doomed", parent)
                    )
                    if last == .former { owner.setValue(former, forKey: key) }
                    if isSavedFirst { try parent.save() }
                    return [owner, former, doomed].map(\.objectID)
                }
                let child = ContextLine.child(of: parent)
                try child.performAndWait {
                    let (owner, former, doomed) = (
                        child.object(with: ids[0]), child.object(with: ids[1]), child.object(with: ids[2])
                    )
                    owner.setValue(doomed, forKey: key)
                    child.delete(doomed)
                    child.processPendingChanges()
                    switch last {
                    case .new: owner.setValue(Self.make("new", child), forKey: key)
                    case .itself: owner.setValue(owner, forKey: key)
                    case .former: owner.setValue(former, forKey: key)
                    }
                    try child.save()
                }
                let expected = [Last.new: "new", .itself: "owner", .former: "former"][last]
                try parent.performAndWait {
                    #expect(Self.name(parent.object(with: ids[0]), key) == expected, "\(last), \(key), in the parent")
                    try parent.save()
                }
                let reader = store.context()
                try reader.performAndWait {
                    let all = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Half"))

                    let names = all.compactMap { $0.value(forKey: "name") as? String }
                    #expect(!names.contains("doomed") && names.contains("owner"))
                    let owner = all.first { $0.value(forKey: "name") as? String == "owner" }
                    #expect(Self.name(owner, key) == expected, "\(last), \(key), in the store")
                    let other = owner?.value(forKey: key) as? NSManagedObject
                    #expect(Self.name(other, key == "left" ? "right" : "left") == "owner", "\(last), \(key)")
                }
            }
        }
    }
}
