import StrataSupport

/// What a context is only asked through to perform a block.
typealias ContextReference = BackReference<NSManagedObjectContext>

extension ContextReference: SweptReference {
    // The list holds the reference, so that no other has its identity.
    var identity: ObjectIdentifier { ObjectIdentifier(self) }

    var context: NSManagedObjectContext? { target }
}
