import StrataRuntime

/// Whether an accessor can be used for a place.
enum AccessorFit {
    case whole
    /// The class that it declares is that of some of the objects: each is looked at when it is read.
    case inPart
    /// What is wrong.
    case not(String)
}

extension RelationshipShape {
    /// How a declared class fits the objects that the relationship leads to, by the classes that the model names for
    /// the destination's entity and its subentities: one above or below any of them will do.
    func fit(_ target: NSManagedObject.Type) -> AccessorFit {
        let classes = destination.family.map(\.objectClass)
        if classes.allSatisfy({ Self.isClass($0, target) }) { return .whole }
        if classes.contains(where: { Self.isClass($0, target) || Self.isClass(target, $0) }) { return .inPart }
        return .not("its objects are of class \(destination.objectClass), not \(target)")
    }

    private static func isClass(_ type: AnyClass, _ ancestor: AnyClass) -> Bool {
        var next: AnyClass? = type
        while let current = next {
            if current == ancestor { return true }
            next = _getSuperclass(current)
        }
        return false
    }
}
