import Foundation

/// A condition that the interpreter answers row by row. Immutable.
package final class InterpretedCondition {
    let predicate: NSPredicate

    init(_ predicate: NSPredicate) { self.predicate = predicate }
}
