import StrataRuntime
import StrataSupport

/// What the plugin `ManagedAccessors` generated in all modules of the program.
enum GeneratedAccessors {
    private struct Tables: @unchecked Sendable {
        // Unchecked: filled once; metatypes and what generated code gives are constant.
        var entries: [ObjectIdentifier: ManagedClassEntry] = [:]
        var names: [String: NSManagedObject.Type] = [:]
    }

    /// Found at the first use.
    private static let tables: Tables = {
        var tables = Tables()
        var classes = _ManagedClasses()
        for type in ClassLists.classes(named: _ManagedAccessorTable.generatedName) {
            (type as? _ManagedAccessorTable.Type)?.fill(&classes)
        }
        for entry in classes.classes {
            tables.entries[ObjectIdentifier(entry.type)] = entry
            if let name = entry.type.objectiveCName { tables.names[name] = entry.type }
        }
        return tables
    }()
    private static let records = AdaptiveMutex<[ObjectIdentifier: ManagedClassRecord]>([:])

    /// Whether any module has generated accessors.
    static let areThere = !tables.entries.isEmpty

    /// The class that had a name for Objective-C.
    static func managedObjectClass(named name: String) -> NSManagedObject.Type? { tables.names[name] }

    /// What generated code says of a class; of its superclasses, too, but for key paths, each of which belongs to one
    /// class.
    ///
    /// - Complexity: O(1) but for the first time with a class.
    static func record(of type: NSManagedObject.Type) -> ManagedClassRecord {
        let id = ObjectIdentifier(type)
        if let record = records.withLock({ $0[id] }) { return record }
        var summary = ManagedClassSummary()
        tables.entries[id]?.fill(&summary)
        if type != NSManagedObject.self, let superclass = _getSuperclass(type) as? NSManagedObject.Type {
            let inherited = record(of: superclass).summary
            summary.optionalNames.formUnion(inherited.optionalNames)
            summary.validators.merge(inherited.validators) { own, _ in own }
            summary.accessors.merge(inherited.accessors) { own, _ in own }
            summary.dependencies.merge(inherited.dependencies) { own, _ in own }
        }
        let record = ManagedClassRecord(summary)
        records.withLock { $0[id] = record }
        return record
    }
}
