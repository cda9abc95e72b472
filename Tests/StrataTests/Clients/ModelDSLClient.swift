import CoreData
import Foundation
import Testing

// A small language for models in code, in the manner of several open-source packages.

@resultBuilder
enum ModelBuilder {
    static func buildBlock(_ parts: any ModelPropertyMaker...) -> [any ModelPropertyMaker] { parts }
}

protocol ModelPropertyMaker {
    func make() -> NSPropertyDescription
}

protocol ModelValue {
    static var attributeType: NSAttributeType { get }
}
extension String: ModelValue { static var attributeType: NSAttributeType { .stringAttributeType } }
extension Bool: ModelValue { static var attributeType: NSAttributeType { .booleanAttributeType } }
extension Int16: ModelValue { static var attributeType: NSAttributeType { .integer16AttributeType } }
extension Int32: ModelValue { static var attributeType: NSAttributeType { .integer32AttributeType } }
extension Int64: ModelValue { static var attributeType: NSAttributeType { .integer64AttributeType } }
extension Int: ModelValue { static var attributeType: NSAttributeType { .integer64AttributeType } }
extension Float: ModelValue { static var attributeType: NSAttributeType { .floatAttributeType } }
extension Double: ModelValue { static var attributeType: NSAttributeType { .doubleAttributeType } }
extension Decimal: ModelValue { static var attributeType: NSAttributeType { .decimalAttributeType } }
extension Date: ModelValue { static var attributeType: NSAttributeType { .dateAttributeType } }
extension Data: ModelValue { static var attributeType: NSAttributeType { .binaryDataAttributeType } }
extension UUID: ModelValue { static var attributeType: NSAttributeType { .UUIDAttributeType } }
extension URL: ModelValue { static var attributeType: NSAttributeType { .URIAttributeType } }

struct Field<Value: ModelValue>: ModelPropertyMaker {
    var name: String
    var optional = true
    var initial: Value?
    var external = false
    var renaming: String?

    func make() -> NSPropertyDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = Value.attributeType
        attribute.isOptional = optional
        attribute.defaultValue = initial
        attribute.allowsExternalBinaryDataStorage = external
        attribute.renamingIdentifier = renaming
        attribute.userInfo = ["swift": "\(Value.self)"]
        return attribute
    }
}

struct Transformed: ModelPropertyMaker {
    var name: String
    var transformer: NSValueTransformerName

    func make() -> NSPropertyDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = .transformableAttributeType
        attribute.valueTransformerName = transformer.rawValue
        attribute.attributeValueClassName = "NSObject"
        attribute.isOptional = true
        return attribute
    }
}

struct EntitySketch {
    let entity = NSEntityDescription()

    init(
        _ name: String, class type: NSManagedObject.Type = NSManagedObject.self,
        @ModelBuilder _ body: () -> [any ModelPropertyMaker]
    ) {
        entity.name = name
        entity.managedObjectClassName = NSStringFromClass(type)
        entity.properties = body().map { $0.make() }
    }

    func connect(
        _ name: String, to other: EntitySketch, inverse: String, many: Bool = true, inverseMany: Bool = false,
        ordered: Bool = false, rule: NSDeleteRule = .nullifyDeleteRule
    ) {
        let there = NSRelationshipDescription()
        there.name = name
        there.destinationEntity = other.entity
        there.maxCount = many ? 0 : 1
        there.isOrdered = ordered
        there.deleteRule = rule
        there.isOptional = true
        let back = NSRelationshipDescription()
        back.name = inverse
        back.destinationEntity = entity
        back.maxCount = inverseMany ? 0 : 1
        back.deleteRule = .nullifyDeleteRule
        back.isOptional = true
        there.inverseRelationship = back
        back.inverseRelationship = there
        entity.properties.append(there)
        other.entity.properties.append(back)
    }
}

final class PointBox: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let x: Double
    let y: Double
    init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
    init?(coder: NSCoder) {
        x = coder.decodeDouble(forKey: "x")
        y = coder.decodeDouble(forKey: "y")
    }
    func encode(with coder: NSCoder) {
        coder.encode(x, forKey: "x")
        coder.encode(y, forKey: "y")
    }
    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? PointBox else { return false }
        return x == other.x && y == other.y
    }
    override var hash: Int { x.hashValue ^ y.hashValue }
}

final class PointTransformer: NSSecureUnarchiveFromDataTransformer, @unchecked Sendable {
    static let name = NSValueTransformerName(rawValue: String(describing: PointTransformer.self))
    override static var allowedTopLevelClasses: [AnyClass] { [PointBox.self] }
    static func register() {
        ValueTransformer.setValueTransformer(PointTransformer(), forName: name)
    }
}

/// A transformer between strings' arrays and JSON.
final class TagsTransformer: ValueTransformer, @unchecked Sendable {
    static let name = NSValueTransformerName("TagsTransformer")
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? {
        guard let tags = value as? [String] else { return nil }
        return try? JSONEncoder().encode(tags)
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return try? JSONDecoder().decode([String].self, from: data)
    }
}

private class PrivateShape: NSManagedObject {
    var label: String? {
        get { value(forKey: "label") as? String }
        set { setValue(newValue, forKey: "label") }
    }
}

@Suite struct ModelDSLClientTests {
    final class Canvas: NSManagedObject {
        var shapes: NSOrderedSet { value(forKey: "shapes") as? NSOrderedSet ?? [] }
        var mutableShapes: NSMutableOrderedSet { mutableOrderedSetValue(forKey: "shapes") }
    }

    static func model() -> NSManagedObjectModel {
        PointTransformer.register()
        ValueTransformer.setValueTransformer(TagsTransformer(), forName: TagsTransformer.name)
        let canvas = EntitySketch("Canvas", class: Canvas.self) {
            Field<String>(name: "title", optional: false, initial: "Untitled")
            Field<Data>(name: "preview", external: true)
            Field<URL>(name: "link")
        }
        let shape = EntitySketch("Shape", class: PrivateShape.self) {
            Field<String>(name: "label")
            Field<Int16>(name: "sides", initial: 3)
            Field<Double>(name: "scale", initial: 1)
            Field<Bool>(name: "visible", initial: true)
            Field<Date>(name: "stamp", initial: Date(timeIntervalSinceReferenceDate: 5))
            Field<Decimal>(name: "cost", initial: 1.5)
            Field<UUID>(name: "token")
            Transformed(name: "center", transformer: PointTransformer.name)
            Transformed(name: "tags", transformer: TagsTransformer.name)
        }
        canvas.connect("shapes", to: shape, inverse: "canvas", ordered: true, rule: .cascadeDeleteRule)
        let model = NSManagedObjectModel()
        model.entities = [canvas.entity, shape.entity]
        model.setEntities([canvas.entity], forConfigurationName: "Drawing")
        model.versionIdentifiers = ["1.0"]
        return model
    }

    static func context(
        _ kind: StoreKind, _ url: URL, model: NSManagedObjectModel = model()
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            type: kind == .memory ? .inMemory : .sqlite, configuration: nil,
            at: kind == .memory ? URL(fileURLWithPath: "/dev/null") : url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test(arguments: StoreKind.allCases)
    func everythingComesBack(_ kind: StoreKind) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("canvas-\(UUID()).sqlite")
        defer { removeStore(at: url) }
        let context = try Self.context(kind, url)
        let big = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let token = UUID()
        try context.performAndWait {
            let canvas = Canvas(context: context)
            #expect(canvas.value(forKey: "title") as? String == "Untitled")
            canvas.setValue(big, forKey: "preview")
            canvas.setValue(URL(string: "https://example.com/a?b=c#d"), forKey: "link")
            for index in 0..<3 {
                let shape = PrivateShape(context: context)
                #expect(shape.value(forKey: "sides") as? Int == 3)
                #expect(shape.value(forKey: "visible") as? Bool == true)
                #expect(shape.value(forKey: "cost") as? NSDecimalNumber == NSDecimalNumber(string: "1.5"))
                #expect(shape.value(forKey: "stamp") as? Date == Date(timeIntervalSinceReferenceDate: 5))
                shape.label = "s\(index)"
                shape.setValue(PointBox(x: Double(index), y: 2), forKey: "center")
                shape.setValue(["a", "b"], forKey: "tags")
                shape.setValue(token, forKey: "token")
                shape.setValue(canvas, forKey: "canvas")
            }
            canvas.mutableShapes.moveObjects(at: IndexSet(integer: 2), to: 0)
            try context.save()
            context.reset()
        }
        try context.performAndWait {
            let canvas = try #require(try context.fetch(NSFetchRequest<Canvas>(entityName: "Canvas")).first)
            #expect(canvas.value(forKey: "preview") as? Data == big)
            #expect((canvas.value(forKey: "link") as? URL)?.absoluteString == "https://example.com/a?b=c#d")
            let shapes = try #require(canvas.shapes.array as? [PrivateShape])
            #expect(shapes.map(\.label) == ["s2", "s0", "s1"])
            #expect(shapes[0].value(forKey: "center") as? PointBox == PointBox(x: 2, y: 2))
            #expect(shapes[0].value(forKey: "tags") as? [String] == ["a", "b"])
            #expect(shapes[0].value(forKey: "token") as? UUID == token)
            #expect(canvas.value(forKeyPath: "shapes.@sum.sides") as? Int == 9)
            #expect(canvas.value(forKeyPath: "shapes.@avg.sides") as? Double == 3)
            #expect(canvas.value(forKeyPath: "shapes.@count") as? Int == 3)
            #expect(
                (canvas.value(forKeyPath: "shapes.label") as? NSOrderedSet)?.array as? [String] == ["s2", "s0", "s1"])
            canvas.mutableShapes.removeObject(at: 0)
            canvas.mutableShapes.insert(shapes[0], at: 2)
            canvas.mutableShapes.exchangeObject(at: 0, withObjectAt: 1)
            #expect((canvas.shapes.array as? [PrivateShape])?.map(\.label) == ["s1", "s0", "s2"])
            context.delete(canvas)
            try context.save()
            #expect(try context.count(for: NSFetchRequest<any NSFetchRequestResult>(entityName: "Shape")) == 0)
        }
    }

    @Test func descriptionsSayWhatTheyWereTold() throws {
        let model = Self.model()
        let shape = try #require(model.entitiesByName["Shape"])
        #expect(shape.attributesByName["center"]?.valueTransformerName == PointTransformer.name.rawValue)
        #expect(shape.attributesByName["sides"]?.userInfo?["swift"] as? String == "Int16")
        #expect(shape.relationshipsByName["canvas"]?.isToMany == false)
        #expect(shape.relationshipsByName["canvas"]?.inverseRelationship?.name == "shapes")
        #expect(model.entities(forConfigurationName: "Drawing")?.map(\.name) == ["Canvas"])
        #expect(model.configurations.contains("Drawing"))
        #expect(model.versionIdentifiers == ["1.0"])
        #expect(shape.propertiesByName.count == 10)
        #expect(shape.properties.compactMap { $0 as? NSAttributeDescription }.count == 9)
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(copy == model)
        let other = Self.model()
        #expect(NSManagedObjectModel(byMerging: [model, NSManagedObjectModel()])?.entities.count == 2)
        #expect(other.entityVersionHashesByName == model.entityVersionHashesByName)
    }

    @Test func manyContainersOverOneModel() throws {
        let model = Self.model()
        var contexts: [NSManagedObjectContext] = []
        for index in 0..<8 {
            let context = try Self.context(
                .memory, URL(fileURLWithPath: "/dev/null"), model: index < 4 ? model : Self.model())
            context.performAndWait {
                for _ in 0...index { _ = Canvas(context: context) }
            }
            try context.performAndWait { try context.save() }
            contexts.append(context)
        }
        for (index, context) in contexts.enumerated() {
            let count = try context.performAndWait {
                try context.count(for: NSFetchRequest<Canvas>(entityName: "Canvas"))
            }
            #expect(count == index + 1)
        }
        #expect(Canvas.entity().name == "Canvas")
        // A request made with the class method works in every context, whichever model its entity is from.
        let request: NSFetchRequest<any NSFetchRequestResult> = Canvas.fetchRequest()
        for (index, context) in contexts.enumerated() {
            let count = try context.performAndWait { try context.count(for: request) }
            #expect(count == index + 1)
        }
        for context in contexts {
            context.performAndWait {
                let object = Canvas(entity: Canvas.entity(), insertInto: context)
                #expect(object.managedObjectContext === context)
            }
        }
    }
}
