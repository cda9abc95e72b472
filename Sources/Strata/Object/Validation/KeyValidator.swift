/// What is written where Core Data in Objective-C finds a value by its place in memory. An inout argument passes one:
///
///     var value: AnyObject? = "Anna" as AnyObject
///     try person.validateValue(&value, forKey: "name")
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>

/// A method that validates one property: what Core Data finds by its name, `validate<Key>`.
///
/// The plugin `ManagedAccessors` finds these methods. Without it nothing finds a method by its name, as there is no
/// Objective-C runtime, so a class lists those that it has:
///
///     final class Person: NSManagedObject {
///         override class var keyValidators: [String: KeyValidator] {
///             ["name": KeyValidator(Person.validateName)]
///         }
///
///         func validateName(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws { ... }
///     }
///
/// Subclasses list only their own; those of their superclasses count, too.
public struct KeyValidator {
    let body: (NSManagedObject, AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Void

    /// A validator that calls a method of the object.
    ///
    /// - Parameter method: throws when the value is not valid. It may put another value in its place, but only if the
    ///   one that is there will not do: a save that is given another value validates the object again.
    public init<Object: NSManagedObject>(
        _ method: @escaping (Object) -> (AutoreleasingUnsafeMutablePointer<AnyObject?>) throws -> Void
    ) {
        body = { object, value in
            // An object of another class than the model names for its entity does not have the method.
            if let object = object as? Object { try method(object)(value) }
        }
    }

    /// The validators of a class and its superclasses.
    static func all(of type: NSManagedObject.Type) -> [String: KeyValidator] {
        var validators: [String: KeyValidator] = [:]
        let generated = GeneratedAccessors.record(of: type).summary.validators
        var current: NSManagedObject.Type? = type
        while let candidate = current {
            validators.merge(candidate.keyValidators) { first, _ in first }
            current = candidate == NSManagedObject.self ? nil : _getSuperclass(candidate) as? NSManagedObject.Type
        }
        return validators.merging(generated) { listed, _ in listed }
    }
}
