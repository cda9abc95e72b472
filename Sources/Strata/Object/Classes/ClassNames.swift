import Foundation

/// The name of a class of managed objects, as a model's `managedObjectClassName` wants it.
///
/// Foundation's function of this name stops the program for classes that are declared inside of other types. This one
/// is preferred for managed objects, and names every class with its module and the types around it.
public func NSStringFromClass(_ type: NSManagedObject.Type) -> String {
    type == NSManagedObject.self ? "NSManagedObject" : String(reflecting: type)
}
