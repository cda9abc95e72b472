import Catalogue
import CoreData

/// The model, made in code.
public enum BookshopModel {
    public static let shared: NSManagedObjectModel = {
        ValueTransformer.setValueTransformer(PriceTransformer(), forName: PriceTransformer.name)
        let record = entity("Record", Record.self)
        record.isAbstract = true
        record.properties = [attribute("identifier", .UUIDAttributeType), attribute("createdAt", .dateAttributeType)]
        let author = entity("Author", Author.self)
        let book = entity("Book", Book.self)
        record.subentities = [book]
        let shelf = entity("Shelf", Shelf.self)
        shelf.managedObjectClassName = "BKSShelf"
        let section = entity("Section", Section.self)
        let item = entity("Item", Stock.Item.self)

        let price = attribute("price", .transformableAttributeType)
        price.valueTransformerName = PriceTransformer.name.rawValue
        author.properties = [attribute("name", .stringAttributeType), attribute("born", .dateAttributeType)]
        book.properties = [
            attribute("title", .stringAttributeType), attribute("subtitle", .stringAttributeType),
            attribute("pages", .integer16AttributeType), attribute("rating", .doubleAttributeType),
            attribute("weight", .decimalAttributeType), attribute("published", .dateAttributeType),
            attribute("format", .integer16AttributeType), attribute("status", .stringAttributeType), price,
            attribute("tags", .transformableAttributeType), attribute("isSigned", .booleanAttributeType),
            attribute("isbn", .stringAttributeType), attribute("blurb", .stringAttributeType),
            attribute("secretNotes", .stringAttributeType), attribute("class", .integer32AttributeType),
            attribute("link", .stringAttributeType), attribute("reading", .doubleAttributeType),
            attribute("copies", .integer32AttributeType),
        ]
        shelf.properties = [attribute("label", .stringAttributeType)]
        section.properties = [attribute("name", .stringAttributeType)]
        item.properties = [
            attribute("place", .integer16AttributeType), attribute("count", .integer16AttributeType),
        ]
        let parcel = entity("Parcel", Parcel.self)
        let contents = ["label", "anything", "object", "known", "key", "contents", "objects", "names", "list"]
        parcel.properties = contents.map { attribute($0, .transformableAttributeType) }
        parcel.properties += [
            attribute("width", .doubleAttributeType), attribute("weight", .integer64AttributeType),
            attribute("insurance", .integer32AttributeType),
        ]
        connect(author, "books", toMany: true, book, "author")
        connect(book, "editions", toMany: true, book, "edition")
        connect(shelf, "books", toMany: true, isOrdered: true, book, "shelf")
        connect(shelf, "sections", toMany: true, isOrdered: true, section, "shelf")
        connect(item, "book", toMany: false, book, "item")
        connect(section, "parcels", toMany: true, parcel, "section")

        let model = NSManagedObjectModel()
        model.entities = [record, author, book, shelf, section, item, parcel]
        return model
    }()

    private static func entity(_ name: String, _ type: NSManagedObject.Type) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = NSStringFromClass(type)
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static func connect(
        _ source: NSEntityDescription, _ name: String, toMany: Bool, isOrdered: Bool = false,
        _ target: NSEntityDescription, _ inverseName: String
    ) {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = target
        relationship.maxCount = toMany ? 0 : 1
        relationship.isOrdered = isOrdered
        let inverse = NSRelationshipDescription()
        inverse.name = inverseName
        inverse.destinationEntity = source
        inverse.maxCount = 1
        relationship.inverseRelationship = inverse
        inverse.inverseRelationship = relationship
        source.properties.append(relationship)
        target.properties.append(inverse)
    }
}
