import Foundation
import StrataRuntime

/// Looks for classes of managed objects, and for migration policies, in the whole program by the names that models have
/// for them.
///
/// Linux has no list of classes by name, and what finds a type by its mangled name wants module and nesting, and never
/// finds private ones. The Swift runtime's lists of types have them all.
enum ClassSearch {
    /// The class with this name: bare (`"Order"`), with module and outer types (`"Shop.Store.Order"`), or as
    /// `NSStringFromClass` has it for private classes. Nil when there is none, or when a bare name fits several and
    /// none of them is the main program's.
    ///
    /// - Complexity: O(n) in the types of the program.
    static func managedObjectClass(named name: String) -> NSManagedObject.Type? {
        type(named: name, in: { $0 as? NSManagedObject.Type })
    }

    /// As ``managedObjectClass(named:)`` for migration policies.
    static func policyClass(named name: String) -> NSEntityMigrationPolicy.Type? {
        type(named: name, in: { $0 as? NSEntityMigrationPolicy.Type })
    }

    private static func type<Type>(named name: String, in family: (AnyClass) -> Type?) -> Type? {
        let isBare = !name.contains(".")
        let own = name.split(separator: ".").last.map(String.init) ?? name
        let types = ClassLists.classes(named: own).compactMap(family).filter {
            isBare || String(reflecting: $0) == name
        }
        if types.count <= 1 { return types.first }
        let program = programName + "."
        let ours = types.filter { String(reflecting: $0).hasPrefix(program) }
        return ours.count == 1 ? ours.first : nil
    }

    /// The main program's name as a module's.
    static var programName: String {
        let path = ProcessInfo.processInfo.arguments.first ?? ""
        return URL(fileURLWithPath: path).lastPathComponent.replacingOccurrences(of: "-", with: "_")
    }
}
