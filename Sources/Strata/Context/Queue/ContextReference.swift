import StrataIO

/// What a context is only asked through to perform a block.
typealias ContextReference = BackReference<NSManagedObjectContext>

extension ContextReference {
    var context: NSManagedObjectContext? { target }
}
