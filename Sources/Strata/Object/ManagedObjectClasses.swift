import Foundation
import Synchronization

/// Finds the class of an entity's objects by name, without the Objective-C runtime.
///
/// A name with its module (`"Shop.Order"`) is found by itself. A bare one (`"Order"`, as Xcode writes for the current
/// module) is looked for in the main program; elsewhere, for instance in a library or a test, register the class.
public enum ManagedObjectClasses {
    private static let registered = Mutex<[String: UncheckedClass]>([:])

    private struct UncheckedClass: @unchecked Sendable {
        // Unchecked: a metatype is immutable.
        let type: NSManagedObject.Type
    }

    /// Makes classes known under their bare and their full names.
    ///
    /// Call it before the model is first used. Safe from any thread.
    public static func register(_ types: NSManagedObject.Type...) {
        for type in types {
            register(type, name: String(describing: type))
            register(type, name: String(reflecting: type))
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
        var candidates = [name]
        if !name.contains(".") {
            let program =
                ProcessInfo.processInfo.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? ""
            candidates.append("\(program.replacingOccurrences(of: "-", with: "_")).\(name)")
        }
        for candidate in candidates {
            if let type = NSClassFromString(candidate) as? NSManagedObject.Type { return type }
        }
        return NSManagedObject.self
    }
}
