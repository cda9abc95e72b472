public import BenchSupport
import Foundation
import Strata

/// Articles and their tags as managed objects.
public final class TaggedGraph: ToManyReads {
    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext
    private var tag: NSManagedObjectID?

    /// Creates the store below `folder`.
    public init(in folder: Folder) throws {
        let store = NSPersistentStoreDescription(url: URL(fileURLWithPath: folder.appending("tagged.strata").path))
        store.setOption(NSString("os"), forKey: StrataDurabilityOption)
        container = try PeopleContainer.load(store, Self.model())
        context = container.newBackgroundContext()
    }

    private static func model() -> NSManagedObjectModel {
        let (article, tag, department) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        article.name = "Article"
        tag.name = "Tag"
        department.name = "Department"
        let tags = relationship("tags", to: tag, toMany: true)
        let tagged = relationship("articles", to: article, toMany: true)
        link(tags, tagged)
        let ownDepartment = relationship("department", to: department, toMany: false)
        let articles = relationship("articles", to: article, toMany: true)
        link(ownDepartment, articles)
        article.properties = [
            attribute("name", .stringAttributeType), attribute("score", .integer32AttributeType), tags, ownDepartment,
        ]
        tag.properties = [
            attribute("name", .stringAttributeType), attribute("weight", .integer32AttributeType), tagged,
        ]
        if let name = tag.propertiesByName["name"] {
            let element = NSFetchIndexElementDescription(property: name, collationType: .binary)
            tag.indexes = [NSFetchIndexDescription(name: "byName", elements: [element])]
        }
        department.properties = [attribute("number", .integer32AttributeType), articles]
        let model = NSManagedObjectModel()
        model.entities = [article, tag, department]
        return model
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }

    private static func relationship(
        _ name: String, to entity: NSEntityDescription, toMany: Bool
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = toMany ? 0 : 1
        relationship.deleteRule = .nullifyDeleteRule
        return relationship
    }

    private static func link(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
        one.inverseRelationship = other
        other.inverseRelationship = one
    }

    public func fill(articles count: Int) throws {
        let ids = try context.performAndWait {
            let departments = (1...max(1, count / ToManyRows.articlesOfDepartment)).map { number in
                let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
                department.setValue(number, forKey: "number")
                return department
            }
            let tags = (1...ToManyRows.tagCount).map { number in
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                tag.setValue("tag \(number)", forKey: "name")
                tag.setValue(ToManyRows.weight(ofTag: number), forKey: "weight")
                return tag
            }
            try context.save()
            return (departments: departments.map(\.objectID), tags: tags.map(\.objectID))
        }
        tag = ids.tags[76]
        for start in stride(from: 1, through: count, by: 10_000) {
            // A context of its own lets go of what it linked.
            let context = container.newBackgroundContext()
            try context.performAndWait {
                for number in start..<min(start + 10_000, count + 1) {
                    let article = NSEntityDescription.insertNewObject(forEntityName: "Article", into: context)
                    article.setValue("article \(number)", forKey: "name")
                    article.setValue(ToManyRows.score(ofArticle: number), forKey: "score")
                    let department = ids.departments[ToManyRows.department(ofArticle: number, of: count) - 1]
                    article.setValue(context.object(with: department), forKey: "department")
                    let tags = ToManyRows.tags(ofArticle: number).map { context.object(with: ids.tags[$0 - 1]) }
                    if !tags.isEmpty { article.setValue(NSSet(array: tags), forKey: "tags") }
                }
                try context.save()
            }
        }
    }

    public func count(_ query: ToManyQuery) throws -> Int {
        try context.performAndWait {
            let entity = query.isOfDepartments ? "Department" : "Article"
            let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
            request.resultType = .managedObjectIDResultType
            var predicate = NSPredicate(format: query.predicate)
            if let tag { predicate = predicate.withSubstitutionVariables(["tag": context.object(with: tag)]) }
            request.predicate = predicate
            return try context.fetch(request).count
        }
    }

    public func close() throws {
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
    }
}
