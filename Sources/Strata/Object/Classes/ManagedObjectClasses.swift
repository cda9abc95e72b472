import Foundation
import StrataRuntime
import StrataSupport

/// Finds the class of an entity's objects by name, without the Objective-C runtime.
///
/// A name with its module and the types around the class (`"Shop.Order"`, `"Shop.Store.Order"`, what
/// `NSStringFromClass` returns) is found by itself, and so is a bare one (`"Order"`, as Xcode writes for the current
/// module) that is the name of one class only, or of one only in the main program. Where a bare name is ambiguous,
/// register the class.
public enum ManagedObjectClasses {
    private static let registered = AdaptiveMutex<[String: UncheckedClass]>([:])

    private struct UncheckedClass: @unchecked Sendable {
        // Unchecked: a metatype is immutable.
        let type: NSManagedObject.Type
    }

    /// Makes classes known under their bare and their full names, and under those that they had for Objective-C
    /// (``NSManagedObject/objectiveCName``).
    ///
    /// Call it before the model is first used. Safe from any thread.
    public static func register(_ types: NSManagedObject.Type...) {
        for type in types {
            register(type, name: String(describing: type))
            register(type, name: String(reflecting: type))
            if let name = type.objectiveCName { register(type, name: name) }
        }
    }

    /// Makes a class known under a name that models use for it.
    public static func register(_ type: NSManagedObject.Type, name: String) {
        let box = UncheckedClass(type: type)
        registered.withLock { $0[name] = box }
    }

    static func objectClass(of entity: NSEntityDescription) -> NSManagedObject.Type {
        guard let name = entity.managedObjectClassName, !name.isEmpty, name != "NSManagedObject" else {
            return NSManagedObject.self
        }
        if let box = registered.withLock({ $0[name] }) { return box.type }
        if let type = GeneratedAccessors.managedObjectClass(named: name) { return type }
        let candidates = name.contains(".") ? [name] : [name, "\(ClassSearch.programName).\(name)"]
        for candidate in candidates {
            if let type = NamedClasses.named(candidate) as? NSManagedObject.Type { return type }
        }
        // Foundation looks for no nested classes, and says so on standard error each time.
        for candidate in candidates where candidate.split(separator: ".").count <= 2 {
            if let type = NSClassFromString(candidate) as? NSManagedObject.Type { return type }
        }
        if let type = ClassSearch.managedObjectClass(named: name) { return type }
        return NSManagedObject.self
    }
}
