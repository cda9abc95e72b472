import Foundation
import StrataSupport

extension NSManagedObject: ModelObject {
    /// The property's name, if the class says one or its accessor shows one.
    package static func propertyName(of keyPath: AnyKeyPath) -> String? {
        propertyNames[keyPath] ?? GeneratedAccessors.record(of: self).summary.propertyNames[keyPath]
            ?? KeyPathNames.name(of: keyPath, self)
    }
}

extension KeyedSortDescriptorFactory {
    /// The descriptor that sorts as a Swift `SortDescriptor` does.
    ///
    /// Its key path goes by the name that the class's ``NSManagedObject/propertyNames`` gives it; without one, objects
    /// are compared, which makes fetches slower and dictionaries impossible.
    public init<Compared: NSObject>(_ sortDescriptor: SortDescriptor<Compared>) {
        let descriptor: NSSortDescriptor
        if let keyPath = sortDescriptor.keyPath, let name = PropertyNames.name(of: keyPath) {
            descriptor = KeySortDescriptor(key: name, ascending: sortDescriptor.order == .forward, order: .natural)
        } else {
            descriptor = ObjectSortDescriptor(ascending: sortDescriptor.order == .forward) { left, right in
                guard let left = left as? Compared, let right = right as? Compared else { return .orderedSame }
                return sortDescriptor.compare(left, right)
            }
        }
        guard let descriptor = descriptor as? Self else {
            programmerError(
                "\(Self.self)", "a subclass of NSSortDescriptor cannot be made from a key path or SortDescriptor",
                "Create an NSSortDescriptor")
        }
        self = descriptor
    }
}

extension KeyedSortDescriptorFactory {
    /// Sorts managed objects by a property whose type Swift cannot compare, for instance an optional one.
    ///
    /// The key path goes by the name that the class's ``NSManagedObject/propertyNames`` gives it, or by the one
    /// attribute that its accessor reads; without a name, objects are compared, which makes fetches slower.
    @_disfavoredOverload
    public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        if let name = PropertyNames.name(of: keyPath) {
            self.init(key: name, ascending: ascending)
            return
        }
        let descriptor = ObjectSortDescriptor(ascending: ascending) { left, right in
            guard let left = left as? Root, let right = right as? Root else { return .orderedSame }
            let order = Operand(left[keyPath: keyPath]).compare(Operand(right[keyPath: keyPath])) ?? 0
            return ComparisonResult(rawValue: ascending ? order : -order) ?? .orderedSame
        }
        guard let descriptor = descriptor as? Self else {
            programmerError(
                "\(Self.self)", "a subclass of NSSortDescriptor cannot be made from a key path or SortDescriptor",
                "Create an NSSortDescriptor")
        }
        self = descriptor
    }
}

extension NSExpression {
    /// The value of the property that a Swift key path reads.
    ///
    /// - Precondition: it starts at a managed object; the class's ``NSManagedObject/propertyNames`` names the key path,
    ///   or each accessor on the way reads exactly one property of an entity in use.
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        guard let name = PropertyNames.name(of: keyPath) else {
            programmerError(
                "NSExpression(forKeyPath:)", "the name of a key path of \(Root.self) to a \(Value.self) is not known",
                "Name the key path in the class's propertyNames, or use a string")
        }
        self.init(forKeyPath: name)
    }
}
