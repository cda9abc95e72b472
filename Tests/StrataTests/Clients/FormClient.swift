import CoreData
import Foundation
import Testing

// Forms over a document: each edits in a child context with an undo manager of its own, validates as it goes, and is
// taken over or thrown away. The classes keep their own house: identifiers and dates of their own, rules that reach
// over several attributes, something to tidy up when they go.

final class Bill: NSManagedObject {
    private static let serialSlot = AttributeSlot<Int64>("serial")
    private static let createdSlot = AttributeSlot<Date?>("created")
    private static let updatesSlot = AttributeSlot<Int32>("updates")
    static let linesSlot = ToManySlot<BillLine>("lines")

    var serial: Int64 {
        get { self[Self.serialSlot] }
        set { self[Self.serialSlot] = newValue }
    }
    var created: Date? {
        get { self[Self.createdSlot] }
        set { self[Self.createdSlot] = newValue }
    }
    var updates: Int32 {
        get { self[Self.updatesSlot] }
        set { self[Self.updatesSlot] = newValue }
    }
    var lines: [BillLine] {
        get { ordered(Self.linesSlot) }
        set { setOrdered(newValue, Self.linesSlot) }
    }
    var total: Int { lines.reduce(0) { $0 + Int($1.price) } }

    /// How often the class was told to tidy up.
    nonisolated(unsafe) static var tidied: [Int64] = []

    override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(timeIntervalSinceReferenceDate: 0), forKey: "created")
    }

    override func willSave() {
        super.willSave()
        // Guarded, as the reference asks for: a change in willSave has it called again.
        if !isDeleted, !isInserted, changedValues()["updates"] == nil {
            setPrimitiveValue(updates + 1, forKey: "updates")
        }
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        Self.tidied.append(serial)
    }

    override func validateForInsert() throws {
        try super.validateForInsert()
        try validateLines()
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try validateLines()
    }

    private func validateLines() throws {
        guard total <= 100 else {
            throw NSError(
                domain: "Bill", code: 1,
                userInfo: [NSValidationObjectErrorKey: self, NSLocalizedDescriptionKey: "too much"])
        }
    }
}

final class BillLine: NSManagedObject {
    private static let textSlot = AttributeSlot<String?>("text")
    private static let priceSlot = AttributeSlot<Int32>("price")
    private static let billSlot = ToOneSlot<Bill>("bill")

    var text: String? {
        get { self[Self.textSlot] }
        set { self[Self.textSlot] = newValue }
    }
    var price: Int32 {
        get { self[Self.priceSlot] }
        set { self[Self.priceSlot] = newValue }
    }
    var bill: Bill? {
        get { self[Self.billSlot] }
        set { self[Self.billSlot] = newValue }
    }
}

/// One form over a document.
private final class BillForm {
    let context: NSManagedObjectContext
    let undo = UndoManager()

    init(over parent: NSManagedObjectContext) {
        context = NSManagedObjectContext(.privateQueue)
        context.parent = parent
        undo.groupsByEvent = false
        context.undoManager = undo
    }

    func edit(_ body: () throws -> Void) throws {
        try context.performAndWait {
            undo.beginUndoGrouping()
            defer { undo.endUndoGrouping() }
            try body()
            context.processPendingChanges()
        }
    }
}

@Suite(.serialized) struct FormClientTests {
    private static func model() -> NSManagedObjectModel {
        ManagedObjectClasses.register(Bill.self, BillLine.self)
        let bill = GraphModel.entity("Bill", Bill.self)
        let line = GraphModel.entity("BillLine", BillLine.self)
        let lines = GraphModel.relationship("lines", to: line, toMany: true, rule: .cascadeDeleteRule, ordered: true)
        let billOf = GraphModel.relationship("bill", to: bill, optional: false)
        GraphModel.link(lines, billOf)
        let serial = GraphModel.attribute("serial", .integer64AttributeType, default: 0)
        serial.setValidationPredicates([NSPredicate(format: "SELF > 0")], withValidationWarnings: ["positive"])
        bill.properties = [
            serial, GraphModel.attribute("created", .dateAttributeType),
            GraphModel.attribute("updates", .integer32AttributeType, default: 0), lines,
        ]
        line.properties = [
            GraphModel.attribute("text", .stringAttributeType, optional: false),
            GraphModel.attribute("price", .integer32AttributeType, default: 0), billOf,
        ]
        let model = NSManagedObjectModel()
        model.entities = [bill, line]
        return model
    }

    private func document(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext, NSManagedObjectID) {
        let store = try TestStore(kind, Self.model())
        let document = store.context()
        let id = try document.performAndWait {
            let bill = Bill(context: document)
            bill.serial = 1
            for (text, price) in [("a", 10), ("b", 20)] {
                let line = BillLine(context: document)
                (line.text, line.price, line.bill) = (text, Int32(price), bill)
            }
            #expect(bill.lines.map(\.text) == ["a", "b"])
            try document.save()
            return bill.objectID
        }
        return (store, document, id)
    }

    @Test(arguments: StoreKind.allCases) func aFormIsTakenOverOrThrownAway(_ kind: StoreKind) throws {
        let (store, document, id) = try document(kind)
        let form = BillForm(over: document)
        try form.edit {
            let bill = try #require(try form.context.existingObject(with: id) as? Bill)
            #expect(bill.created == Date(timeIntervalSinceReferenceDate: 0))
            bill.lines[0].price = 15
            bill.lines = [bill.lines[1], bill.lines[0]]
        }
        try document.check { () throws in
            let bill = try #require(document.object(with: id) as? Bill)
            #expect(bill.lines.map(\.text) == ["a", "b"] && bill.total == 30 && !document.hasChanges)
        }
        try form.context.performAndWait { try form.context.save() }
        try document.check { () throws in
            let bill = try #require(document.object(with: id) as? Bill)
            #expect(bill.lines.map(\.text) == ["b", "a"] && bill.total == 35 && document.hasChanges)
            try document.save()
            document.reset()
            let stored = try #require(try document.existingObject(with: id) as? Bill)
            #expect(stored.lines.map(\.text) == ["b", "a"] && stored.lines.map(\.price) == [20, 15])
        }
        let other = BillForm(over: document)
        try other.edit {
            let bill = try #require(try other.context.existingObject(with: id) as? Bill)
            other.context.delete(bill)
        }
        other.context.performAndWait { other.context.rollback() }
        try document.check { () throws in
            #expect(!document.hasChanges)
            #expect((try document.existingObject(with: id) as? Bill)?.lines.count == 2)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func stepsAreTakenBackOneByOne(_ kind: StoreKind) throws {
        let (store, document, id) = try document(kind)
        let form = BillForm(over: document)
        var bill: Bill?
        try form.edit { bill = try form.context.existingObject(with: id) as? Bill }
        let edited = try #require(bill)
        try form.edit {
            let line = BillLine(context: form.context)
            (line.text, line.price, line.bill) = ("c", 5, edited)
        }
        try form.edit { form.context.delete(edited.lines[0]) }
        try form.edit { edited.serial = 7 }
        try form.context.check { () throws in
            #expect(edited.lines.map(\.text) == ["b", "c"] && edited.serial == 7)
            form.context.undo()
            #expect(edited.serial == 1)
            form.context.undo()
            #expect(edited.lines.map(\.text) == ["a", "b", "c"] && form.context.deletedObjects.isEmpty)
            form.context.undo()
            #expect(edited.lines.map(\.text) == ["a", "b"] && form.context.insertedObjects.isEmpty)
            form.context.redo()
            form.context.redo()
            #expect(edited.lines.map(\.text) == ["b", "c"])
            try form.context.save()
        }
        try document.check { () throws in
            try document.save()
            document.reset()
            let stored = try #require(try document.existingObject(with: id) as? Bill)
            #expect(stored.lines.map(\.text) == ["b", "c"])
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func aFormThatIsNotValidSaysWhatIsWrong(_ kind: StoreKind) throws {
        let (store, document, id) = try document(kind)
        let form = BillForm(over: document)
        try form.edit {
            let bill = try #require(try form.context.existingObject(with: id) as? Bill)
            bill.serial = -1
            let line = BillLine(context: form.context)
            (line.price, line.bill) = (500, bill)
        }
        try form.context.check { () throws in
            let bill = try #require(form.context.object(with: id) as? Bill)
            let error = #expect(throws: CocoaError.self) { try form.context.save() }
            #expect(error?.errorCode == NSValidationMultipleErrorsError)
            let errors = try #require(error?.userInfo[NSDetailedErrorsKey] as? [NSError])
            let codes = errors.map { "\($0.domain == "Bill" ? "Bill " : "")\($0.code)" }
            #expect(
                codes.contains("\(NSValidationMissingMandatoryPropertyError)")
                    && codes.contains("\(NSManagedObjectValidationError)"))
            var value: AnyObject? = -5 as NSNumber
            #expect(throws: (any Error).self) { try bill.validateValue(&value, forKey: "serial") }
            value = 5 as NSNumber
            try bill.validateValue(&value, forKey: "serial")
            bill.serial = 2
            let line = try #require(form.context.insertedObjects.first as? BillLine)
            line.text = "c"
            let own = #expect(throws: NSError.self) { try form.context.save() }
            #expect(own?.domain == "Bill" && own?.userInfo[NSValidationObjectErrorKey] as? Bill === bill)
            line.price = 5
            try form.context.save()
        }
        try document.check { () throws in
            try document.save()
            let bill = try #require(document.object(with: id) as? Bill)
            #expect(bill.updates == 1 && bill.total == 35)
            try document.save()
            #expect(bill.updates == 1)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func whatGoesTidiesUpOnce(_ kind: StoreKind) throws {
        let (store, document, id) = try document(kind)
        Bill.tidied = []
        try document.check { () throws in
            let bill = try #require(document.object(with: id) as? Bill)
            let lines = bill.lines
            document.delete(bill)
            document.processPendingChanges()
            #expect(lines.allSatisfy(\.isDeleted) && Bill.tidied == [1])
            try document.save()
            #expect(Bill.tidied == [1] && bill.managedObjectContext == nil && !bill.isDeleted)
            #expect(try document.count(for: NSFetchRequest<NSManagedObject>(entityName: "BillLine")) == 0)
        }
        withExtendedLifetime(store) {}
    }

    /// A form for something new, made with its temporary ID, that the list finds by the same object afterwards.
    @Test(arguments: StoreKind.allCases) func somethingNewComesIntoTheDocument(_ kind: StoreKind) throws {
        let (store, document, _) = try document(kind)
        let form = BillForm(over: document)
        var made: Bill?
        try form.edit {
            let bill = Bill(context: form.context)
            bill.serial = 9
            made = bill
        }
        let bill = try #require(made)
        try form.context.performAndWait { try form.context.save() }
        try document.check { () throws in
            let found = try fetchAll(Bill.self, "Bill", document, NSPredicate(format: "serial == 9"))
            #expect(found.count == 1 && found[0].isInserted)
            try document.save()
            #expect(!found[0].objectID.isTemporaryID)
            let id = found[0].objectID
            try form.context.check { () throws in
                try form.context.obtainPermanentIDs(for: [bill])
                #expect(bill.objectID == id)
            }
        }
        withExtendedLifetime(store) {}
    }
}
