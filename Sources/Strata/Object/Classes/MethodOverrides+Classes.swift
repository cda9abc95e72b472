import StrataRuntime

// A class's table of methods says what it overrides (`ClassMetadata`), by comparison with classes that override one
// method each.
extension MethodOverrides {
    // Of the classes that follow no objects are made.
    private class Inheriting: NSManagedObject {
        /// Empty methods may be made one by the compiler.
        static func probe(_ name: String) {
            preconditionFailure("\(name) of a class without objects")
        }
    }
    private class Preparing: Inheriting {
        override func prepareForDeletion() { Self.probe(#function) }
    }
    private class Saving: Inheriting {
        override func willSave() { Self.probe(#function) }
    }
    private class Saved: Inheriting {
        override func didSave() { Self.probe(#function) }
    }
    private class Awaking: Inheriting {
        override func awakeFromFetch() { Self.probe(#function) }
    }
    private class CheckingInsertion: Inheriting {
        override func validateForInsert() throws { Self.probe(#function) }
    }
    private class CheckingDeletion: Inheriting {
        override func validateForDelete() throws { Self.probe(#function) }
    }
    private class CheckingValues: Inheriting {
        override func validateValue(
            _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
        ) throws { Self.probe(#function) }
    }
    private class Hashing: Inheriting {
        override var hash: Int {
            Self.probe(#function)
            return 0
        }
    }
    private class Comparing: Inheriting {
        override func isEqual(_ object: Any?) -> Bool {
            Self.probe(#function)
            return false
        }
    }

    /// The methods' words in class metadata; nil for one whose table is not what it is expected to be.
    private static let words: [(method: MethodOverrides, word: Int?)] = [
        (.prepareForDeletion, word(Preparing.self)), (.willSave, word(Saving.self)), (.didSave, word(Saved.self)),
        (.awakeFromFetch, word(Awaking.self)), (.validateForInsert, word(CheckingInsertion.self)),
        (.validateForDelete, word(CheckingDeletion.self)), (.validateValue, word(CheckingValues.self)),
        (.equality, word(Hashing.self)), (.equality, word(Comparing.self)),
    ]

    private static func word(_ overriding: NSManagedObject.Type) -> Int? {
        ClassMetadata.word(of: overriding, in: NSManagedObject.self, notIn: Inheriting.self)
    }

    /// What a class overrides; a method counts as overridden if that cannot be found out.
    static func of(_ type: NSManagedObject.Type) -> MethodOverrides {
        if type == NSManagedObject.self { return [] }
        var overrides: MethodOverrides = []
        for (method, word) in words where ClassMetadata.isOverridden(word, in: type, of: NSManagedObject.self) {
            overrides.insert(method)
        }
        return overrides
    }
}

extension NSManagedObject {
    /// What the object's class overrides, which mostly is the one that its entity names.
    @inline(__always)
    final var overrides: MethodOverrides {
        ObjectIdentifier(type(of: self)) == summary.pointee.objectClass ? summary.pointee.overrides : .all
    }
}
