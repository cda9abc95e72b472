import Foundation

/// A condition that the interpreter answers row by row. Immutable.
final class InterpretedCondition {
    let predicate: NSPredicate

    init(_ predicate: NSPredicate) { self.predicate = predicate }
}
