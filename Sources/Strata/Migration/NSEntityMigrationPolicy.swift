import Foundation
import StrataSupport

/// Carries out one entity mapping, step by step; override what is to be done otherwise.
///
/// For each mapping in turn: ``begin(_:with:)``, ``createDestinationInstances(forSource:in:manager:)`` for each source
/// object, ``endInstanceCreation(forMapping:manager:)``. Then for each mapping in turn
/// ``createRelationships(forDestination:in:manager:)`` for each destination object and
/// ``endRelationshipCreation(forMapping:manager:)``, and last ``performCustomValidation(forMapping:manager:)`` and
/// ``end(_:manager:)``. An error of any step ends the migration, and the destination is removed.
///
/// All steps run on the thread that called the manager. Objects are valid until the step returns: the contexts are
/// saved and reset every few thousand objects, so keep IDs, and associate what you make
/// (``NSMigrationManager/associate(sourceInstance:withDestinationInstance:for:)``).
open class NSEntityMigrationPolicy: NSObject, PredicateFunctionTarget {
    /// Made by the manager, one for each mapping and migration.
    public required override init() {
        super.init()
    }

    /// Before anything is done for the mapping.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes an object of the destination entity, sets its attributes by the mapping's expressions, and associates
    /// both.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        guard let entity = manager.destinationEntity(for: mapping) else { return }
        let destination = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
        try manager.setValues(mapping.attributeMappings, of: destination, from: sInstance, mapping, self)
        manager.associate(sourceInstance: sInstance, withDestinationInstance: destination, for: mapping)
    }

    /// When all objects of the mapping have been made.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Sets the relationships of an object by the mapping's expressions.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        guard mapping.relationshipMappings?.isEmpty == false else { return }
        let source = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])
            .first
        try manager.setValues(mapping.relationshipMappings, of: dInstance, from: source, mapping, self)
    }

    /// When the relationships of all objects of the mapping have been set.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// When everything is in place: throw to refuse it. The objects' own validation follows.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// After everything else of the mapping.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// What `FUNCTION($entityPolicy, "selector", …)` in a mapping's expressions gives. Linux has no way to call a
    /// method by its name: override this, switch over the names, and call `super` for others, which ends the migration
    /// with `CocoaError` 134170.
    open func performPredicateFunction(_ name: String, arguments: [Any?]) -> Any? {
        unknownFunction = name
        return nil
    }

    /// What an expression has called that the policy does not have.
    private var unknownFunction: String?

    /// - Parameter place: the mapping and its property.
    /// - Throws: `CocoaError` 134170 when an expression has called a function that the policy does not have.
    final func checkFunctions(in path: String) throws {
        guard let name = unknownFunction else { return }
        unknownFunction = nil
        throw DescribedError(
            .entityMigrationPolicy,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The mapping \(path) cannot be done: the migration policy \(type(of: self)) has no function "
                    + "\(name). Override performPredicateFunction(_:arguments:)."
            ])
    }

    // MARK: Classes by name

    private struct UncheckedClass: @unchecked Sendable {
        // Unchecked: a metatype is immutable.
        let type: NSEntityMigrationPolicy.Type
    }

    private static let registered = AdaptiveMutex<[String: UncheckedClass]>([:])

    /// Makes a policy known under the names that mappings may use for it: bare, and with its module. Policies are found
    /// without it, unless two of one name are asked for without their module, or the module has another name here.
    public static func register(_ type: NSEntityMigrationPolicy.Type) {
        let box = UncheckedClass(type: type)
        registered.withLock {
            $0[String(describing: type)] = box
            $0[String(reflecting: type)] = box
        }
    }

    /// - Throws: `CocoaError` 134170 when there is no class of that name.
    static func make(_ name: String?) throws -> NSEntityMigrationPolicy {
        guard let name, !name.isEmpty else { return NSEntityMigrationPolicy() }
        if let box = registered.withLock({ $0[name] }) { return box.type.init() }
        if let type = ClassSearch.policyClass(named: name) { return type.init() }
        // The plugin puts a target's module before a bare name, but the class may be another module's.
        let bare = name.split(separator: ".").last.map { String($0) } ?? name
        if let box = registered.withLock({ $0[bare] }) { return box.type.init() }
        if let type = ClassSearch.policyClass(named: bare) { return type.init() }
        throw DescribedError(
            .entityMigrationPolicy,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "There is no migration policy \(name). Name it with its module, or call NSEntityMigrationPolicy.register."
            ])
    }
}
