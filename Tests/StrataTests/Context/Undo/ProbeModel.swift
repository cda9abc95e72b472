import CoreData
import Foundation

/// An object whose life-cycle methods a test can fill in.
final class Probe: NSManagedObject {
    private static let nameSlot = AttributeSlot<String?>("name")
    private static let countSlot = AttributeSlot<Int32>("count")
    private static let noteSlot = AttributeSlot<String?>("note")
    private static let parentSlot = ToOneSlot<Probe>("parent")
    static let childrenSlot = ToManySlot<Probe>("children")
    static let itemsSlot = ToManySlot<Probe>("items")
    private static let holderSlot = ToOneSlot<Probe>("holder")
    static let peersSlot = ToManySlot<Probe>("peers")

    var name: String? {
        get { self[Self.nameSlot] }
        set { self[Self.nameSlot] = newValue }
    }
    /// Default 3.
    var count: Int32 {
        get { self[Self.countSlot] }
        set { self[Self.countSlot] = newValue }
    }
    /// Transient.
    var note: String? {
        get { self[Self.noteSlot] }
        set { self[Self.noteSlot] = newValue }
    }
    var parent: Probe? {
        get { self[Self.parentSlot] }
        set { self[Self.parentSlot] = newValue }
    }
    /// Deleted with this object.
    var children: Set<Probe> {
        get { self[Self.childrenSlot] }
        set { self[Self.childrenSlot] = newValue }
    }
    /// Ordered.
    var items: [Probe] {
        get { ordered(Self.itemsSlot) }
        set { setOrdered(newValue, Self.itemsSlot) }
    }
    var holder: Probe? {
        get { self[Self.holderSlot] }
        set { self[Self.holderSlot] = newValue }
    }
    var peers: Set<Probe> {
        get { self[Self.peersSlot] }
        set { self[Self.peersSlot] = newValue }
    }

    /// Not in the model.
    var unmodeled = 0
    var calls: [String] = []
    var handlers: [String: (Probe) throws -> Void] = [:]
    /// What all probes do, by the method's name; for methods that run before a test has the object in hand.
    static var shared: [String: (Probe) -> Void] {
        get { sharedLock.withLock { sharedHandlers } }
        set { sharedLock.withLock { sharedHandlers = newValue } }
    }
    private static let sharedLock = NSLock()
    // Guarded by the lock: suites that use probes run at the same time.
    nonisolated(unsafe) private static var sharedHandlers: [String: (Probe) -> Void] = [:]

    private func call(_ name: String) throws {
        calls.append(name)
        Self.shared[name]?(self)
        try handlers[name]?(self)
    }

    private func note(_ name: String) {
        do { try call(name) } catch { preconditionFailure("\(name) cannot throw: \(error)") }
    }

    override func awakeFromInsert() { note("awakeFromInsert") }
    override func awakeFromFetch() { note("awakeFromFetch") }
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        let names: [(NSSnapshotEventType, String)] = [
            (.undoInsertion, "undoInsertion"), (.undoDeletion, "undoDeletion"), (.undoUpdate, "undoUpdate"),
            (.rollback, "rollback"), (.refresh, "refresh"), (.mergePolicy, "mergePolicy"),
        ]
        for (flag, name) in names where flags.contains(flag) { note(name) }
    }
    override func prepareForDeletion() { note("prepareForDeletion") }
    override func willSave() { note("willSave") }
    override func didSave() { note("didSave") }
    override func willTurnIntoFault() { note("willTurnIntoFault") }
    override func didTurnIntoFault() { note("didTurnIntoFault") }
    override func validateForInsert() throws {
        try call("validateForInsert")
        try super.validateForInsert()
    }
    override func validateForUpdate() throws {
        try call("validateForUpdate")
        try super.validateForUpdate()
    }
    override func validateForDelete() throws {
        try call("validateForDelete")
        try super.validateForDelete()
    }

    func takeCalls() -> [String] {
        defer { calls = [] }
        return calls
    }

    static func model() -> NSManagedObjectModel {
        ManagedObjectClasses.register(Probe.self)
        let probe = GraphModel.entity("Probe", Probe.self)
        let note = GraphModel.attribute("note", .stringAttributeType)
        note.isTransient = true
        let parent = GraphModel.relationship("parent", to: probe)
        let children = GraphModel.relationship("children", to: probe, toMany: true, rule: .cascadeDeleteRule)
        GraphModel.link(parent, children)
        let holder = GraphModel.relationship("holder", to: probe)
        let items = GraphModel.relationship("items", to: probe, toMany: true, ordered: true)
        GraphModel.link(holder, items)
        let peers = GraphModel.relationship("peers", to: probe, toMany: true)
        peers.inverseRelationship = peers
        probe.properties = [
            GraphModel.attribute("name", .stringAttributeType),
            GraphModel.attribute("count", .integer32AttributeType, default: 3), note, parent, children, holder, items,
            peers,
        ]
        let model = NSManagedObjectModel()
        model.entities = [probe]
        return model
    }
}

extension TestStore {
    /// A context whose every event is an undo group.
    func undoContext() -> NSManagedObjectContext {
        let context = context()
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        return context
    }
}
