import CoreData
import Foundation
import Testing

// The classes and the model that the tests of the object graph share.

final class Department: NSManagedObject {
    private static let titleSlot = AttributeSlot<String?>("title")
    private static let budgetSlot = AttributeSlot<Int64>("budget")
    static let employeesSlot = ToManySlot<Employee>("employees")

    var title: String? {
        get { self[Self.titleSlot] }
        set { self[Self.titleSlot] = newValue }
    }
    var budget: Int64 {
        get { self[Self.budgetSlot] }
        set { self[Self.budgetSlot] = newValue }
    }
    var employees: Set<Employee> {
        get { self[Self.employeesSlot] }
        set { self[Self.employeesSlot] = newValue }
    }
}

class Employee: NSManagedObject {
    private static let nameSlot = AttributeSlot<String>("name")
    private static let ageSlot = AttributeSlot<Int16>("age")
    private static let departmentSlot = ToOneSlot<Department>("department")
    private static let badgeSlot = ToOneSlot<NSManagedObject>("badge")
    static let projectsSlot = ToManySlot<NSManagedObject>("projects")

    /// What the life-cycle methods saw, in order.
    var calls: [String] = []
    /// Set to change something in willSave.
    var ageInWillSave: Int16?

    var name: String {
        get { self[Self.nameSlot] }
        set { self[Self.nameSlot] = newValue }
    }
    var age: Int16 {
        get { self[Self.ageSlot] }
        set { self[Self.ageSlot] = newValue }
    }
    var department: Department? {
        get { self[Self.departmentSlot] }
        set { self[Self.departmentSlot] = newValue }
    }
    var badge: NSManagedObject? {
        get { self[Self.badgeSlot] }
        set { self[Self.badgeSlot] = newValue }
    }

    override func awakeFromInsert() { calls.append("awakeFromInsert") }
    override func awakeFromFetch() { calls.append("awakeFromFetch") }
    override func willSave() {
        calls.append("willSave")
        if let age = ageInWillSave, self.age != age { self.age = age }
    }
    override func didSave() { calls.append("didSave") }
    override func prepareForDeletion() { calls.append("prepareForDeletion") }
    override func willTurnIntoFault() { calls.append("willTurnIntoFault") }
    override func didTurnIntoFault() { calls.append("didTurnIntoFault") }
}

final class Manager: Employee {
    private static let bonusSlot = AttributeSlot<Double>("bonus")

    var bonus: Double {
        get { self[Self.bonusSlot] }
        set { self[Self.bonusSlot] = newValue }
    }
}

enum GraphModel {
    static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool = true, default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.defaultValue = value
        return attribute
    }

    static func relationship(
        _ name: String, to destination: NSEntityDescription, toMany: Bool = false,
        rule: NSDeleteRule = .nullifyDeleteRule,
        ordered: Bool = false, optional: Bool = true
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = toMany ? 0 : 1
        relationship.deleteRule = rule
        relationship.isOrdered = ordered
        relationship.isOptional = optional
        return relationship
    }

    static func link(_ a: NSRelationshipDescription, _ b: NSRelationshipDescription) {
        a.inverseRelationship = b
        b.inverseRelationship = a
    }

    static func entity(_ name: String, _ type: AnyClass? = nil) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        if let type { entity.managedObjectClassName = String(reflecting: type) }
        return entity
    }

    /// Employees of departments, with badges, projects and tasks.
    static func company(employeesRule: NSDeleteRule = .nullifyDeleteRule) -> NSManagedObjectModel {
        ManagedObjectClasses.register(Department.self, Employee.self, Manager.self)
        let department = entity("Department", Department.self)
        let employee = entity("Employee", Employee.self)
        let manager = entity("Manager", Manager.self)
        let badge = entity("Badge")
        let project = entity("Project")
        let task = entity("Task")

        let employees = relationship("employees", to: employee, toMany: true, rule: employeesRule)
        let departmentOf = relationship("department", to: department)
        link(employees, departmentOf)
        let badgeOf = relationship("badge", to: badge, rule: .cascadeDeleteRule)
        let owner = relationship("owner", to: employee)
        link(badgeOf, owner)
        let projects = relationship("projects", to: project, toMany: true)
        let staff = relationship("staff", to: employee, toMany: true)
        link(projects, staff)
        let friends = relationship("friends", to: employee, toMany: true)
        friends.inverseRelationship = friends
        let tasks = relationship("tasks", to: task, toMany: true, rule: .cascadeDeleteRule, ordered: true)
        let taskProject = relationship("project", to: project)
        link(tasks, taskProject)
        let tags = relationship("tags", to: badge, toMany: true)

        department.properties = [
            attribute("title", .stringAttributeType), attribute("budget", .integer64AttributeType, default: 7),
            employees,
        ]
        let nickname = attribute("nickname", .stringAttributeType)
        nickname.isTransient = true
        employee.properties = [
            attribute("name", .stringAttributeType, optional: false, default: ""),
            attribute("age", .integer16AttributeType, default: 18), nickname, departmentOf, badgeOf, projects, friends,
        ]
        manager.properties = [attribute("bonus", .doubleAttributeType)]
        employee.subentities = [manager]
        badge.properties = [attribute("number", .integer32AttributeType, optional: false), owner]
        project.properties = [attribute("code", .stringAttributeType), staff, tasks, tags]
        task.properties = [attribute("text", .stringAttributeType), taskProject]
        let model = NSManagedObjectModel()
        model.entities = [department, employee, manager, badge, project, task]
        return model
    }

    /// One entity with an attribute of every type.
    static func everything() -> NSManagedObjectModel {
        let thing = entity("Thing")
        let preserved = attribute("string", .stringAttributeType)
        preserved.preservesValueInHistoryOnDeletion = true
        thing.properties = [
            attribute("bool", .booleanAttributeType), attribute("int16", .integer16AttributeType),
            attribute("int32", .integer32AttributeType), attribute("int64", .integer64AttributeType),
            attribute("float", .floatAttributeType), attribute("double", .doubleAttributeType),
            attribute("decimal", .decimalAttributeType), preserved,
            attribute("data", .binaryDataAttributeType), attribute("date", .dateAttributeType),
            attribute("uuid", .UUIDAttributeType), attribute("uri", .URIAttributeType),
            attribute("list", .transformableAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [thing]
        return model
    }
}

/// The kinds of store that tests run on.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case log
    case memory

    var testDescription: String { rawValue }
}

/// A store that is there as long as the test, and can be reopened if it is on disk.
final class TestStore {
    let kind: StoreKind
    let model: NSManagedObjectModel
    let url: URL
    private(set) var coordinator: NSPersistentStoreCoordinator

    init(_ kind: StoreKind, _ model: NSManagedObjectModel = GraphModel.company()) throws {
        self.kind = kind
        self.model = model
        url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-test-\(UUID().uuidString)")
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try addStore()
    }

    deinit {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        removeStore(at: url)
    }

    private func addStore() throws {
        try coordinator.addPersistentStore(
            ofType: kind == .memory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil,
            at: kind == .memory ? nil : url, options: [StrataDurabilityOption: "os"])
    }

    var store: NSPersistentStore { coordinator.persistentStores[0] }

    /// Objects do not keep their context alive.
    private var contexts: [NSManagedObjectContext] = []

    /// A context that lives as long as the store.
    func context() -> NSManagedObjectContext {
        let context = shortLivedContext()
        contexts.append(context)
        return context
    }

    func shortLivedContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Closes and opens a store on disk; a store in memory stays.
    func reopen() throws {
        guard kind == .log else { return }
        try coordinator.remove(store)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try addStore()
    }
}

func insert(_ entity: String, _ context: NSManagedObjectContext) -> NSManagedObject {
    guard let description = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[entity] else {
        preconditionFailure("no entity \(entity)")
    }
    return NSEntityDescriptionClass(description).init(entity: description, insertInto: context)
}

private func NSEntityDescriptionClass(_ entity: NSEntityDescription) -> NSManagedObject.Type {
    switch entity.name {
    case "Department": Department.self
    case "Employee": Employee.self
    case "Manager": Manager.self
    default: NSManagedObject.self
    }
}

func fetchAll<T: NSManagedObject>(
    _ type: T.Type, _ entity: String, _ context: NSManagedObjectContext, _ predicate: NSPredicate? = nil,
    sort: String? = nil
) throws -> [T] {
    let request = NSFetchRequest<T>(entityName: entity)
    request.predicate = predicate
    if let sort { request.sortDescriptors = [NSSortDescriptor(key: sort, ascending: true)] }
    return try context.fetch(request)
}
